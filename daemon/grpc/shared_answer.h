// SPDX-License-Identifier: Apache-2.0
//
// Answers with snapshots whose bytes are shared: slices of one buffer, of which a snapshot's body is neither serialised
// nor copied again.
//   UpdateMessage message{.update = bodies.Get(device, filter)};
//   message.fields.set_skipped(3);
//   SIDEBAND_ASSIGN_OR_RETURN(grpc::ByteBuffer bytes, Serialized(message));
#ifndef SIDEBAND_DAEMON_GRPC_SHARED_ANSWER_H_
#define SIDEBAND_DAEMON_GRPC_SHARED_ANSWER_H_

#include <grpcpp/support/byte_buffer.h>

#include <cstddef>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "daemon/grpc/message_bytes.h"
#include "daemon/view/snapshot_bodies.h"
#include "sideband/v1/telemetry.pb.h"

namespace sideband::daemon {

// A SubscribeResponse.
struct UpdateMessage {
  sideband::v1::SubscribeResponse fields;  // all of it but the update; with an update, no other response
  std::optional<SharedSnapshot> update;
};

// INTERNAL where the message is longer than `bytes_max`. The buffer holds the bodies.
absl::StatusOr<grpc::ByteBuffer> Serialized(const UpdateMessage& message, size_t bytes_max = kMessageBytesMost);
// A GetSnapshotResponse, likewise.
absl::StatusOr<grpc::ByteBuffer> Serialized(const std::vector<SharedSnapshot>& snapshots,
                                            size_t bytes_max = kMessageBytesMost);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_GRPC_SHARED_ANSWER_H_
