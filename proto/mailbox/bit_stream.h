// SPDX-License-Identifier: Apache-2.0
//
// Numbers in as many bits as they need, the least significant bit of each first, packed from the least significant bit
// of each byte on.
//   BitWriter out;                            BitReader in(bytes);
//   out.Bit(changed);                         const bool changed = in.Bit();
//   out.Number(delta);                        const uint64_t delta = in.Number();
//   return std::move(out).Take();             if (!in.ok()) return Malformed("truncated");
#ifndef SIDEBAND_PROTO_MAILBOX_BIT_STREAM_H_
#define SIDEBAND_PROTO_MAILBOX_BIT_STREAM_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "proto/base/bytes.h"

namespace sideband::mailbox {

// A width is one bit, 0, for 0, else 1 and six bits of the width less one.
constexpr size_t WidthBits(uint32_t width) { return width == 0 ? 1 : 7; }

// Not thread-safe.
class BitWriter {
 public:
  // The low `width` bits, 0 to 64.
  void Bits(uint64_t value, uint32_t width);
  void Bit(bool value) { Bits(value ? 1 : 0, 1); }
  // 0 to 64.
  void Width(uint32_t width);
  // The width of the value, then its bits.
  void Number(uint64_t value);

  size_t size() const { return size_; }
  // Filled up with zeros to a whole byte.
  Bytes Take() && { return std::move(bytes_); }

 private:
  Bytes bytes_;
  size_t size_ = 0;  // bits
};

// Reads bytes that it does not own and that must outlive it. A read past the end returns 0 and makes ok() false for
// good. Not thread-safe.
class BitReader {
 public:
  explicit BitReader(ByteSpan bytes) : bytes_(bytes) {}

  uint64_t Bits(uint32_t width);
  bool Bit() { return Bits(1) != 0; }
  uint32_t Width();
  uint64_t Number() { return Bits(Width()); }

  bool ok() const { return ok_; }
  size_t remaining() const { return 8 * bytes_.size() - at_; }
  // Whether nothing but the filling of the last byte is left.
  bool AtEnd();

 private:
  ByteSpan bytes_;
  size_t at_ = 0;  // bits
  bool ok_ = true;
};

}  // namespace sideband::mailbox

#endif  // SIDEBAND_PROTO_MAILBOX_BIT_STREAM_H_
