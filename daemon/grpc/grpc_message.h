// SPDX-License-Identifier: Apache-2.0
//
// Protocol buffers and statuses as gRPC carries them.
//   SIDEBAND_ASSIGN_OR_RETURN(grpc::ByteBuffer bytes, Serialized(response));
//   if (!FromBytes(bytes, request)) return absl::InvalidArgumentError("malformed");
#ifndef SIDEBAND_DAEMON_GRPC_GRPC_MESSAGE_H_
#define SIDEBAND_DAEMON_GRPC_GRPC_MESSAGE_H_

#include <google/protobuf/message.h>
#include <grpcpp/impl/codegen/proto_utils.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/status.h>

#include <cstddef>
#include <limits>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace sideband::daemon {

// Both number their codes alike.
inline grpc::Status ToGrpcStatus(const absl::Status& status) {
  return grpc::Status(static_cast<grpc::StatusCode>(status.code()), std::string(status.message()));
}

// The largest message that protocol buffers can serialize.
inline constexpr size_t kMessageBytesMost = std::numeric_limits<int>::max();

// The error for a message beyond that limit.
inline absl::Status SerialisationError() { return absl::InternalError("the answer cannot be serialised"); }

// INTERNAL where the message is longer than `bytes_max`.
inline absl::StatusOr<grpc::ByteBuffer> Serialized(const google::protobuf::Message& message,
                                                   size_t bytes_max = kMessageBytesMost) {
  using Traits = grpc::SerializationTraits<google::protobuf::Message>;
  grpc::ByteBuffer bytes;
  bool own_buffer = false;
  // Checked first: gRPC would narrow the size to int.
  if (message.ByteSizeLong() > bytes_max || !Traits::Serialize(message, &bytes, &own_buffer).ok()) {
    return SerialisationError();
  }
  return bytes;
}

// False where the bytes are malformed; `message` then holds the fields that were parsed.
inline bool FromBytes(const grpc::ByteBuffer& bytes, google::protobuf::Message& message) {
  grpc::ByteBuffer consumed = bytes;  // shares the slices; Deserialize consumes its argument
  return grpc::SerializationTraits<google::protobuf::Message>::Deserialize(&consumed, &message).ok();
}

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_GRPC_GRPC_MESSAGE_H_
