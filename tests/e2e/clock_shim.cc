// SPDX-License-Identifier: Apache-2.0
//
// A wall clock that a test can set, for a process that was started with this library in LD_PRELOAD. SIDEBAND_TEST_CLOCK
// is a file of eight bytes: the number of nanoseconds by which the process's CLOCK_REALTIME is ahead of the machine's,
// signed, in the machine's byte order. When the test rewrites the file in place, the clock steps as after
// settimeofday(), for all reads and for all futex waits until a time of that clock, including pending ones. The
// monotonic clock is the machine's.
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>

namespace {

constexpr int64_t kNanosecondsPerSecond = 1'000'000'000;
// The maximum delay in nanoseconds until a wait detects a step of the clock.
constexpr int64_t kSlice = 5'000'000;

template <typename Function>
Function* Next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

[[noreturn]] void Die(const char* what) {
  std::perror(what);
  std::abort();
}

const std::atomic<int64_t>& Shift() {
  static const std::atomic<int64_t>* const shift = [] {
    const char* const path = std::getenv("SIDEBAND_TEST_CLOCK");
    const int file = open(path == nullptr ? "" : path, O_RDONLY | O_CLOEXEC);
    if (file < 0) Die("SIDEBAND_TEST_CLOCK");
    void* const bytes = mmap(nullptr, sizeof(int64_t), PROT_READ, MAP_SHARED, file, 0);
    if (bytes == MAP_FAILED) Die("SIDEBAND_TEST_CLOCK");
    close(file);
    return static_cast<const std::atomic<int64_t>*>(bytes);
  }();
  return *shift;
}

int64_t Nanoseconds(const timespec& time) { return time.tv_sec * kNanosecondsPerSecond + time.tv_nsec; }

timespec Timespec(int64_t nanoseconds) {
  return {.tv_sec = nanoseconds / kNanosecondsPerSecond, .tv_nsec = nanoseconds % kNanosecondsPerSecond};
}

int RealClock(clockid_t clock, timespec* time) {
  static const auto next = Next<int(clockid_t, timespec*)>("clock_gettime");
  return next(clock, time);
}

int64_t Now(clockid_t clock) {
  timespec time = {};
  RealClock(clock, &time);
  return Nanoseconds(time);
}

int64_t ShiftedNow() { return Now(CLOCK_REALTIME) + Shift(); }

long RealSyscall(long number, const long (&arguments)[6]) {
  static const auto next = Next<long(long, ...)>("syscall");
  return next(number, arguments[0], arguments[1], arguments[2], arguments[3], arguments[4], arguments[5]);
}

// Whether the system call waits until a time of the wall clock.
bool IsWaitOnWallClock(long number, const long (&arguments)[6]) {
  return number == SYS_futex && (arguments[1] & FUTEX_CLOCK_REALTIME) != 0 && arguments[3] != 0;
}

// Waits in slices of the monotonic clock until the shifted clock has reached the deadline.
long WaitOnWallClock(const long (&arguments)[6]) {
  const int64_t deadline = Nanoseconds(*reinterpret_cast<const timespec*>(arguments[3]));
  while (true) {
    const int64_t left = deadline - ShiftedNow();
    const timespec until = Timespec(Now(CLOCK_MONOTONIC) + std::clamp<int64_t>(left, 0, kSlice));
    const long result = RealSyscall(SYS_futex, {arguments[0], arguments[1] & ~FUTEX_CLOCK_REALTIME, arguments[2],
                                                reinterpret_cast<long>(&until), arguments[4], arguments[5]});
    if (result == 0 || errno != ETIMEDOUT || left <= 0) return result;
  }
}

}  // namespace

extern "C" {

int clock_gettime(clockid_t clock, timespec* time) noexcept {
  const int result = RealClock(clock, time);
  if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) {
    *time = Timespec(Nanoseconds(*time) + Shift());
  }
  return result;
}

int gettimeofday(timeval* time, void*) noexcept {
  const int64_t now = ShiftedNow();
  *time = {.tv_sec = now / kNanosecondsPerSecond, .tv_usec = now % kNanosecondsPerSecond / 1000};
  return 0;
}

time_t time(time_t* result) noexcept {
  const time_t now = ShiftedNow() / kNanosecondsPerSecond;
  if (result != nullptr) *result = now;
  return now;
}

long syscall(long number, ...) noexcept {
  long arguments[6];
  va_list list;
  va_start(list, number);
  for (long& argument : arguments) argument = va_arg(list, long);
  va_end(list);
  return IsWaitOnWallClock(number, arguments) ? WaitOnWallClock(arguments) : RealSyscall(number, arguments);
}

}  // extern "C"
