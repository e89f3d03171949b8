// SPDX-License-Identifier: Apache-2.0
#include "client/top/minute.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace sideband::client::top {
namespace {

constexpr auto kLength = static_cast<int64_t>(Minute::kSeconds);
constexpr float kUnknown = std::numeric_limits<float>::quiet_NaN();

size_t PlaceOf(int64_t second) { return static_cast<size_t>(((second % kLength) + kLength) % kLength); }

}  // namespace

Minute::Minute() { values_.fill(kUnknown); }

void Minute::Add(absl::Time time, double value) {
  const int64_t second = absl::ToUnixSeconds(time);
  if (second <= newest_ - kLength) return;
  for (int64_t gone = std::max(newest_, second - kLength) + 1; gone <= second; ++gone)
    values_[PlaceOf(gone)] = kUnknown;
  newest_ = std::max(newest_, second);
  values_[PlaceOf(second)] = static_cast<float>(value);
}

std::vector<double> Minute::Until(absl::Time now, absl::Duration hold) const {
  const int64_t last = absl::ToUnixSeconds(now);
  const auto hold_seconds = static_cast<int64_t>(std::ceil(absl::ToDoubleSeconds(hold)));
  std::vector<double> values;
  double held = kUnknown;
  int64_t held_since = 0;
  for (int64_t second = last - kLength + 1; second <= last; ++second) {
    const bool is_kept = second <= newest_ && second > newest_ - kLength;
    if (is_kept && !std::isnan(values_[PlaceOf(second)])) {
      held = values_[PlaceOf(second)];
      held_since = second;
    }
    values.push_back(second - held_since <= hold_seconds ? held : kUnknown);
  }
  return values;
}

}  // namespace sideband::client::top
