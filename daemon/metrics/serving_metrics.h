// SPDX-License-Identifier: Apache-2.0
//
// Metrics of serving: the audit log, the listeners, and the requests and calls that they take.
//   audit.AuditWritten(entries.size());
//   listeners.TlsReload("grpc", status.ok());
//   requests.GrpcRequest("GetSnapshot", status.code());
#ifndef SIDEBAND_DAEMON_METRICS_SERVING_METRICS_H_
#define SIDEBAND_DAEMON_METRICS_SERVING_METRICS_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace prometheus {
class Registry;
}

namespace sideband::daemon {

// Metrics of the audit log.
//
// Thread-safe. Label values must come from fixed sets (devices of the configuration, status codes, known paths): each
// new one is a series that stays.
class AuditMetrics {
 public:
  void AuditWritten(uint64_t entries);
  void AuditLost(uint64_t entries);

 protected:
  // Registers its families; throws what prometheus-cpp does.
  explicit AuditMetrics(prometheus::Registry& registry);
  ~AuditMetrics();

 private:
  struct Families;
  const std::unique_ptr<Families> families_;  // locks itself
};

// Metrics of the listeners "http" and "grpc": certificates and connections.
//
// Thread-safe. Label values must come from fixed sets (devices of the configuration, status codes, known paths): each
// new one is a series that stays.
class ListenerMetrics {
 public:
  void TlsCertificate(absl::string_view listener, absl::Time not_after);
  void TlsReload(absl::string_view listener, bool successful);
  // `reason` is a word of the code's own.
  void ConnectionRefused(absl::string_view listener, absl::string_view reason);
  // An accept that failed since the process may open no more files.
  void DescriptorsExhausted(absl::string_view listener);
  void HttpConnections(size_t count);
  void GrpcConnections(size_t count);

 protected:
  // Registers its families; throws what prometheus-cpp does.
  explicit ListenerMetrics(prometheus::Registry& registry);
  ~ListenerMetrics();

 private:
  struct Families;
  const std::unique_ptr<Families> families_;  // locks itself
};

// Metrics of HTTP requests and gRPC calls.
//
// Thread-safe. Label values must come from fixed sets (devices of the configuration, status codes, known paths): each
// new one is a series that stays.
class RequestMetrics {
 public:
  void HttpRequest(absl::string_view path, int code, absl::Duration duration);
  void RenderDuration(absl::Duration duration);
  void GrpcRequest(absl::string_view method, absl::StatusCode code);
  // A snapshot's bytes were made; SnapshotSent() counts the messages that have them.
  void SnapshotSerialised();
  void SnapshotSent();
  void GrpcStreamStarted();
  void GrpcStreamEnded();

 protected:
  // Registers its families; throws what prometheus-cpp does.
  explicit RequestMetrics(prometheus::Registry& registry);
  ~RequestMetrics();

 private:
  struct Families;
  const std::unique_ptr<Families> families_;  // locks itself
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_METRICS_SERVING_METRICS_H_
