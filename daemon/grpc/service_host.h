// SPDX-License-Identifier: Apache-2.0
//
// gRPC's server and the services it hosts. It has no listening socket: the gate passes connections to Serve.
//   std::unique_ptr<ServiceHost> host = ServiceHost::Create(context, /*reflection=*/false);
//   host->Serve(fd);
//   host->Stop(deadline);
#ifndef SIDEBAND_DAEMON_GRPC_SERVICE_HOST_H_
#define SIDEBAND_DAEMON_GRPC_SERVICE_HOST_H_

#include <grpc/support/time.h>
#include <grpcpp/health_check_service_interface.h>
#include <grpcpp/impl/codegen/service_type.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include <functional>
#include <list>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "daemon/grpc/service_context.h"
#include "daemon/grpc/services.h"

namespace sideband::daemon {

inline constexpr int kGrpcRequestBytesMax = 64 << 10;

// Thread-safe, except that Stop() must be the last call.
class ServiceHost {
 public:
  // nullptr where gRPC fails to start the server.
  static std::unique_ptr<ServiceHost> Create(const ServiceContext& context, bool reflection);

  // Takes ownership of the connection.
  void Serve(int fd);
  // Valid as long as this object.
  grpc::HealthCheckServiceInterface& health() const { return *server_->GetHealthCheckService(); }
  // Reports NOT_SERVING for all services, for good.
  void MarkUnhealthy();
  // Rejects new calls, cancels the remaining ones at `deadline`, and blocks until all have ended.
  void Stop(gpr_timespec deadline);

 private:
  using Acceptor = grpc::experimental::ExternalConnectionAcceptor;

  explicit ServiceHost(const ServiceContext& context)
      : telemetry_(NewTelemetryService(context)),
        sensors_(NewSensorsService(context)),
        confidential_(NewConfidentialService(context)),
        counting_(NewCountingService(context)),
        admin_(NewAdminService(context)) {}

  // The server refers to the services, the acceptor to the server.
  const std::unique_ptr<grpc::Service> telemetry_;
  const std::unique_ptr<grpc::Service> sensors_;
  const std::unique_ptr<grpc::Service> confidential_;
  const std::unique_ptr<grpc::Service> counting_;
  const std::unique_ptr<grpc::Service> admin_;
  std::unique_ptr<grpc::Server> server_;
  std::unique_ptr<Acceptor> acceptor_;
};

// A gRPC service as a table of methods that take and return bytes: the generated WithRawCallbackMethod_ templates, of
// which each method would wrap the others, as data.
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

#endif  // SIDEBAND_DAEMON_GRPC_SERVICE_HOST_H_
