// SPDX-License-Identifier: Apache-2.0
//
// Numbers of variable width, packed without gaps. The least significant bit of a number comes first; bytes are filled
// from their least significant bit.
//   BitWriter out;
//   out.Bit(true);
//   out.Number(1000);
//   const Bytes bytes = std::move(out).Take();
//
//   BitReader in(bytes);
//   const bool changed = in.Bit();
//   const uint64_t delta = in.Number();
//   if (!in.ok()) return absl::DataLossError("truncated");
#ifndef SIDEBAND_PROTO_MAILBOX_BIT_STREAM_H_
#define SIDEBAND_PROTO_MAILBOX_BIT_STREAM_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "proto/base/bytes.h"

namespace sideband::mailbox {

// A width of 0 is the bit 0. Other widths are the bit 1 and six bits with the width less one.
constexpr size_t WidthBits(uint32_t width) { return width == 0 ? 1 : 7; }

// A difference modulo 2^64 with its sign in the lowest bit, so that small ones of either sign have few bits.
constexpr uint64_t WithSign(uint64_t difference) { return difference << 1 ^ (0 - (difference >> 63)); }
constexpr uint64_t WithoutSign(uint64_t code) { return code >> 1 ^ (0 - (code & 1)); }

// Not thread-safe.
class BitWriter {
 public:
  // Writes the low `width` bits of `value`; `width` is 0 to 64.
  void Bits(uint64_t value, uint32_t width);
  void Bit(bool value) { Bits(value ? 1 : 0, 1); }
  // `width` is 0 to 64.
  void Width(uint32_t width);
  // Writes the width of `value`, then its bits.
  void Number(uint64_t value);

  size_t size() const { return size_; }
  // The bytes; the last byte is filled with zeros.
  Bytes Take() && { return std::move(bytes_); }

 private:
  Bytes bytes_;
  size_t size_ = 0;  // bits
};

// Reads bytes that it does not own and that must outlive it. A read past the end returns 0 and sets ok() to false
// permanently. Not thread-safe.
class BitReader {
 public:
  explicit BitReader(ByteSpan bytes) : bytes_(bytes) {}

  uint64_t Bits(uint32_t width);
  bool Bit() { return Bits(1) != 0; }
  uint32_t Width();
  uint64_t Number() { return Bits(Width()); }

  bool ok() const { return ok_; }
  size_t remaining() const { return 8 * bytes_.size() - at_; }
  // Whether only the zero bits that fill the last byte are left.
  bool AtEnd();

 private:
  ByteSpan bytes_;
  size_t at_ = 0;  // bits
  bool ok_ = true;
};

}  // namespace sideband::mailbox

#endif  // SIDEBAND_PROTO_MAILBOX_BIT_STREAM_H_
