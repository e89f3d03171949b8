// SPDX-License-Identifier: Apache-2.0
//
// Metrics of the listeners "http" and "grpc": certificates and connections.
//   metrics.ConnectionRefused("grpc", "handshake_timeout");
#ifndef SIDEBAND_DAEMON_METRICS_LISTENER_METRICS_H_
#define SIDEBAND_DAEMON_METRICS_LISTENER_METRICS_H_

#include <cstddef>
#include <memory>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace prometheus {
class Registry;
}

namespace sideband::daemon {

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

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_METRICS_LISTENER_METRICS_H_
