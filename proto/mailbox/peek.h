// SPDX-License-Identifier: Apache-2.0
//
// The register read path over the mailbox: opcode PEEK asks for up to 64 live counters of one memory block, and a
// stream of its own kind answers. (registers.md, "Out of band: opcode 67 PEEK"; stream_format.md has the bytes.)
//   const PeekQuestion question{.manager = ExtendOf(event), .vm = 1, .context = 0, .bitmap = BitOf(event)};
//   const Bytes bytes = EncodePeekStream({.boot_id = boot, .tag = 7, .question = question, .counters = {count}});
//   SIDEBAND_ASSIGN_OR_RETURN(const PeekAnswer answer, DecodePeekStream(bytes));
//   if (answer.question == question) Use(answer.counters[0]);
#ifndef SIDEBAND_PROTO_MAILBOX_PEEK_H_
#define SIDEBAND_PROTO_MAILBOX_PEEK_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/base/bytes.h"
#include "proto/mailbox/catalog.h"
#include "proto/mailbox/stream.h"

namespace sideband::mailbox {

// A question selects among the counters of one extend: event 64 · extend + b of the catalogue is bit b.
inline constexpr size_t kPeekCountersMax = 64;

constexpr uint32_t ExtendOf(size_t event) { return static_cast<uint32_t>(event / kPeekCountersMax); }
constexpr uint64_t BitOf(size_t event) { return uint64_t{1} << event % kPeekCountersMax; }

// The manager word, data-in of SCOPE: extend 5:0 and module 16:6 of a manager id, of which PEEK ignores the module; bit
// 31 asks for the latch of the last GO. The bits between are 0.
inline constexpr uint32_t kPeekExtendMask = 0x3F;
inline constexpr uint32_t kPeekReservedMask = 0x7FFE0000;
inline constexpr uint32_t kPeekSameLatch = uint32_t{1} << 31;

struct PeekQuestion {
  uint32_t manager = 0;
  uint16_t vm = kHypervisorVm;
  uint16_t context = kNoContext;
  uint64_t bitmap = 0;
  bool operator==(const PeekQuestion&) const = default;
};

struct PeekAnswer {
  uint64_t boot_id = 0;
  uint32_t tag = 0;  // differs between two answers of a boot
  PeekQuestion question;
  uint32_t generation = 0;         // of the block
  uint64_t reference_cycle = 0;    // of the latch: all counters are of this instant
  uint64_t reference_time_ns = 0;  // likewise, since boot
  uint16_t flags = 0;              // BlockFlag
  std::vector<uint64_t> counters;  // one for each bit of the bitmap, ascending
  bool operator==(const PeekAnswer&) const = default;
};

inline constexpr size_t kPeekFixedBytes = 4 + 2 + 2 + 4 + 8 + 8 + 8 + 2;

// The length of the stream with this many counters.
constexpr size_t PeekStreamBytes(size_t counters) {
  return kStreamHeaderBytes + kPeekFixedBytes + 8 * counters + kStreamCrcBytes;
}

// The answer must have a counter for each bit of its bitmap.
Bytes EncodePeekStream(const PeekAnswer& answer);

// `bytes` come from an untrusted peer. Errors are those of DecodeStream, and INVALID_ARGUMENT for another kind of
// stream, an empty bitmap, more or fewer counters than bits, and an unknown flag.
absl::StatusOr<PeekAnswer> DecodePeekStream(ByteSpan bytes);

}  // namespace sideband::mailbox

#endif  // SIDEBAND_PROTO_MAILBOX_PEEK_H_
