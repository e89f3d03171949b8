// SPDX-License-Identifier: Apache-2.0
#include "client/top/board.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "client/cli/table.h"

namespace sideband::client::top {
namespace {

std::string LabelOf(const v1::Sensor& sensor, absl::string_view name) {
  for (const v1::SensorLabel& label : sensor.labels()) {
    if (label.name() == name) return label.value();
  }
  return "";
}

struct ValueRow {
  const char* name;
  const char* label;
  const char* value;  // of the label
  const char* second_label;
  const char* second_value;
  std::optional<double> BoardEntry::*to;
};
constexpr ValueRow kValues[] = {
    {"sideband_temperature_celsius", "sensor", "gpu", "", "", &BoardEntry::celsius},
    {"sideband_temperature_margin_celsius", "sensor", "gpu", "", "", &BoardEntry::margin_celsius},
    {"sideband_power_watts", "sensor", "total", "", "", &BoardEntry::watts},
    {"sideband_power_limit_watts", "sensor", "total", "kind", "current", &BoardEntry::limit_watts},
    {"sideband_clock_hertz", "clock", "graphics", "kind", "current", &BoardEntry::clock_hz},
};

struct ActionRow {
  const char* name;
  const char* state;  // of the label `state`, if there is one
};
constexpr ActionRow kActions[] = {
    {"sideband_reset_required", ""}, {"sideband_drain_recommended", ""}, {"sideband_row_remap_state", "pending"}};

void Take(const v1::Sensor& sensor, BoardEntry& board) {
  for (const ValueRow& row : kValues) {
    const bool is_it = sensor.name() == row.name && LabelOf(sensor, row.label) == row.value &&
                       LabelOf(sensor, row.second_label) == row.second_value;
    if (is_it) board.*row.to = sensor.value();
  }
  if (sensor.value() == 0) return;
  if (sensor.name() == "sideband_throttle_active") board.throttles.push_back(LabelOf(sensor, "reason"));
  board.needs_action |= std::ranges::any_of(kActions, [&](const ActionRow& row) {
    return sensor.name() == row.name && LabelOf(sensor, "state") == row.state;
  });
}

}  // namespace

BoardEntry BoardOf(const v1::DeviceSensors& device) {
  BoardEntry board;
  for (const v1::Sensor& sensor : device.sensors()) Take(sensor, board);
  return board;
}

std::string BriefText(const BoardEntry& board) {
  std::vector<std::string> parts;
  if (board.celsius) parts.push_back(absl::StrFormat("%.0f°C", *board.celsius));
  if (board.watts) parts.push_back(absl::StrFormat("%.0fW", *board.watts));
  return absl::StrJoin(parts, " ");
}

std::string LongText(const BoardEntry& board) {
  std::vector<std::string> parts;
  if (board.celsius) parts.push_back(absl::StrFormat("%.1f °C", *board.celsius));
  if (board.margin_celsius) parts.push_back(absl::StrFormat("%.1f below its limit", *board.margin_celsius));
  if (board.watts) {
    const std::string limit = board.limit_watts ? absl::StrFormat(" of %.0f", *board.limit_watts) : "";
    parts.push_back(absl::StrFormat("%.1f%s W", *board.watts, limit));
  }
  if (board.clock_hz) parts.push_back(CompactText(*board.clock_hz, "Hz"));
  if (!board.throttles.empty()) parts.push_back(absl::StrCat("throttled: ", absl::StrJoin(board.throttles, " ")));
  if (board.needs_action) parts.push_back("needs action: see `sideband sensors`");
  return absl::StrJoin(parts, ", ");
}

}  // namespace sideband::client::top
