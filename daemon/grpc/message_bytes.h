// SPDX-License-Identifier: Apache-2.0
//
// Between messages and the bytes that gRPC carries.
//   grpc::ByteBuffer bytes = ToBytes(response);
//   if (!FromBytes(bytes, request)) …   // malformed
#ifndef SIDEBAND_DAEMON_GRPC_MESSAGE_BYTES_H_
#define SIDEBAND_DAEMON_GRPC_MESSAGE_BYTES_H_

#include <google/protobuf/message.h>
#include <grpcpp/impl/codegen/proto_utils.h>
#include <grpcpp/support/byte_buffer.h>

namespace sideband::daemon {

inline grpc::ByteBuffer ToBytes(const google::protobuf::Message& message) {
  grpc::ByteBuffer bytes;
  bool own_buffer = false;
  // Fails only beyond 2 GiB: the answer is then empty.
  const grpc::Status ignored =
      grpc::SerializationTraits<google::protobuf::Message>::Serialize(message, &bytes, &own_buffer);
  return bytes;
}

// False where they are no such message; what could be read of it is in `message` then.
inline bool FromBytes(const grpc::ByteBuffer& bytes, google::protobuf::Message& message) {
  grpc::ByteBuffer consumed = bytes;  // shares the bytes
  return grpc::SerializationTraits<google::protobuf::Message>::Deserialize(&consumed, &message).ok();
}

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_GRPC_MESSAGE_BYTES_H_
