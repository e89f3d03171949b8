// SPDX-License-Identifier: Apache-2.0
//
// The bytes of all streams (stream_format.md). A frame (StreamKind) is a fixed header, a payload, and a CRC-32C of
// both.
//   const Bytes bytes = EncodeStream({.kind = StreamKind::kSnapshot, .boot_id = boot, .snapshot_id = 7}, payload);
//   SIDEBAND_ASSIGN_OR_RETURN(const Stream stream, DecodeStream(bytes));   // stream.payload views into `bytes`
// Payloads pack numbers of variable width without gaps. The least significant bit of a number comes first; bytes are
// filled from their least significant bit.
//   BitWriter out;
//   out.Bit(true);
//   out.Number(1000);
//   const Bytes packed = std::move(out).Take();
//
//   BitReader in(packed);
//   const bool changed = in.Bit();
//   const uint64_t delta = in.Number();
//   if (!in.ok()) return absl::DataLossError("truncated");
#ifndef SIDEBAND_PROTO_MAILBOX_STREAM_H_
#define SIDEBAND_PROTO_MAILBOX_STREAM_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "absl/status/statusor.h"
#include "proto/base/bytes.h"

namespace sideband::mailbox {

enum class StreamKind : uint8_t {
  kCatalog = 1,
  kSnapshot = 2,
  kPeek = 3,
  kTimeline = 4,
  kHulls = 5,
  kConfig = 6,
  kPlan = 7,
  kExchange = 8
};

// The encoding of the payload. Version 1: kPlain for a catalogue, kDelta for a snapshot (snapshot.h). Version 2:
// kSections for both (sections.h), kPlain for the other kinds. Readers reject other values.
enum class Framing : uint8_t { kPlain = 1, kDelta = 2, kSections = 3 };

struct StreamHeader {
  StreamKind kind;
  Framing framing = Framing::kPlain;
  uint64_t boot_id = 0;
  uint32_t snapshot_id = 0;  // 0 in a catalogue; the tag of a peek; the scope of a plan; TIMELINE's and HULLS' trigger
  uint32_t base_id = 0;      // the acknowledged snapshot that counters are relative to; 0: counters are absolute
  bool operator==(const StreamHeader&) const = default;
};

inline constexpr uint32_t kStreamMagic = 0x314B4253;  // "SBK1"
inline constexpr size_t kStreamHeaderBytes = 28;
inline constexpr size_t kStreamCrcBytes = 4;

struct Stream {
  StreamHeader header;
  ByteSpan payload;
};

Bytes EncodeStream(const StreamHeader& header, ByteSpan payload);

// DATA_LOSS for a wrong magic, length or CRC (a damaged stream can be read again); UNIMPLEMENTED for an unknown kind or
// framing. `bytes` must outlive the result.
absl::StatusOr<Stream> DecodeStream(ByteSpan bytes);

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

#endif  // SIDEBAND_PROTO_MAILBOX_STREAM_H_
