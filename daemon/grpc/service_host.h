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
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include <memory>

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

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_GRPC_SERVICE_HOST_H_
