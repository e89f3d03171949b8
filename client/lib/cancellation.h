// SPDX-License-Identifier: Apache-2.0
//
// Lets one thread cancel the blocking operations of another.
//   Cancellation cancellation;   // shared by both
//   const Cancellation::Hook hook(cancellation, [&] { context.TryCancel(); });
//   cancellation.Cancel();       // in the other thread
#ifndef SIDEBAND_CLIENT_LIB_CANCELLATION_H_
#define SIDEBAND_CLIENT_LIB_CANCELLATION_H_

#include <functional>
#include <list>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

namespace sideband::client {

// Thread-safe, but not async-signal-safe. Must outlive its hooks.
class Cancellation {
 public:
  // Runs `action` at the cancellation, or immediately if the cancellation has already happened; never after the hook's
  // destruction. The action runs on the cancelling thread while the Cancellation is locked: it must be short and must
  // not use the Cancellation.
  class Hook {
   public:
    Hook(Cancellation& cancellation, std::function<void()> action);
    ~Hook();
    Hook(const Hook&) = delete;
    Hook& operator=(const Hook&) = delete;

   private:
    Cancellation& cancellation_;
    std::list<std::function<void()>>::iterator place_;
  };

  Cancellation() = default;
  Cancellation(const Cancellation&) = delete;
  Cancellation& operator=(const Cancellation&) = delete;

  // Cancels permanently. Further calls have no effect.
  void Cancel() ABSL_LOCKS_EXCLUDED(mu_);
  bool cancelled() const ABSL_LOCKS_EXCLUDED(mu_);

  // Waits for `duration` on the monotonic clock or until the cancellation; a signal may end the wait early. Returns
  // whether the cancellation has happened.
  bool WaitFor(absl::Duration duration) ABSL_LOCKS_EXCLUDED(mu_);

 private:
  mutable absl::Mutex mu_;
  bool cancelled_ ABSL_GUARDED_BY(mu_) = false;
  std::list<std::function<void()>> actions_ ABSL_GUARDED_BY(mu_);
};

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_LIB_CANCELLATION_H_
