// SPDX-License-Identifier: Apache-2.0
//
// Answers with snapshots whose bytes are shared: slices of one buffer, of which a snapshot's body is neither serialised
// nor copied again.
//   const UpdateMessage message{.update = bodies.Get(device, filter)};
//   SIDEBAND_ASSIGN_OR_RETURN(grpc::ByteBuffer bytes, Serialized(message));
#ifndef SIDEBAND_DAEMON_GRPC_SHARED_ANSWER_H_
#define SIDEBAND_DAEMON_GRPC_SHARED_ANSWER_H_

#include <grpcpp/support/byte_buffer.h>

#include <cstddef>
#include <vector>

#include "absl/status/statusor.h"
#include "daemon/grpc/message_bytes.h"
#include "daemon/view/snapshot_bodies.h"
#include "daemon/view/update_message.h"

namespace sideband::daemon {

// A SubscribeResponse. INTERNAL where the message is longer than `bytes_max`. The buffer holds the bodies.
absl::StatusOr<grpc::ByteBuffer> Serialized(const UpdateMessage& message, size_t bytes_max = kMessageBytesMost);
// A GetSnapshotResponse, likewise.
absl::StatusOr<grpc::ByteBuffer> Serialized(const std::vector<SharedSnapshot>& snapshots,
                                            size_t bytes_max = kMessageBytesMost);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_GRPC_SHARED_ANSWER_H_
