// SPDX-License-Identifier: Apache-2.0
#include "proto/mailbox/rotation_stream.h"

#include <utility>

#include "proto/base/status_macros.h"
#include "proto/mailbox/catalog.h"
#include "proto/mailbox/rotation_items.h"
#include "proto/mailbox/stream.h"

namespace sideband::mailbox {
namespace {

absl::Status DecodeContexts(ByteReader& in, std::vector<uint16_t>& contexts) {
  const size_t size = in.U16();
  if (size > kContextsMax) return MalformedRotation("too many contexts");
  for (size_t i = 0; i < size && in.ok(); ++i) {
    const uint16_t context = in.U16();
    if (context == kNoContext) return MalformedRotation("a context has no number");
    if (!contexts.empty() && context <= contexts.back()) return MalformedRotation("contexts do not ascend");
    contexts.push_back(context);
  }
  return in.ok() ? absl::OkStatus() : MalformedRotation("truncated");
}

}  // namespace

Bytes EncodeRotationRequest(const RotationRequest& request) {
  ByteWriter out;
  out.U16(request.vm);
  out.U16(static_cast<uint16_t>(request.contexts.size()));
  for (const uint16_t context : request.contexts) out.U16(context);
  Encode(request.settings, out);
  Encode(request.events, out);
  Encode(request.always, out);
  return std::move(out).Take();
}

absl::StatusOr<RotationRequest> DecodeRotationRequest(ByteSpan bytes, size_t events) {
  ByteReader in(bytes);
  RotationRequest request{.vm = in.U16()};
  SIDEBAND_RETURN_IF_ERROR(DecodeContexts(in, request.contexts));
  SIDEBAND_RETURN_IF_ERROR(Decode(in, events, request.settings));
  SIDEBAND_RETURN_IF_ERROR(Decode(in, events, request.events));
  SIDEBAND_RETURN_IF_ERROR(Decode(in, events, request.always));
  if (in.remaining() != 0) return MalformedRotation("bytes after the end");
  return request;
}

Bytes EncodePlanStream(uint64_t boot_id, uint32_t scope, const RotationPlan& plan) {
  ByteWriter out;
  Encode(plan, out);
  return EncodeStream({.kind = StreamKind::kPlan, .boot_id = boot_id, .snapshot_id = scope}, out.written());
}

absl::StatusOr<RotationPlan> DecodePlanStream(ByteSpan bytes, uint32_t scope, size_t events) {
  SIDEBAND_ASSIGN_OR_RETURN(const Stream stream, DecodeStream(bytes));
  if (stream.header.kind != StreamKind::kPlan || stream.header.framing != Framing::kPlain) {
    return MalformedRotation("wrong kind of stream");
  }
  if (stream.header.snapshot_id != scope) return absl::AbortedError("rotation: the plan of another scope");
  ByteReader in(stream.payload);
  RotationPlan plan;
  SIDEBAND_RETURN_IF_ERROR(Decode(in, events, plan));
  if (in.remaining() != 0) return MalformedRotation("bytes after the end");
  return plan;
}

}  // namespace sideband::mailbox
