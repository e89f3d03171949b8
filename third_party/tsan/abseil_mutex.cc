// SPDX-License-Identifier: Apache-2.0
//
// Tells ThreadSanitizer what Debian's Abseil, which is not instrumented, does: who holds an absl::Mutex sees what the
// one before it wrote. The linker's --wrap (BUILD) sends the calls of our code through here; names are Abseil's mangled
// ones.
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"

extern "C" {
void __tsan_acquire(void* address);
void __tsan_release(void* address);
void AnnotateIgnoreReadsBegin(const char* file, int line);
void AnnotateIgnoreReadsEnd(const char* file, int line);
}

// Declares `Real…`, Abseil's own function, and `Wrap…`, which is called in its place.
#define WRAPPED(result, name, mangled, ...)              \
  result Real##name(__VA_ARGS__) asm("__real_" mangled); \
  result Wrap##name(__VA_ARGS__) asm("__wrap_" mangled);

WRAPPED(void, Lock, "_ZN4absl7debian35Mutex4LockEv", absl::Mutex*)
WRAPPED(void, Unlock, "_ZN4absl7debian35Mutex6UnlockEv", absl::Mutex*)
WRAPPED(void, ReaderLock, "_ZN4absl7debian35Mutex10ReaderLockEv", absl::Mutex*)
WRAPPED(void, ReaderUnlock, "_ZN4absl7debian35Mutex12ReaderUnlockEv", absl::Mutex*)
WRAPPED(void, Await, "_ZN4absl7debian35Mutex5AwaitERKNS0_9ConditionE", absl::Mutex*, const absl::Condition&)
WRAPPED(bool, AwaitWithTimeout, "_ZN4absl7debian35Mutex16AwaitWithTimeoutERKNS0_9ConditionENS0_8DurationE",
        absl::Mutex*, const absl::Condition&, absl::Duration)
WRAPPED(void, Notify, "_ZN4absl7debian312Notification6NotifyEv", absl::Notification*)
WRAPPED(void, WaitForNotification, "_ZNK4absl7debian312Notification19WaitForNotificationEv", absl::Notification*)

namespace {

// Within Abseil, conditions of other threads are evaluated without a lock that the sanitizer knows of.
class IgnoreReads {
 public:
  IgnoreReads() { AnnotateIgnoreReadsBegin(__FILE__, __LINE__); }
  ~IgnoreReads() { AnnotateIgnoreReadsEnd(__FILE__, __LINE__); }
};

// Abseil's search for deadlocks writes under a lock of its own, of which the sanitizer knows nothing. The sanitizer
// searches by itself.
const bool abseil_leaves_deadlocks_to_us = [] {
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  return true;
}();

}  // namespace

void WrapLock(absl::Mutex* mutex) {
  RealLock(mutex);
  __tsan_acquire(mutex);
}

void WrapUnlock(absl::Mutex* mutex) {
  __tsan_release(mutex);
  const IgnoreReads ignore;
  RealUnlock(mutex);
}

void WrapReaderLock(absl::Mutex* mutex) {
  RealReaderLock(mutex);
  __tsan_acquire(mutex);
}

void WrapReaderUnlock(absl::Mutex* mutex) {
  __tsan_release(mutex);
  const IgnoreReads ignore;
  RealReaderUnlock(mutex);
}

void WrapAwait(absl::Mutex* mutex, const absl::Condition& condition) {
  __tsan_release(mutex);
  {
    const IgnoreReads ignore;
    RealAwait(mutex, condition);
  }
  __tsan_acquire(mutex);
}

bool WrapAwaitWithTimeout(absl::Mutex* mutex, const absl::Condition& condition, absl::Duration timeout) {
  __tsan_release(mutex);
  bool met = false;
  {
    const IgnoreReads ignore;
    met = RealAwaitWithTimeout(mutex, condition, timeout);
  }
  __tsan_acquire(mutex);
  return met;
}

void WrapNotify(absl::Notification* notification) {
  __tsan_release(notification);
  const IgnoreReads ignore;
  RealNotify(notification);
}

void WrapWaitForNotification(absl::Notification* notification) {
  {
    const IgnoreReads ignore;
    RealWaitForNotification(notification);
  }
  __tsan_acquire(notification);
}
