// SPDX-License-Identifier: Apache-2.0
//
// The frame of all streams (StreamKind): a fixed header, a payload, and a CRC-32C over both (README.md).
//   const Bytes bytes = EncodeStream({.kind = StreamKind::kSnapshot, .boot_id = boot, .snapshot_id = 7}, payload);
//   SIDEBAND_ASSIGN_OR_RETURN(const Stream stream, DecodeStream(bytes));   // stream.payload views into `bytes`
#ifndef SIDEBAND_PROTO_MAILBOX_STREAM_H_
#define SIDEBAND_PROTO_MAILBOX_STREAM_H_

#include <cstdint>

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

// The encoding of the payload. Version 1: kPlain for a catalogue, kDelta for a snapshot (snapshot_stream.h). Version 2:
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

}  // namespace sideband::mailbox

#endif  // SIDEBAND_PROTO_MAILBOX_STREAM_H_
