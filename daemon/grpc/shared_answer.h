// SPDX-License-Identifier: Apache-2.0
//
// Answers with snapshots whose bytes are shared: slices of one buffer, of which a snapshot's body is neither serialised
// nor copied again.
//   StreamMessage message{.update = bodies.Get(device, filter)};
//   message.fields.set_skipped(3);
//   SIDEBAND_ASSIGN_OR_RETURN(grpc::ByteBuffer bytes, Serialized(message));
#ifndef SIDEBAND_DAEMON_GRPC_SHARED_ANSWER_H_
#define SIDEBAND_DAEMON_GRPC_SHARED_ANSWER_H_

#include <grpcpp/support/byte_buffer.h>

#include <cstddef>
#include <vector>

#include "absl/status/statusor.h"
#include "daemon/grpc/message_bytes.h"
#include "daemon/stream/stream_message.h"
#include "daemon/view/snapshot_bodies.h"

namespace sideband::daemon {

// A SubscribeResponse. INTERNAL where the message is longer than `bytes_max`. The buffer holds the bodies.
absl::StatusOr<grpc::ByteBuffer> Serialized(const StreamMessage& message, size_t bytes_max = kMessageBytesMost);
// A GetSnapshotResponse, likewise.
absl::StatusOr<grpc::ByteBuffer> Serialized(const std::vector<SharedSnapshot>& snapshots,
                                            size_t bytes_max = kMessageBytesMost);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_GRPC_SHARED_ANSWER_H_
