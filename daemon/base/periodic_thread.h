// SPDX-License-Identifier: Apache-2.0
//
// A thread that runs a short task periodically between Start() and Stop(), timed by the monotonic clock.
//   PeriodicThread watch(absl::Seconds(1), [&] { http->CheckCertificates(); });
//   watch.Start();
#ifndef SIDEBAND_DAEMON_BASE_PERIODIC_THREAD_H_
#define SIDEBAND_DAEMON_BASE_PERIODIC_THREAD_H_

#include <functional>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "proto/base/steady_time.h"

namespace sideband::daemon {

// Start and Stop must be called from one thread. `work` runs on this object's thread only, the first time after one
// interval. It must not call Stop().
class PeriodicThread {
 public:
  PeriodicThread(absl::Duration interval, std::function<void()> work);
  // Calls Stop().
  ~PeriodicThread();

  void Start();
  // Waits for a running call of `work`.
  void Stop() ABSL_LOCKS_EXCLUDED(mu_);

 private:
  void Run() ABSL_LOCKS_EXCLUDED(mu_);
  // Waits for one interval. Returns false after Stop().
  bool Wait() ABSL_LOCKS_EXCLUDED(mu_);

  const absl::Duration interval_;
  const std::function<void()> work_;
  absl::Mutex mu_;
  SteadyCondVar changed_;
  bool stopping_ ABSL_GUARDED_BY(mu_) = false;
  std::thread thread_;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_BASE_PERIODIC_THREAD_H_
