// SPDX-License-Identifier: Apache-2.0
#include "proto/mailbox/peek.h"

#include <bit>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "proto/base/status_macros.h"
#include "proto/mailbox/snapshot.h"

namespace sideband::mailbox {
namespace {

absl::Status MalformedPeek(absl::string_view what) { return absl::InvalidArgumentError(absl::StrCat("peek: ", what)); }

// The counters' number follows from the bitmap and is checked before memory is allocated.
absl::Status CheckPayload(const PeekAnswer& answer, size_t remaining) {
  if (answer.question.bitmap == 0) return MalformedPeek("of no counter");
  if (remaining != 8 * static_cast<size_t>(std::popcount(answer.question.bitmap))) return MalformedPeek("wrong length");
  return (answer.flags & ~(kFlagsKnown | kFlagRotationInconsistent)) == 0 ? absl::OkStatus()
                                                                          : MalformedPeek("unknown block flag");
}

}  // namespace

Bytes EncodePeekStream(const PeekAnswer& answer) {
  ByteWriter out;
  out.U32(answer.question.manager);
  out.U16(answer.question.vm);
  out.U16(answer.question.context);
  out.U32(answer.generation);
  out.U64(answer.question.bitmap);
  out.U64(answer.reference_cycle);
  out.U64(answer.reference_time_ns);
  out.U16(answer.flags);
  for (const uint64_t counter : answer.counters) out.U64(counter);
  return EncodeStream({.kind = StreamKind::kPeek, .boot_id = answer.boot_id, .snapshot_id = answer.tag}, out.written());
}

absl::StatusOr<PeekAnswer> DecodePeekStream(ByteSpan bytes) {
  SIDEBAND_ASSIGN_OR_RETURN(const Stream stream, DecodeStream(bytes));
  const StreamHeader& header = stream.header;
  if (header.kind != StreamKind::kPeek || header.framing != Framing::kPlain)
    return MalformedPeek("wrong kind of stream");
  if (header.base_id != 0) return MalformedPeek("relative to a snapshot");
  PeekAnswer answer{.boot_id = header.boot_id, .tag = header.snapshot_id};
  ByteReader in(stream.payload);
  answer.question.manager = in.U32();
  answer.question.vm = in.U16();
  answer.question.context = in.U16();
  answer.generation = in.U32();
  answer.question.bitmap = in.U64();
  answer.reference_cycle = in.U64();
  answer.reference_time_ns = in.U64();
  answer.flags = in.U16();
  if (!in.ok()) return MalformedPeek("truncated");
  SIDEBAND_RETURN_IF_ERROR(CheckPayload(answer, in.remaining()));
  while (in.remaining() > 0) answer.counters.push_back(in.U64());
  return answer;
}

}  // namespace sideband::mailbox
