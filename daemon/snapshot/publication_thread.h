// SPDX-License-Identifier: Apache-2.0
//
// Runs work after publications, on a thread of its own instead of the collectors' threads.
//   PublicationThread refresh(store, [&] { site.RefreshExpositions(); });
//   refresh.Start();
#ifndef SIDEBAND_DAEMON_SNAPSHOT_PUBLICATION_THREAD_H_
#define SIDEBAND_DAEMON_SNAPSHOT_PUBLICATION_THREAD_H_

#include <functional>
#include <memory>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "daemon/snapshot/store.h"

namespace sideband::daemon {

// Start and Stop are called from one thread; `store` must outlive it. `work` runs on the thread only, and once more
// after publications during its run. It must not stop the thread.
class PublicationThread final : public PublicationListener {
 public:
  PublicationThread(Store& store, std::function<void()> work);
  // Calls Stop().
  ~PublicationThread() override;

  void Start();
  // Waits for work in progress.
  void Stop() ABSL_LOCKS_EXCLUDED(mu_);

  void OnPublish(size_t device, const std::shared_ptr<const DeviceSnapshot>& snapshot) override
      ABSL_LOCKS_EXCLUDED(mu_);

 private:
  void Run() ABSL_LOCKS_EXCLUDED(mu_);
  // False once Stop() was called.
  bool WaitForNews() ABSL_LOCKS_EXCLUDED(mu_);
  bool HasNews() const ABSL_SHARED_LOCKS_REQUIRED(mu_) { return has_news_ || is_stopping_; }

  Store& store_;
  const std::function<void()> work_;
  absl::Mutex mu_;
  bool has_news_ ABSL_GUARDED_BY(mu_) = false;
  bool is_stopping_ ABSL_GUARDED_BY(mu_) = false;
  std::thread thread_;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_SNAPSHOT_PUBLICATION_THREAD_H_
