// SPDX-License-Identifier: Apache-2.0
//
// sideband.v1.Telemetry and sideband.v1.Confidential over mutual TLS, and for local operators on a Unix socket, with
// the standard health service and, where configured, reflection.
//   SIDEBAND_ASSIGN_OR_RETURN(auto server, GrpcServer::Start({.config = config.grpc}, reader, *metrics));
//   server->port();   // the chosen one where the configuration says 0
//   server->CheckCertificates();   // every second
//   server->Stop(absl::Seconds(3));
#ifndef SIDEBAND_DAEMON_GRPC_GRPC_SERVER_H_
#define SIDEBAND_DAEMON_GRPC_GRPC_SERVER_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "daemon/api/reader.h"
#include "daemon/config/config.h"
#include "daemon/grpc/calls_under_way.h"
#include "daemon/grpc/request_quota.h"
#include "daemon/history/history.h"
#include "daemon/metrics/self_metrics.h"

namespace sideband::daemon {

inline constexpr size_t kStreamsPerIdentityMax = 64;

// Thread-safe.
class GrpcServer {
 public:
  struct Options {
    GrpcConfig config;
    LocalOperators local_operators;
    // Of one identity.
    size_t streams_per_identity_max = kStreamsPerIdentityMax;
    RequestQuota::Limits requests;     // beginnings of streams among them
    CallsUnderWay::Limits under_way;   // streams among them
    const History* history = nullptr;  // nullptr: none is kept; else it must outlive the server
  };

  // INVALID_ARGUMENT where a TLS file is not what it should be; UNAVAILABLE "grpc: cannot listen on ADDRESS: why".
  // `reader` and `metrics` must outlive the server.
  static absl::StatusOr<std::unique_ptr<GrpcServer>> Start(Options options, Reader& reader, SelfMetrics& metrics);
  // Stops, without grace.
  ~GrpcServer();

  // 0 where it listens on a Unix socket only.
  uint16_t port() const;
  // Looks whether the certificate files have changed (daemon/listen/listener_tls.h); what is read anew holds for new
  // connections. ReloadCertificates reads them in any case.
  void CheckCertificates();
  void ReloadCertificates();
  // Takes no more requests, ends streams with UNAVAILABLE "shutting down", lets other calls finish for as long as
  // `grace`, and waits for all that. May be called more than once.
  void Stop(absl::Duration grace);

 private:
  class Impl;
  explicit GrpcServer(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_GRPC_GRPC_SERVER_H_
