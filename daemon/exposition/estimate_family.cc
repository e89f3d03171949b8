// SPDX-License-Identifier: Apache-2.0
#include "daemon/exposition/estimate_family.h"

#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "daemon/snapshot/rotation.h"
#include "proto/exposition/text.h"

namespace sideband::daemon {
namespace {

bool IsWanted(EstimateSeries series, EstimateNumber number) {
  if (number == EstimateNumber::kCoverage) return series != EstimateSeries::kNone;
  return series == EstimateSeries::kAll;
}

// Empty: unknown.
std::string IfKnown(uint64_t number) { return number == mailbox::kUnknownNumber ? "" : absl::StrCat(number); }

std::string TextOf(EstimateNumber number, const DeviceSnapshot& snapshot, size_t row, size_t event) {
  const auto estimate = snapshot.EstimateOf(row, event);
  if (!estimate) return "";
  switch (number) {
    case EstimateNumber::kCoverage: {
      const double coverage = snapshot.CoverageOf(row, event);
      return std::isnan(coverage) ? "" : NumberText(coverage);
    }
    case EstimateNumber::kLower:
      return absl::StrCat(estimate->lower);
    case EstimateNumber::kUpper:
      return IfKnown(estimate->upper);
    case EstimateNumber::kStandardError:
      return IfKnown(estimate->deviation);
  }
  return "";
}

// That the frame shows.
std::vector<size_t> RotatedEvents(const DeviceFrame& frame) {
  const Topology& topology = *frame.device().view->topology();
  std::vector<size_t> events;
  for (size_t event = 0; event < topology.catalog().events.size(); ++event) {
    if (topology.rotation().IsRotated(event) && frame.ShowsEvent(event)) events.push_back(event);
  }
  return events;
}

}  // namespace

void WriteEstimates(absl::string_view name, const DeviceFrame& frame, Level level, EstimateNumber number,
                    TextBuffer& out) {
  if (frame.rows(level).rows.empty() || !IsWanted(frame.device().info->estimates, number)) return;
  const DeviceSnapshot& snapshot = *frame.device().snapshot;
  if (snapshot.estimated.empty()) return;
  const std::vector<size_t> events = RotatedEvents(frame);
  for (const Row& row : frame.rows(level).rows) {
    for (const size_t event : events) {
      if (!(*row.events)[event] || !snapshot.IsShown(row.index, event)) continue;
      const std::string text = TextOf(number, snapshot, row.index, event);
      if (text.empty()) continue;
      std::string labels = *row.labels;
      AppendLabel(labels, "event", snapshot.topology->catalog().events[event].name);
      AppendSample(out, name, labels, text);
    }
  }
}

}  // namespace sideband::daemon
