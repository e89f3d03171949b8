// SPDX-License-Identifier: Apache-2.0
//
// Reports the health of the devices to gRPC's standard health service: NOT_SERVING while no device is fresh, else
// SERVING.
//   HealthReporter health(reader);
//   health.Add(*server->GetHealthCheckService());   // of each server, after its start
//   health.Update();                                // every second, since a device becomes stale without an event
#ifndef SIDEBAND_DAEMON_GRPC_HEALTH_REPORTER_H_
#define SIDEBAND_DAEMON_GRPC_HEALTH_REPORTER_H_

#include <grpcpp/health_check_service_interface.h>

#include <atomic>
#include <cstddef>
#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "daemon/view/reader.h"

namespace sideband::daemon {

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

#endif  // SIDEBAND_DAEMON_GRPC_HEALTH_REPORTER_H_
