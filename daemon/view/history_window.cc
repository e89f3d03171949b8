// SPDX-License-Identifier: Apache-2.0
#include "daemon/view/history_window.h"

#include <algorithm>

namespace sideband::daemon {

absl::Duration RoundStepAtLeast(absl::Duration least) {
  for (const int milliseconds : {10, 20, 50, 100, 200, 500}) {
    if (absl::Milliseconds(milliseconds) >= least) return absl::Milliseconds(milliseconds);
  }
  for (const int seconds : {1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 6 * 3600, 12 * 3600}) {
    if (absl::Seconds(seconds) >= least) return absl::Seconds(seconds);
  }
  absl::Duration step = absl::Hours(24);
  while (step < least) step *= 2;
  return step;
}

HistoryWindow Fitting(HistoryWindow window, const AnswerSize& size) {
  const double points_max = static_cast<double>(kHistoryValuesMax) / std::max(size.values_per_point, 1.0);
  const absl::Duration least = size.span / std::max(points_max, 1.0);
  // By the estimate, a shorter step exceeds the limit.
  if (size.points > points_max && window.step < least) window.step = RoundStepAtLeast(least);
  return window;
}

}  // namespace sideband::daemon
