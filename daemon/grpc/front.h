// SPDX-License-Identifier: Apache-2.0
//
// The services behind a gRPC server of their own: the network's, or that of one user of the Unix socket.
//   int port = 0;
//   std::unique_ptr<Front> front = Front::Listen(context, "127.0.0.1:0", credentials, port);
//   front->Stop(deadline);
#ifndef SIDEBAND_DAEMON_GRPC_FRONT_H_
#define SIDEBAND_DAEMON_GRPC_FRONT_H_

#include <grpc/support/time.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include <memory>
#include <string>

#include "daemon/grpc/service_context.h"
#include "daemon/grpc/services.h"

namespace sideband::daemon {

inline constexpr int kGrpcRequestBytesMax = 64 << 10;

// Thread-safe, but for Stop, which comes last.
class Front {
 public:
  // nullptr where it cannot listen there. `port` is the chosen one.
  static std::unique_ptr<Front> Listen(const ServiceContext& context, const std::string& address,
                                       const std::shared_ptr<grpc::ServerCredentials>& credentials, int& port);
  // Listens on nothing; it gets connections of local operators by Serve. nullptr where gRPC has no room for it.
  static std::unique_ptr<Front> ForLocalConnections(const ServiceContext& context);

  // Takes the connection, which is this one's from then on.
  void Serve(int fd);
  void SayUnhealthy();
  // Takes no more calls, ends at `deadline` those that have not ended, and waits for all of them.
  void Stop(gpr_timespec deadline);

 private:
  using Acceptor = grpc::experimental::ExternalConnectionAcceptor;

  explicit Front(const ServiceContext& context) : telemetry_(context), confidential_(context) {}
  bool Start(grpc::ServerBuilder& builder);

  // The server refers to the services, the acceptor to the server.
  TelemetryService telemetry_;
  ConfidentialService confidential_;
  std::unique_ptr<grpc::Server> server_;
  std::unique_ptr<Acceptor> acceptor_;  // nullptr on the network
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_GRPC_FRONT_H_
