// SPDX-License-Identifier: Apache-2.0
#include "daemon/base/clock.h"

#include <sys/timex.h>

#include <ctime>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "proto/base/steady_time.h"

namespace sideband::daemon {
namespace {

absl::Duration ReadClock(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return absl::DurationFromTimespec(time);
}

// A reading that took longer is discarded; the next check repeats it.
constexpr absl::Duration kReadingMax = absl::Milliseconds(50);

// It was `least` to `most` before the wall clock was read. Messages have whole nanoseconds: rounded outward.
PlacedTime Before(absl::Time wall, absl::Duration least, absl::Duration most) {
  constexpr absl::Duration kNanosecond = absl::Nanoseconds(1);
  const absl::Duration read = wall - absl::UnixEpoch();
  const absl::Duration low = absl::Floor(read - most, kNanosecond), high = absl::Ceil(read - least, kNanosecond);
  const absl::Duration error = absl::Ceil((high - low) / 2, kNanosecond);
  return {.time = absl::UnixEpoch() + low + error, .error = error};
}

}  // namespace

absl::Time SystemClock::Now() const { return absl::Now(); }

absl::Duration SystemClock::Steady() const { return SteadyNow(); }

absl::Duration SystemClock::Raw() const { return RawNow(); }

absl::Duration SystemClock::Suspended() const { return ReadClock(CLOCK_BOOTTIME) - ReadClock(CLOCK_MONOTONIC); }

std::optional<absl::Duration> SystemClock::UtcError() const {
  timex state{};
  state.modes = 0;  // reads only
  const int clock = adjtimex(&state);
  if (clock < 0 || clock == TIME_ERROR || (state.status & STA_UNSYNC) != 0) return std::nullopt;
  return absl::Microseconds(state.maxerror);
}

absl::Time FakeClock::Now() const {
  absl::MutexLock lock(&mu_);
  return now_;
}

absl::Duration FakeClock::Steady() const {
  absl::MutexLock lock(&mu_);
  return now_ - stepped_ - absl::UnixEpoch();
}

void FakeClock::Advance(absl::Duration by) {
  absl::MutexLock lock(&mu_);
  now_ += by;
}

void FakeClock::Step(absl::Duration by) {
  absl::MutexLock lock(&mu_);
  now_ += by;
  stepped_ += by;
}

ClockWatch::ClockWatch(const Clock& clock, std::function<void(absl::Duration by)> on_step)
    : clock_(clock), on_step_(std::move(on_step)), lead_(ReadLead()) {}

std::optional<absl::Duration> ClockWatch::ReadLead() const {
  const absl::Duration before = clock_.Steady();
  const absl::Duration now = clock_.Now() - absl::UnixEpoch();
  if (clock_.Steady() - before > kReadingMax) return std::nullopt;
  return now - before;
}

void ClockWatch::Check() {
  const std::optional<absl::Duration> lead = ReadLead();
  if (!lead) return;
  const absl::Duration by = lead_ ? *lead - *lead_ : absl::ZeroDuration();
  lead_ = lead;
  if (absl::AbsDuration(by) >= kStepMin) on_step_(by);
}

std::string ClockWatch::Describe(absl::Duration by) {
  const absl::Duration size = absl::Floor(absl::AbsDuration(by) + absl::Milliseconds(50), absl::Milliseconds(100));
  return absl::StrCat("the wall clock was set ", by < absl::ZeroDuration() ? "back" : "ahead", " by ",
                      absl::FormatDuration(size), ": collection keeps its pace, and timestamps follow the clock");
}

PeriodicThread::PeriodicThread(absl::Duration interval, std::function<void()> work)
    : interval_(interval), work_(std::move(work)) {}

PeriodicThread::~PeriodicThread() { Stop(); }

void PeriodicThread::Start() {
  thread_ = std::thread([this] { Run(); });
}

void PeriodicThread::Stop() {
  {
    absl::MutexLock lock(&mu_);
    stopping_ = true;
    changed_.NotifyAll();
  }
  if (thread_.joinable()) thread_.join();
}

bool PeriodicThread::Wait() {
  absl::MutexLock lock(&mu_);
  return !changed_.AwaitFor(mu_, absl::Condition(&stopping_), interval_);
}

void PeriodicThread::Run() {
  while (Wait()) work_();
}

WallReading ReadWall(const Clock& clock) {
  WallReading reading;
  reading.steady_before = clock.Steady();
  reading.raw_before = clock.Raw();
  reading.wall = clock.Now();
  reading.raw_after = clock.Raw();
  reading.steady_after = clock.Steady();
  return reading;
}

PlacedTime PlaceBySteady(const WallReading& reading, absl::Duration from, absl::Duration to) {
  return Before(reading.wall, reading.steady_before - to, reading.steady_after - from);
}

PlacedTime PlaceByRaw(const WallReading& reading, absl::Duration from, absl::Duration to) {
  return Before(reading.wall, (reading.raw_before - to) * (1 - kWallRateMax),
                (reading.raw_after - from) * (1 + kWallRateMax));
}

}  // namespace sideband::daemon
