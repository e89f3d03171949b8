// SPDX-License-Identifier: Apache-2.0
#include "daemon/exposition/board_series.h"

#include <cmath>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"
#include "daemon/exposition/frame.h"

namespace sideband::daemon {
namespace {

// Whole numbers, such as hertz and bytes, without an exponent.
std::string ValueText(double value) {
  constexpr double kExactMax = 9'007'199'254'740'992;  // 2^53
  if (std::abs(value) <= kExactMax && std::trunc(value) == value) return absl::StrCat(static_cast<int64_t>(value));
  return NumberText(value);
}

// In both formats a label with an empty value is the same as none.
void AppendKnown(std::string& labels, absl::string_view name, absl::string_view value) {
  if (!value.empty()) AppendLabel(labels, name, value);
}

}  // namespace

void BoardSeries::Gauge(Labels labels, std::optional<double> value, double unit) {
  if (value) AppendSample(out_, name_, LabelText(labels), ValueText(*value * unit));
}

void BoardSeries::Info(std::span<const std::pair<absl::string_view, std::string>> labels) {
  std::string text = frame_.device;
  for (const auto& [name, value] : labels) AppendKnown(text, name, value);
  if (text != frame_.device) AppendSample(out_, name_, text, "1");
}

void BoardSeries::Count(Labels labels, const std::optional<RunningCount>& count) {
  if (count) WriteCount(labels, absl::StrCat(count->value), count->created);
}

void BoardSeries::MilliCount(Labels labels, const std::optional<RunningCount>& count) {
  if (!count) return;
  WriteCount(labels, absl::StrFormat("%d.%03d", count->value / 1000, count->value % 1000), count->created);
}

std::string BoardSeries::LabelText(Labels labels) const {
  std::string text = frame_.device;
  for (const auto& [name, value] : labels) AppendKnown(text, name, value);
  return text;
}

void BoardSeries::WriteCount(Labels labels, absl::string_view value, absl::Time created) {
  const std::string text = LabelText(labels);
  AppendSample(out_, name_, text, value);
  if (frame_.format != MetricsFormat::kOpenMetrics) return;
  AppendSample(out_, absl::StrCat(absl::StripSuffix(name_, "_total"), "_created"), text, TimeText(created));
}

}  // namespace sideband::daemon
