// SPDX-License-Identifier: Apache-2.0
//
// Lets one thread end what another one waits for.
//   Cancellation cancellation;                     // shared by both
//   const Cancellation::Hook hook(cancellation, [&] { context.TryCancel(); });
//   …                                              // elsewhere: cancellation.Cancel();
#ifndef SIDEBAND_CLIENT_LIB_CANCELLATION_H_
#define SIDEBAND_CLIENT_LIB_CANCELLATION_H_

#include <functional>
#include <list>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace sideband::client {

// Thread-safe; for threads, not for signal handlers. Must outlive its hooks.
class Cancellation {
 public:
  // Calls `action` at the cancellation, at once if that was before, and never after it is destroyed. The action runs on
  // the cancelling thread while the Cancellation is locked: it must be short and not use the Cancellation.
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

  // For good. A second call does nothing.
  void Cancel() ABSL_LOCKS_EXCLUDED(mu_);
  bool cancelled() const ABSL_LOCKS_EXCLUDED(mu_);

 private:
  mutable absl::Mutex mu_;
  bool cancelled_ ABSL_GUARDED_BY(mu_) = false;
  std::list<std::function<void()>> actions_ ABSL_GUARDED_BY(mu_);
};

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_LIB_CANCELLATION_H_
