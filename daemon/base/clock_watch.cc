// SPDX-License-Identifier: Apache-2.0
#include "daemon/base/clock_watch.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace sideband::daemon {
namespace {

// A reading that took longer is discarded; the next check repeats it.
constexpr absl::Duration kReadingMax = absl::Milliseconds(50);

}  // namespace

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

}  // namespace sideband::daemon
