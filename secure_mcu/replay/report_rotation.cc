// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/replay/report_rotation.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

namespace sideband::mcu {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kNormal = 1.96;  // standard errors of a 95 % interval's half

template <typename Number>
Json OrNull(const std::optional<Number>& number) {
  return number ? Json(*number) : Json(nullptr);
}

Json EstimateJson(const ReplayEstimate& estimate) {
  return {{"counted", estimate.lower},
          {"estimate", OrNull(estimate.estimate)},
          {"lower", estimate.lower},
          {"upper", OrNull(estimate.upper)},
          {"standard_error", OrNull(estimate.standard_error)},
          {"coverage", estimate.coverage}};
}

// Half of the 95 % interval; no more than what the bounds leave.
std::string ErrorOf(const ReplayEstimate& estimate) {
  if (!estimate.estimate || !estimate.standard_error) return "-";
  uint64_t half = static_cast<uint64_t>(std::ceil(kNormal * static_cast<double>(*estimate.standard_error)));
  if (estimate.upper) {
    half = std::min(half, std::max(*estimate.upper - *estimate.estimate, *estimate.estimate - estimate.lower));
  }
  return absl::StrCat(half);
}

using Row = std::vector<std::string>;

Row RowOf(const ReplayEstimate& estimate, const std::string& name) {
  return {name,
          ShownOf(estimate),
          ErrorOf(estimate),
          absl::StrFormat("%.1f%%", 100 * estimate.coverage),
          absl::StrCat(estimate.lower),
          estimate.upper ? absl::StrCat(*estimate.upper) : "-"};
}

// The first column left-aligned, the others right-aligned.
std::string Align(const std::vector<Row>& rows) {
  std::vector<int> widths(rows[0].size());
  for (const Row& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], static_cast<int>(row[i].size()));
  }
  std::string text;
  for (const Row& row : rows) {
    absl::StrAppendFormat(&text, "%-*s", widths[0], row[0]);
    for (size_t i = 1; i < row.size(); ++i) absl::StrAppendFormat(&text, "  %*s", widths[i], row[i]);
    text += '\n';
  }
  return text;
}

}  // namespace

Json PlanJson(const ReplayRotation& rotation) {
  return {{"sets", rotation.sets}, {"fixed", rotation.fixed}, {"derived", rotation.derived}};
}

Json NumbersJson(const ReplayNumbers& numbers, const std::vector<std::string>& events) {
  Json estimates = Json::object();
  for (const ReplayEstimate& estimate : numbers.events) estimates[events[estimate.event]] = EstimateJson(estimate);
  return {{"enabled", numbers.enabled}, {"running", numbers.running}, {"events", std::move(estimates)}};
}

std::string ShownOf(const ReplayEstimate& estimate) {
  if (!estimate.estimate) return "-";
  return absl::StrCat(estimate.coverage < 1 ? "~" : "", *estimate.estimate);
}

std::string FormatNumbers(const std::string& title, const ReplayNumbers& numbers,
                          const std::vector<std::string>& events) {
  std::vector<Row> rows = {{"event", "count", "error", "coverage", "lower", "upper"}};
  for (const ReplayEstimate& estimate : numbers.events) rows.push_back(RowOf(estimate, events[estimate.event]));
  return absl::StrCat("\n", title, ": ", numbers.enabled, " cycles, of the sets ", absl::StrJoin(numbers.running, ", "),
                      "\n", Align(rows));
}

}  // namespace sideband::mcu
