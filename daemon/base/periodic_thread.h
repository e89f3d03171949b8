// SPDX-License-Identifier: Apache-2.0
//
// Something small that is to be done again and again: a thread that does it at an interval, from Start to Stop.
//   PeriodicThread watch(absl::Seconds(1), [&] { http->CheckCertificates(); });
//   watch.Start();
#ifndef SIDEBAND_DAEMON_BASE_PERIODIC_THREAD_H_
#define SIDEBAND_DAEMON_BASE_PERIODIC_THREAD_H_

#include <functional>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

namespace sideband::daemon {

// Start and Stop are called from one thread. `work` runs on the thread alone, the first time after one interval; it
// must not stop the thread.
class PeriodicThread {
 public:
  PeriodicThread(absl::Duration interval, std::function<void()> work);
  // Stops.
  ~PeriodicThread();

  void Start();
  // Waits for the work that is under way.
  void Stop() ABSL_LOCKS_EXCLUDED(mu_);

 private:
  void Run() ABSL_LOCKS_EXCLUDED(mu_);
  // False once Stop() was called.
  bool Wait() ABSL_LOCKS_EXCLUDED(mu_);

  const absl::Duration interval_;
  const std::function<void()> work_;
  absl::Mutex mu_;
  bool stopping_ ABSL_GUARDED_BY(mu_) = false;
  std::thread thread_;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_BASE_PERIODIC_THREAD_H_
