// SPDX-License-Identifier: Apache-2.0
#include "daemon/grpc/health_reporter.h"

namespace sideband::daemon {

HealthReporter::HealthReporter(Reader& reader) : reader_(reader) { reader_.AddListener(*this); }

HealthReporter::~HealthReporter() { reader_.RemoveListener(*this); }

void HealthReporter::Report(grpc::HealthCheckServiceInterface& service) const {
  for (const char* name : kHealthServices) service.SetServingStatus(name, is_serving_);
}

void HealthReporter::Add(grpc::HealthCheckServiceInterface& service) {
  absl::MutexLock lock(&mu_);
  services_.push_back(&service);
  Report(service);
}

void HealthReporter::RemoveAll() {
  absl::MutexLock lock(&mu_);
  services_.clear();
}

void HealthReporter::Update() {
  absl::MutexLock lock(&mu_);
  // Under the lock to the end: transitions are reported in order, and none after RemoveAll().
  const bool is_serving = reader_.FreshDevices() > 0;
  // Reports transitions only.
  if (is_serving_.exchange(is_serving) == is_serving) return;
  for (grpc::HealthCheckServiceInterface* service : services_) Report(*service);
}

void HealthReporter::OnUpdate() {
  // Called at each publication, on a collector's thread: takes the lock only while NOT_SERVING. The periodic Update()
  // detects the opposite transition.
  if (!is_serving_) Update();
}

}  // namespace sideband::daemon
