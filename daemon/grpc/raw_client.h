// SPDX-License-Identifier: Apache-2.0
//
// Calls a method by its path with any bytes, for tests.
//   const RawAnswer answer = RawCall(channel, "/sideband.v1.Telemetry/GetSnapshot", BytesOf("\xff"));
//   EXPECT_EQ(answer.status.error_code(), grpc::INVALID_ARGUMENT);
#ifndef SIDEBAND_DAEMON_GRPC_RAW_CLIENT_H_
#define SIDEBAND_DAEMON_GRPC_RAW_CLIENT_H_

#include <grpcpp/channel.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/status.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace sideband::daemon {

struct RawAnswer {
  grpc::Status status;
  std::vector<std::string> responses;  // the bytes of each message
  std::multimap<std::string, std::string> trailers;
};

grpc::ByteBuffer BytesOf(const std::string& text);
std::string TextOf(const grpc::ByteBuffer& bytes);

// Blocks until the server has ended the call. `authorization` has the values of that metadata field.
RawAnswer RawCall(const std::shared_ptr<grpc::Channel>& channel, const std::string& path,
                  const grpc::ByteBuffer& request, const std::vector<std::string>& authorization = {});

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_GRPC_RAW_CLIENT_H_
