// SPDX-License-Identifier: Apache-2.0
#include "client/cli/render.h"

#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "absl/time/time.h"
#include "client/cli/table.h"
#include "proto/base/visible.h"

namespace sideband::client {
namespace {

constexpr auto kRight = Table::Align::kRight;

// STATE_FRESH as "fresh"; a value that this program does not know as its number.
std::string Word(absl::string_view name, absl::string_view prefix, int value) {
  return name.empty() ? absl::StrCat(value) : absl::AsciiStrToLower(absl::StripPrefix(name, prefix));
}

absl::Duration ToDuration(const google::protobuf::Duration& duration) {
  return absl::Seconds(duration.seconds()) + absl::Nanoseconds(duration.nanos());
}

absl::Time ToTime(const google::protobuf::Timestamp& time) {
  return absl::FromUnixSeconds(time.seconds()) + absl::Nanoseconds(time.nanos());
}

std::string Slice(const v1::Scope& scope) { return scope.has_slice() ? absl::StrCat(scope.slice()) : ""; }

std::string Rate(const v1::Counter& counter) {
  return counter.has_rate_per_second() ? absl::StrFormat("%.1f", counter.rate_per_second()) : "";
}

void AddCounters(const v1::ScopeCounters& row, Table& table) {
  const v1::Scope& scope = row.scope();
  const std::string state = Word(v1::ScopeCounters::State_Name(row.state()), "STATE_", row.state());
  const std::string flags = absl::StrJoin(row.flags(), ",");
  for (const v1::Counter& counter : row.counters()) {
    table.Add({Slice(scope), scope.vm(), scope.context(), state, counter.event(), absl::StrCat(counter.count()),
               Rate(counter), flags});
  }
}

// "", or that the device has not been heard of in time.
std::string Staleness(const v1::Snapshot& snapshot) {
  if (!snapshot.has_device_state() || snapshot.device_state() == v1::Device::STATE_FRESH) return "";
  const absl::Duration age = absl::Trunc(ToDuration(snapshot.age()), absl::Seconds(1));
  return absl::StrCat("  STALE: ", absl::FormatDuration(age), " old, its rates now are unknown");
}

std::string Heading(const v1::Snapshot& snapshot) {
  std::string line =
      absl::StrFormat("%s  snapshot %d  trigger %d  boot %016x  at %d.%09d s", Visible(snapshot.device()),
                      snapshot.snapshot_id(), snapshot.trigger_id(), snapshot.boot_id(),
                      snapshot.reference_time_ns() / 1'000'000'000, snapshot.reference_time_ns() % 1'000'000'000);
  if (snapshot.has_host_time()) {
    absl::StrAppend(&line, "  host ",
                    absl::FormatTime("%Y-%m-%dT%H:%M:%E3SZ", ToTime(snapshot.host_time()), absl::UTCTimeZone()));
  }
  if (snapshot.has_host_time_error()) {
    absl::StrAppend(&line, " ±", absl::FormatDuration(ToDuration(snapshot.host_time_error())));
  }
  return line + Staleness(snapshot) + "\n";
}

}  // namespace

std::string DevicesTable(const v1::ListDevicesResponse& response) {
  Table table({{"DEVICE"}, {"STATE"}, {"INTERVAL", kRight}, {"CLOCK/HZ", kRight}, {"BOOT"}, {"UUID"}});
  for (const v1::Device& device : response.devices()) {
    table.Add({device.name(), Word(v1::Device::State_Name(device.state()), "STATE_", device.state()),
               absl::FormatDuration(ToDuration(device.interval())), absl::StrCat(device.reference_clock_hz()),
               absl::StrFormat("%016x", device.boot_id()), device.uuid()});
  }
  return table.Render();
}

std::string EventsTable(const v1::ListEventsResponse& response) {
  Table table({{"DEVICE"}, {"EVENT"}, {"UNIT"}, {"SCOPE"}, {"DESCRIPTION"}});
  for (const auto& device : response.devices()) {
    for (const v1::Event& event : device.events()) {
      table.Add({device.device(), event.name(), event.unit(),
                 Word(v1::Event::Scope_Name(event.scope()), "SCOPE_", event.scope()), event.description()});
    }
  }
  return table.Render();
}

std::string ScopesTable(const v1::ListScopesResponse& response) {
  Table table(
      {{"DEVICE"}, {"SLICE", kRight}, {"VM"}, {"CONTEXT"}, {"GENERATION", kRight}, {"CONFIDENTIAL"}, {"VM UUID"}});
  for (const v1::Scope& scope : response.scopes()) {
    table.Add({scope.device(), Slice(scope), scope.vm(), scope.context(), absl::StrCat(scope.generation()),
               scope.confidential() ? "yes" : "no", scope.vm_uuid()});
  }
  return table.Render();
}

std::string SnapshotTable(const v1::Snapshot& snapshot) {
  Table table(
      {{"SLICE", kRight}, {"VM"}, {"CONTEXT"}, {"STATE"}, {"EVENT"}, {"COUNT", kRight}, {"RATE/S", kRight}, {"FLAGS"}});
  for (const v1::ScopeCounters& row : snapshot.scopes()) AddCounters(row, table);
  return Heading(snapshot) + table.Render();
}

std::string SnapshotTables(const v1::GetSnapshotResponse& response) {
  std::vector<std::string> tables;
  for (const v1::Snapshot& snapshot : response.snapshots()) tables.push_back(SnapshotTable(snapshot));
  return absl::StrJoin(tables, "\n");
}

}  // namespace sideband::client
