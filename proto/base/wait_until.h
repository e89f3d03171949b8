// SPDX-License-Identifier: Apache-2.0
//
// Waits of tests and fakes. A wait ends, by the monotonic clock: where it is in vain, the program ends and says what it
// waited for. A failure alone would not do, because the threads that are late keep the test from its end.
//   WaitUntil(done, "the answer to the second request");                           // an absl::Notification
//   WaitUntil([&] { return store.size() == 2; }, "two snapshots in the store");
// Calls that block, such as join() and recv():
//   const TimeLimit limit("the collector's thread to end");
//   thread.join();
#ifndef SIDEBAND_PROTO_BASE_WAIT_UNTIL_H_
#define SIDEBAND_PROTO_BASE_WAIT_UNTIL_H_

#include <cstdlib>
#include <iostream>
#include <string>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "proto/base/steady_time.h"

namespace sideband {

// No wait of a test takes that long: a sanitizer on a loaded machine makes 20 s of a second.
inline constexpr absl::Duration kWaitUntilMax = absl::Minutes(2);

[[noreturn]] inline void EndInVain(absl::string_view what, absl::Duration limit) {
  std::cerr << "waited " << absl::FormatDuration(limit) << " in vain for " << what << '\n';
  std::abort();
}

// Returns once `is_so()`, which is asked every fifth of a millisecond and may lock.
template <typename Condition>
void WaitUntil(const Condition& is_so, absl::string_view what, absl::Duration limit = kWaitUntilMax) {
  const absl::Duration end = SteadyNow() + limit;
  while (!is_so()) {
    if (SteadyNow() >= end) EndInVain(what, limit);
    SteadySleep(absl::Microseconds(200));
  }
}

inline void WaitUntil(const absl::Notification& notification, absl::string_view what,
                      absl::Duration limit = kWaitUntilMax) {
  WaitUntil([&] { return notification.HasBeenNotified(); }, what, limit);
  // Returns at once. ThreadSanitizer learns by it what happened before (third_party/tsan).
  notification.WaitForNotification();
}

// Ends the program if it still exists after `limit`.
class TimeLimit {
 public:
  explicit TimeLimit(absl::string_view what, absl::Duration limit = kWaitUntilMax)
      : watch_([this, what = std::string(what), limit] {
          absl::MutexLock lock(&mu_);
          if (!changed_.AwaitFor(mu_, absl::Condition(&is_over_), limit)) EndInVain(what, limit);
        }) {}
  ~TimeLimit() {
    {
      absl::MutexLock lock(&mu_);
      is_over_ = true;
      changed_.NotifyAll();
    }
    watch_.join();
  }
  TimeLimit(const TimeLimit&) = delete;
  TimeLimit& operator=(const TimeLimit&) = delete;

 private:
  absl::Mutex mu_;
  SteadyCondVar changed_;
  bool is_over_ ABSL_GUARDED_BY(mu_) = false;
  std::thread watch_;
};

}  // namespace sideband

#endif  // SIDEBAND_PROTO_BASE_WAIT_UNTIL_H_
