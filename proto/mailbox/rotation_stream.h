// SPDX-License-Identifier: Apache-2.0
//
// What opcode ROTATE moves: a request for the upload buffer, and the stream of PLAN (README.md, "Rotation").
//   const Bytes upload = EncodeRotationRequest({.vm = 1, .events = wanted});
//   SIDEBAND_ASSIGN_OR_RETURN(const RotationPlan plan, DecodePlanStream(stream, scope, catalog.events.size()));
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

// Returns a whole stream, frame included. `scope` as in the command PLAN (extension.h).
Bytes EncodePlanStream(uint64_t boot_id, uint32_t scope, const RotationPlan& plan);
// `stream` comes from an untrusted peer. DATA_LOSS if the frame is damaged, ABORTED if the
// stream is of another scope, INVALID_ARGUMENT for another kind of stream
// and as for DecodeRotationRequest, and for no or more than kRotationSetsMax sets.
absl::StatusOr<RotationPlan> DecodePlanStream(ByteSpan stream, uint32_t scope, size_t events);

}  // namespace sideband::mailbox

#endif  // SIDEBAND_PROTO_MAILBOX_ROTATION_STREAM_H_
