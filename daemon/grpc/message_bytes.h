// SPDX-License-Identifier: Apache-2.0
//
// Between messages and the bytes that gRPC carries.
//   SIDEBAND_ASSIGN_OR_RETURN(grpc::ByteBuffer bytes, Serialized(response));
//   if (!FromBytes(bytes, request)) …   // malformed
#ifndef SIDEBAND_DAEMON_GRPC_MESSAGE_BYTES_H_
#define SIDEBAND_DAEMON_GRPC_MESSAGE_BYTES_H_

#include <google/protobuf/message.h>
#include <grpcpp/impl/codegen/proto_utils.h>
#include <grpcpp/support/byte_buffer.h>

#include <cstddef>
#include <limits>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace sideband::daemon {

// Protocol buffers know no longer message.
inline constexpr size_t kMessageBytesMost = std::numeric_limits<int>::max();

// INTERNAL where the message is too long.
inline absl::StatusOr<grpc::ByteBuffer> Serialized(const google::protobuf::Message& message,
                                                   size_t bytes_max = kMessageBytesMost) {
  using Traits = grpc::SerializationTraits<google::protobuf::Message>;
  grpc::ByteBuffer bytes;
  bool own_buffer = false;
  // Asked first, since gRPC takes the size for an int.
  if (message.ByteSizeLong() > bytes_max || !Traits::Serialize(message, &bytes, &own_buffer).ok()) {
    return absl::InternalError("the answer cannot be serialised");
  }
  return bytes;
}

// False where they are no such message; what could be read of it is in `message` then.
inline bool FromBytes(const grpc::ByteBuffer& bytes, google::protobuf::Message& message) {
  grpc::ByteBuffer consumed = bytes;  // shares the bytes
  return grpc::SerializationTraits<google::protobuf::Message>::Deserialize(&consumed, &message).ok();
}

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_GRPC_MESSAGE_BYTES_H_
