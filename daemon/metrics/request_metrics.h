// SPDX-License-Identifier: Apache-2.0
//
// Metrics of HTTP requests and gRPC calls.
//   metrics.GrpcRequest("GetSnapshot", status.code());
#ifndef SIDEBAND_DAEMON_METRICS_REQUEST_METRICS_H_
#define SIDEBAND_DAEMON_METRICS_REQUEST_METRICS_H_

#include <memory>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace prometheus {
class Registry;
}

namespace sideband::daemon {

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

#endif  // SIDEBAND_DAEMON_METRICS_REQUEST_METRICS_H_
