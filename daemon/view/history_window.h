// SPDX-License-Identifier: Apache-2.0
//
// The time that a question about the past asks for, and the bound of its answer. An answer that would be too large has
// a longer step.
//   SIDEBAND_ASSIGN_OR_RETURN(const HistoryWindow window, WindowOf(request));
//   const auto build = [&](const HistoryWindow& part) { return Build(part); };   // nullopt: too large
//   return AnswerWithin(window, size, build, "name a device");
#ifndef SIDEBAND_DAEMON_VIEW_HISTORY_WINDOW_H_
#define SIDEBAND_DAEMON_VIEW_HISTORY_WINDOW_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "daemon/snapshot/message.h"
#include "proto/base/status_macros.h"

namespace sideband::daemon {

// The size limit of a response. Clients accept this size by default: it is gRPC's default limit.
inline constexpr size_t kHistoryAnswerBytesMax = 4 << 20;
// The maximum number of numbers in a response; each takes at most ten bytes.
inline constexpr int64_t kHistoryValuesMax = 400'000;

struct HistoryWindow {
  absl::Time since = absl::InfinitePast();
  absl::Time until = absl::InfiniteFuture();
  absl::Duration step;  // zero: everything

  bool Overlaps(absl::Time first, absl::Time last) const { return last >= since && first <= until; }
  bool Has(absl::Time time) const { return since <= time && time <= until; }
  // Which of the steps since 1970 the time is in.
  int64_t StepOf(absl::Time time) const { return absl::ToUnixNanos(time) / absl::ToInt64Nanoseconds(step); }
};

// The estimated size of an answer at a step of zero.
struct AnswerSize {
  absl::Duration span;          // from its first instant to its last
  double points = 0;            // instants
  double values_per_point = 0;  // numbers
};

// The window of a request with `since`, `until` and `step`. INVALID_ARGUMENT for invalid ones.
template <typename Request>
absl::StatusOr<HistoryWindow> WindowOf(const Request& request) {
  HistoryWindow window;
  if (request.has_since()) {
    SIDEBAND_ASSIGN_OR_RETURN(window.since, TimeOf(request.since(), "since"));
  }
  if (request.has_until()) {
    SIDEBAND_ASSIGN_OR_RETURN(window.until, TimeOf(request.until(), "until"));
  }
  if (window.since > window.until) return absl::InvalidArgumentError("since: is after until");
  if (request.has_step()) {
    SIDEBAND_ASSIGN_OR_RETURN(window.step, PositiveDurationOf(request.step(), "step"));
  }
  return window;
}

// A round number of time, at least this long; from a day on, doubled.
inline absl::Duration RoundStepAtLeast(absl::Duration least) {
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

// The window with the shortest step, or a longer one, by which an answer of this size is estimated to fit.
inline HistoryWindow Fitting(HistoryWindow window, const AnswerSize& size) {
  const double points_max = static_cast<double>(kHistoryValuesMax) / std::max(size.values_per_point, 1.0);
  const absl::Duration least = size.span / std::max(points_max, 1.0);
  // By the estimate, a shorter step exceeds the limit.
  if (size.points > points_max && window.step < least) window.step = RoundStepAtLeast(least);
  return window;
}

// The response with its step; nullopt where it is too large, as it is where fewer than no values are left.
template <typename Response>
std::optional<Response> IfFits(Response response, const HistoryWindow& window, int64_t values_left) {
  if (values_left < 0 || response.ByteSizeLong() > kHistoryAnswerBytesMax) return std::nullopt;
  if (window.step != absl::ZeroDuration()) SetDuration(window.step, *response.mutable_step());
  return response;
}

// The result of `build`, an optional, for the shortest step for which there is one. RESOURCE_EXHAUSTED with the advice
// if there is for none.
template <typename Build>
auto AnswerWithin(HistoryWindow window, const AnswerSize& size, const Build& build, absl::string_view advice)
    -> absl::StatusOr<typename decltype(build(window))::value_type> {
  window = Fitting(window, size);
  for (;;) {
    if (auto answer = build(window)) return *std::move(answer);
    // A longer step would not remove further points.
    if (window.step > size.span) {
      return absl::ResourceExhaustedError(
          absl::StrCat("the answer has more than ", kHistoryValuesMax, " numbers even at the longest step: ", advice));
    }
    window.step = RoundStepAtLeast(window.step + absl::Nanoseconds(1));
  }
}

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_VIEW_HISTORY_WINDOW_H_
