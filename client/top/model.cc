// SPDX-License-Identifier: Apache-2.0
#include "client/top/model.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "client/cli/options.h"
#include "client/cli/render.h"
#include "client/cli/table.h"

namespace sideband::client::top {
namespace {

constexpr absl::Duration kWindow = absl::Minutes(1);
constexpr int kIntervalsUntilStale = 3;  // as in the daemon

ScopeName NameOf(const v1::Scope& scope) { return {VmText(scope), scope.context()}; }

Minute MinuteOf(const ScopeEntry* before, const std::string& event) {
  const EventEntry* const entry = before == nullptr ? nullptr : before->Find(event);
  return entry == nullptr ? Minute() : entry->minute;
}

EventEntry MakeEvent(const v1::ScopeCounters& row, const v1::Counter& counter, const ScopeEntry* before,
                     absl::Time time) {
  EventEntry entry{.name = counter.event(), .count = counter.count(), .minute = MinuteOf(before, counter.event())};
  if (counter.has_rate_per_second()) entry.rate = counter.rate_per_second();
  entry.is_estimate = IsEstimated(row, counter);
  if (counter.has_coverage()) entry.coverage = counter.coverage();
  if (const v1::Ratio* const share = FindUtilisation(row, counter.event())) entry.share = share->value();
  if (const auto value = entry.share ? entry.share : entry.rate) entry.minute.Add(time, *value);
  return entry;
}

ScopeEntry MakeScope(const v1::ScopeCounters& row, const ScopeEntry* before, absl::Time time) {
  ScopeEntry entry{.scope = row.scope(), .state = StateText(row.state())};
  entry.flags.assign(row.flags().begin(), row.flags().end());
  for (const v1::Counter& counter : row.counters()) entry.events.push_back(MakeEvent(row, counter, before, time));
  return entry;
}

}  // namespace

const EventEntry* ScopeEntry::Find(const std::string& event) const {
  const auto found = std::ranges::find(events, event, &EventEntry::name);
  return found == events.end() ? nullptr : &*found;
}

v1::Device::State DeviceEntry::StateAt(absl::Time now) const {
  // A board alone has no snapshots.
  if (clock_hz == 0 && has_board) return listed;
  if (heard == absl::InfinitePast() || listed == v1::Device::STATE_AWAY) return v1::Device::STATE_AWAY;
  // The daemon decides with the same bound; while it is silent, this clock does.
  const bool is_old = interval > absl::ZeroDuration() && now - heard > kIntervalsUntilStale * interval;
  return is_old ? v1::Device::STATE_STALE : v1::Device::STATE_FRESH;
}

std::optional<double> DeviceEntry::ReadsAt(absl::Time now) const {
  const absl::Duration seen = std::min(now - since, kWindow);
  if (!ShowsReads() || interval <= absl::ZeroDuration() || seen < kIntervalsUntilStale * interval) return std::nullopt;
  const auto read = std::ranges::count_if(arrivals, [&](absl::Time arrival) { return arrival > now - seen; });
  const double due = std::floor(absl::FDivDuration(seen, interval));
  return std::min(1.0, static_cast<double>(read) / due);
}

void Model::Apply(const v1::ListDevicesResponse& response, absl::Time now) {
  std::map<std::string, DeviceEntry> listed;
  for (const v1::Device& device : response.devices()) {
    if (!IsChosen(options_.devices, device.name())) continue;
    DeviceEntry& entry = listed[device.name()];
    if (const auto known = devices_.find(device.name()); known != devices_.end()) entry = std::move(known->second);
    entry.listed = device.state();
    const absl::Duration own = ToDuration(device.interval());
    entry.interval = std::max(own, options_.sample_interval);
    entry.is_sampled = entry.interval > own;
    entry.is_board_alone = IsBoardAlone(device);
    entry.boot_id = device.boot_id();
    entry.clock_hz = device.reference_clock_hz();
    entry.since = std::min(entry.since, now);
    entry.has_board = std::ranges::find(device.kinds(), v1::Device::KIND_BOARD) != device.kinds().end();
    if (!entry.has_board) entry.board.reset();
  }
  devices_ = std::move(listed);
}

bool Model::HasBoard() const {
  return std::ranges::any_of(devices_, [](const auto& device) { return device.second.has_board; });
}

void Model::Apply(const v1::GetSensorsResponse& response) {
  for (auto& [name, device] : devices_) device.board.reset();
  for (const v1::DeviceSensors& sensors : response.devices()) {
    const auto device = devices_.find(sensors.device());
    if (device != devices_.end()) device->second.board = BoardOf(sensors);
  }
}

void Model::Apply(const v1::ListScopesResponse& response) {
  for (const v1::Scope& scope : response.scopes()) {
    const auto device = devices_.find(scope.device());
    if (!scope.confidential() || device == devices_.end()) continue;
    device->second.scopes.try_emplace(NameOf(scope), ScopeEntry{.scope = scope, .state = "sealed"});
  }
}

void Model::Apply(const v1::Snapshot& snapshot, absl::Time now) {
  if (!IsChosen(options_.devices, snapshot.device())) return;
  DeviceEntry& device = devices_[snapshot.device()];
  device.is_board_alone = false;  // it may have another firmware now
  device.heard = now - ToDuration(snapshot.age());
  device.listed = snapshot.device_state();
  device.boot_id = snapshot.boot_id();
  device.since = std::min(device.since, now);
  device.arrivals.push_back(now);
  while (device.arrivals.front() < now - kWindow) device.arrivals.pop_front();
  std::map<ScopeName, ScopeEntry> scopes;
  for (const v1::ScopeCounters& row : snapshot.scopes()) {
    const auto before = device.scopes.find(NameOf(row.scope()));
    const ScopeEntry* const known = before == device.scopes.end() ? nullptr : &before->second;
    const ScopeEntry& added = scopes[NameOf(row.scope())] = MakeScope(row, known, now);
    for (const EventEntry& event : added.events) {
      if (std::ranges::find(events_, event.name) == events_.end()) events_.push_back(event.name);
    }
  }
  for (auto& [name, scope] : device.scopes) {
    if (scope.scope.confidential()) scopes.try_emplace(name, std::move(scope));
  }
  device.scopes = std::move(scopes);
}

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
constexpr ActionRow kActions[] = {{"sideband_reset_required", ""},
                                  {"sideband_drain_recommended", ""},
                                  {"sideband_row_remap_state", "pending"},
                                  {"sideband_board_health", "critical"}};

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
