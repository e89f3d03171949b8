// SPDX-License-Identifier: Apache-2.0
//
// gRPC's side of certificates that change: each new connection is made with those that are in force then.
//   const auto credentials = ReloadingCredentials(*tls);
//   builder.AddListeningPort(address, credentials, &port);
#ifndef SIDEBAND_DAEMON_GRPC_RELOADING_CREDENTIALS_H_
#define SIDEBAND_DAEMON_GRPC_RELOADING_CREDENTIALS_H_

#include <grpcpp/security/server_credentials.h>

#include <memory>

#include "daemon/listen/listener_tls.h"

namespace sideband::daemon {

// For one port of one server, which `tls` and the credentials themselves must outlive.
std::shared_ptr<grpc::ServerCredentials> ReloadingCredentials(const ListenerTls& tls);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_GRPC_RELOADING_CREDENTIALS_H_
