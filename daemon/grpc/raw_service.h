// SPDX-License-Identifier: Apache-2.0
//
// A gRPC service as a table of methods that take and return bytes: the generated WithRawCallbackMethod_ templates, of
// which each method would wrap the others, as data.
//   RawService service("sideband.v1.Telemetry", {{"GetSnapshot", get_snapshot}, {"Subscribe", subscribe}});
//   builder.RegisterService(&service);
#ifndef SIDEBAND_DAEMON_GRPC_RAW_SERVICE_H_
#define SIDEBAND_DAEMON_GRPC_RAW_SERVICE_H_

#include <grpcpp/impl/codegen/service_type.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include <functional>
#include <list>
#include <string>
#include <variant>
#include <vector>

namespace sideband::daemon {

using UnaryReactor = grpc::ServerUnaryReactor;
using WriteReactor = grpc::ServerWriteReactor<grpc::ByteBuffer>;

// Immutable after construction. Handlers are called on gRPC's threads, several at a time.
class RawService final : public grpc::Service {
 public:
  using UnaryHandler =
      std::function<UnaryReactor*(grpc::CallbackServerContext*, const grpc::ByteBuffer*, grpc::ByteBuffer*)>;
  using StreamHandler = std::function<WriteReactor*(grpc::CallbackServerContext*, const grpc::ByteBuffer*)>;

  struct Method {
    std::string name;
    std::variant<UnaryHandler, StreamHandler> handler;
  };

  // `name` with its package.
  RawService(const std::string& name, std::vector<Method> methods);

 private:
  void Add(const std::string& path, UnaryHandler handler);
  void Add(const std::string& path, StreamHandler handler);

  std::list<std::string> paths_;  // gRPC keeps pointers into them
  int methods_ = 0;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_GRPC_RAW_SERVICE_H_
