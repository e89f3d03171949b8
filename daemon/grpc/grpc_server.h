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

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "daemon/config/config.h"
#include "daemon/gate/gate.h"
#include "daemon/grpc/calls_under_way.h"
#include "daemon/grpc/request_quota.h"
#include "daemon/listen/work_queue.h"
#include "daemon/metrics/self_metrics.h"
#include "daemon/sealing/exchange_book.h"
#include "daemon/sealing/sealer_set.h"
#include "daemon/view/admin.h"
#include "daemon/view/counting_queries.h"
#include "daemon/view/exchange_queries.h"
#include "daemon/view/history_reader.h"
#include "daemon/view/mark_queries.h"
#include "daemon/view/peek_reader.h"
#include "daemon/view/reader.h"
#include "daemon/view/rotation_queries.h"
#include "daemon/view/sensor_history_reader.h"
#include "daemon/view/sensor_queries.h"

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
    RequestQuota::Limits requests;           // calls per second; the start of a stream is a call
    CallsUnderWay::Limits under_way;         // including streams
    const HistoryReader* history = nullptr;  // nullptr: GetHistory is FAILED_PRECONDITION; must outlive the server
    SealerSet* sealers = nullptr;            // nullptr: nonces are rejected; must outlive the server
    const PeekReader* peeks = nullptr;       // nullptr: Peek is FAILED_PRECONDITION; must outlive the server
    // nullptr: calls of Counting are FAILED_PRECONDITION; must outlive the server
    const CountingQueries* counting = nullptr;
    RotationSink* rotation = nullptr;    // nullptr: what takes turns cannot be changed; must outlive the server
    const MarkQueries* marks = nullptr;  // nullptr: there are no marks; must outlive the server
    ExchangeBook* exchanges = nullptr;   // nullptr: this daemon exchanges no keys; must outlive the server
    // nullptr: calls of Challenge and Exchange are FAILED_PRECONDITION; must outlive the server
    const ExchangeQueries* exchange_queries = nullptr;
    const SensorQueries* sensors =
        nullptr;  // nullptr: calls of Sensors are FAILED_PRECONDITION; must outlive the server
    // nullptr: GetSensorHistory is FAILED_PRECONDITION; must outlive the server
    const SensorHistoryReader* sensor_history = nullptr;
    const Admin* admin = nullptr;  // nullptr: calls of Admin are FAILED_PRECONDITION; must outlive the server
    WorkQueue* work = nullptr;     // nullptr: gRPC's threads render the answers; must outlive the server
    Gate::Options gate;            // `listener` and `local_operators` are overwritten with those above
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
  // Reports NOT_SERVING once no device is fresh (health_reporter.h). To be called every second.
  void UpdateHealth();
  // Rejects new calls, ends streams with UNAVAILABLE "shutting down", lets unary calls finish within `grace`, and
  // blocks until all have ended. Idempotent.
  void Stop(absl::Duration grace);

 private:
  class Impl;
  explicit GrpcServer(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_GRPC_GRPC_SERVER_H_
