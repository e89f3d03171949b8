// SPDX-License-Identifier: Apache-2.0
//
// The gRPC server: sideband.v1.Telemetry, Confidential and Counting over mutual TLS, and over a Unix socket for local
// operators, with the standard health service and, where configured, reflection.
//   SIDEBAND_ASSIGN_OR_RETURN(auto server, GrpcServer::Start({.config = config.grpc}, reader, *metrics));
//   server->port();   // the actual port where the configuration has 0
//   server->CheckCertificates();   // every second
//   server->Stop(absl::Seconds(3));
#ifndef SIDEBAND_DAEMON_GRPC_GRPC_SERVER_H_
#define SIDEBAND_DAEMON_GRPC_GRPC_SERVER_H_

#include <grpcpp/health_check_service_interface.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "daemon/config/config.h"
#include "daemon/grpc/call_limits.h"
#include "daemon/grpc/service_context.h"
#include "daemon/listen/gate.h"
#include "daemon/metrics/self_metrics.h"
#include "daemon/view/reader.h"

namespace sideband::daemon {

inline constexpr size_t kStreamsPerIdentityMax = 64;

// Thread-safe.
class GrpcServer {
 public:
  struct Options {
    GrpcConfig config;
    LocalOperators local_operators;
    // Limits of one identity.
    size_t streams_per_identity_max = kStreamsPerIdentityMax;
    RequestQuota::Limits requests;    // calls per second; the start of a stream is a call
    CallsUnderWay::Limits under_way;  // including streams
    Answerers parts = {};
    Gate::Options gate;  // `listener` and `local_operators` are overwritten with those above
  };

  // INVALID_ARGUMENT where a TLS file is unreadable or invalid; UNAVAILABLE "grpc: cannot listen on ADDRESS: why", or
  // where gRPC cannot start its server. `reader` and `metrics` must outlive the server.
  static absl::StatusOr<std::unique_ptr<GrpcServer>> Start(Options options, Reader& reader, SelfMetrics& metrics);
  // Stop() with a grace of zero.
  ~GrpcServer();

  // The TCP port; 0 where the server listens on a Unix socket only.
  uint16_t port() const;
  // Reloads the certificate files if they have changed (daemon/listen/listener_tls.h), and closes connections whose
  // client certificate has expired or is no longer trusted. To be called every second. ReloadCertificates reads the
  // files even where they look unchanged.
  void CheckCertificates();
  void ReloadCertificates();
  // Runs `task` on a thread of the gate before gRPC, if one is free before Stop() returns.
  void Post(std::function<void()> task);
  // Reports NOT_SERVING once no device is fresh (HealthReporter). To be called every second.
  void UpdateHealth();
  // Rejects new calls, ends streams with UNAVAILABLE "shutting down", lets unary calls finish within `grace`, and
  // blocks until all have ended. Idempotent.
  void Stop(absl::Duration grace);

 private:
  class Impl;
  explicit GrpcServer(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
};

// Reports the health of the devices to gRPC's standard health service: NOT_SERVING while no device is fresh, else
// SERVING.

// The reported service names; "" is the server as a whole. All depend on the same devices, so they share one status.
inline constexpr const char* kHealthServices[] = {"", "sideband.v1.Telemetry", "sideband.v1.Confidential"};

// Thread-safe. `reader` must outlive it.
class HealthReporter final : public UpdateListener {
 public:
  explicit HealthReporter(Reader& reader);
  ~HealthReporter() override;

  // Reports to this health service from now on, until RemoveAll returns or this object is destroyed.
  void Add(grpc::HealthCheckServiceInterface& service) ABSL_LOCKS_EXCLUDED(mu_);
  // To be called before the servers shut down.
  void RemoveAll() ABSL_LOCKS_EXCLUDED(mu_);
  // Re-evaluates the devices' freshness. While NOT_SERVING, each publication does this as well.
  void Update() ABSL_LOCKS_EXCLUDED(mu_);

  void OnUpdate() override;

 private:
  void Report(grpc::HealthCheckServiceInterface& service) const;

  Reader& reader_;
  std::atomic<bool> is_serving_ = false;
  absl::Mutex mu_;
  std::vector<grpc::HealthCheckServiceInterface*> services_ ABSL_GUARDED_BY(mu_);
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_GRPC_GRPC_SERVER_H_
