// SPDX-License-Identifier: Apache-2.0
//
// The reloads that callers ask for, and wait for. The main thread reloads; one reload answers all who have asked before
// it.
//   ReloadRequests requests([] { Signals::Raise(SIGHUP); });
//   requests.Ask(done);   // any thread
//   for (const auto& answer : requests.Take()) answer(outcome);   // the main thread, after a reload
//   requests.Close();
#ifndef SIDEBAND_DAEMON_RUN_RELOAD_REQUESTS_H_
#define SIDEBAND_DAEMON_RUN_RELOAD_REQUESTS_H_

#include <functional>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "daemon/view/admin.h"

namespace sideband::daemon {

// Thread-safe. No lock is held while a `done` runs. As many wait as callers may have calls under way.
class ReloadRequests {
 public:
  using Done = std::function<void(const absl::StatusOr<ReloadOutcome>& outcome)>;

  // `wake` makes the main thread Take() soon; it must not block.
  explicit ReloadRequests(std::function<void()> wake) : wake_(std::move(wake)) {}

  // `done` is called once; with UNAVAILABLE after Close.
  void Ask(Done done) ABSL_LOCKS_EXCLUDED(mu_);
  // Those who have asked, whom the caller answers.
  std::vector<Done> Take() ABSL_LOCKS_EXCLUDED(mu_);
  // Answers all who wait, and all who ask from now on.
  void Close() ABSL_LOCKS_EXCLUDED(mu_);

 private:
  const std::function<void()> wake_;
  absl::Mutex mu_;
  bool is_closed_ ABSL_GUARDED_BY(mu_) = false;
  std::vector<Done> waiting_ ABSL_GUARDED_BY(mu_);
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_RUN_RELOAD_REQUESTS_H_
