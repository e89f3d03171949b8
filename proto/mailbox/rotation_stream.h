// SPDX-License-Identifier: Apache-2.0
//
// What opcode ROTATE moves: a request for the upload buffer, and the stream of PLAN (README.md, "Rotation").
//   const Bytes upload = EncodeRotationRequest({.vm = 1, .events = wanted});
//   SIDEBAND_ASSIGN_OR_RETURN(const RotationPlan plan, DecodePlanStream(stream, catalog.events.size()));
#ifndef SIDEBAND_PROTO_MAILBOX_ROTATION_STREAM_H_
#define SIDEBAND_PROTO_MAILBOX_ROTATION_STREAM_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/statusor.h"
#include "proto/base/bytes.h"
#include "proto/mailbox/rotation.h"

namespace sideband::mailbox {

Bytes EncodeRotationRequest(const RotationRequest& request);
// `bytes` come from an untrusted peer. INVALID_ARGUMENT for truncated input, bytes after the end, contexts that do not
// ascend, an event that is not below `events`, and an unknown profile.
absl::StatusOr<RotationRequest> DecodeRotationRequest(ByteSpan bytes, size_t events);

// Returns a whole stream, frame included.
Bytes EncodePlanStream(uint64_t boot_id, const RotationPlan& plan);
// `stream` comes from an untrusted peer. DATA_LOSS if the frame is damaged, INVALID_ARGUMENT for another kind of stream
// and as for DecodeRotationRequest, and for no or more than kRotationSetsMax sets.
absl::StatusOr<RotationPlan> DecodePlanStream(ByteSpan stream, size_t events);

}  // namespace sideband::mailbox

#endif  // SIDEBAND_PROTO_MAILBOX_ROTATION_STREAM_H_
