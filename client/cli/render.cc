// SPDX-License-Identifier: Apache-2.0
#include "client/cli/render.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "absl/time/time.h"
#include "client/cli/table.h"
#include "proto/base/text.h"

namespace sideband::client {
namespace {

using Fit = Table::Fit;

using enum Table::Align;

std::string Notes(const v1::ScopeCounters& row, const v1::Counter& counter) {
  std::vector<std::string> notes = FlagsOf(row, counter);
  if (row.state() != v1::ScopeCounters::STATE_ACTIVE) notes.insert(notes.begin(), StateText(row.state()));
  return absl::StrJoin(notes, ",");
}

std::string UtilisationText(const v1::ScopeCounters& row, const std::string& event, const TableStyle& style) {
  const v1::Ratio* const utilisation = FindUtilisation(row, event);
  return utilisation == nullptr ? "" : ShareText(utilisation->value(), style);
}

std::string CoverText(const v1::Counter& counter, const TableStyle& style) {
  return counter.has_coverage() ? CoverageText(counter.coverage(), style) : "";
}

bool IsBoard(const v1::Device& device) {
  return std::ranges::find(device.kinds(), v1::Device::KIND_BOARD) != device.kinds().end();
}

// "~42 ±5"; raw: "42". Only the number if it is exact, or its error is unknown.
std::string ShownCount(const v1::ScopeCounters& row, const v1::Counter& counter, const TableStyle& style) {
  const std::string count = CountText(counter.count(), style);
  if (!IsEstimated(row, counter)) return count;
  const v1::Estimate& estimate = counter.estimate();
  if (style.raw || !estimate.has_standard_error()) return EstimateText(count, style);
  EstimateRange range{.value = counter.count(), .standard_error = estimate.standard_error(), .lower = estimate.lower()};
  if (estimate.has_upper()) range.upper = estimate.upper();
  return absl::StrCat(EstimateText(count, style), " ", ErrorText(range, style));
}

// A peek of a multiplexed event has what was counted of it: "≥42".
std::string PeekedCount(const v1::ScopeCounters& row, const v1::Counter& counter, const TableStyle& style) {
  const bool is_part = counter.estimate().method() == v1::Estimate::METHOD_COUNTED;
  if (is_part && !style.raw) return absl::StrCat("≥", CountText(counter.count(), style));
  return ShownCount(row, counter, style);
}

// The bounds of an estimate; of an exact count, itself. An estimate of an older daemon has none.
std::string LowerText(const v1::ScopeCounters& row, const v1::Counter& counter, const TableStyle& style) {
  if (counter.has_estimate()) return CountText(counter.estimate().lower(), style);
  return IsEstimated(row, counter) ? "?" : CountText(counter.count(), style);
}

std::string UpperText(const v1::ScopeCounters& row, const v1::Counter& counter, const TableStyle& style) {
  if (counter.estimate().has_upper()) return CountText(counter.estimate().upper(), style);
  return IsEstimated(row, counter) ? "?" : CountText(counter.count(), style);
}

void AddCounters(const v1::ScopeCounters& row, Bounds bounds, const TableStyle& style, Table& table) {
  const v1::Scope& scope = row.scope();
  for (const v1::Counter& counter : row.counters()) {
    const bool is_estimated = IsEstimated(row, counter);
    const auto marked = [&](std::string text) {
      return is_estimated ? EstimateText(std::move(text), style) : std::move(text);
    };
    const std::string rate = counter.has_rate_per_second() ? ScaledText(counter.rate_per_second(), "/s", style) : "";
    std::vector<std::string> cells = {SliceText(scope), VmText(scope), scope.context(), counter.event(),
                                      ShownCount(row, counter, style)};
    if (bounds == Bounds::kShown) {
      cells.push_back(LowerText(row, counter, style));
      cells.push_back(UpperText(row, counter, style));
    }
    for (std::string cell : {marked(rate), marked(UtilisationText(row, counter.event(), style)),
                             CoverText(counter, style), Notes(row, counter)}) {
      cells.push_back(std::move(cell));
    }
    table.Add(std::move(cells));
  }
}

// Empty for a fresh device; else a warning with the snapshot's age.
std::string Staleness(const v1::Snapshot& snapshot) {
  if (!snapshot.has_device_state() || snapshot.device_state() == v1::Device::STATE_FRESH) return "";
  const absl::Duration age = absl::Trunc(ToDuration(snapshot.age()), absl::Seconds(1));
  return absl::StrCat("STALE: ", absl::FormatDuration(age), " old, its present rates are unknown");
}

// The interval of the rates and utilisations.
std::string Interval(const v1::Snapshot& snapshot) {
  if (!snapshot.has_elapsed()) return "";
  return absl::StrFormat("rates over %.3f s", absl::ToDoubleSeconds(ToDuration(snapshot.elapsed())));
}

// The time of a v1::Snapshot or a v1::PeekResponse.
template <typename Message>
std::string HostTime(const Message& message) {
  if (!message.has_host_time()) return "";
  const std::string time = TimeText(ToTime(message.host_time()));
  if (!message.has_host_time_error()) return time;
  return absl::StrCat(time, " ±", absl::FormatDuration(ToDuration(message.host_time_error())));
}

template <typename Message>
std::string ReferenceTime(const Message& message) {
  const uint64_t time_ns = message.reference_time_ns();
  return absl::StrFormat("at %d.%09d s", time_ns / 1'000'000'000, time_ns % 1'000'000'000);
}

std::string Heading(const v1::Snapshot& snapshot, const TableStyle& style) {
  return WrappedFields(
      {Visible(snapshot.device()), HostTime(snapshot), absl::StrCat("snapshot ", snapshot.snapshot_id()),
       absl::StrCat("trigger ", snapshot.trigger_id()), absl::StrCat("boot ", BootIdText(snapshot.boot_id())),
       ReferenceTime(snapshot), Interval(snapshot), Staleness(snapshot)},
      style);
}

constexpr char kPartial[] = "partial";
constexpr char kEstimated[] = "estimated";

std::string Word(absl::string_view name, absl::string_view prefix, int value) {
  return name.empty() ? absl::StrCat(value) : absl::AsciiStrToLower(absl::StripPrefix(name, prefix));
}

}  // namespace

std::string DevicesTable(const std::vector<DevicesAtHost>& answers, const TableStyle& style) {
  const bool has_board = std::ranges::any_of(
      answers, [](const auto& answer) { return std::ranges::any_of(answer.response.devices(), IsBoard); });
  Table table({{"HOST", kLeft, Fit::kRare},
               {"DEVICE", kLeft, Fit::kMiddle},
               {"STATE"},
               {"KIND", kLeft, Fit::kRare},
               {"INTERVAL", kRight},
               {"CLOCK", kRight},
               {"BOOT"},
               {"UUID", kLeft, Fit::kWideOnly}});
  for (const auto& [host, response] : answers) {
    for (const v1::Device& device : response.devices()) {
      const bool is_counted = HasCounters(device);
      const std::string clock = ScaledText(static_cast<double>(device.reference_clock_hz()), "Hz", style);
      table.Add({host, device.name(), StateText(device.state()), has_board ? KindsText(device) : "",
                 absl::FormatDuration(ToDuration(device.interval())), is_counted ? clock : "",
                 is_counted ? BootIdText(device.boot_id()) : "", device.uuid()});
    }
  }
  return table.Render(style);
}

std::string EventsTable(const v1::ListEventsResponse& response, const TableStyle& style) {
  Table table({{"DEVICE", kLeft, Fit::kMiddle},
               {"EVENT", kLeft, Fit::kMiddle},
               {"UNIT", kLeft, Fit::kEnd},
               {"SCOPE"},
               {"GROUP", kLeft, Fit::kRare},
               {"NOTES", kLeft, Fit::kIfAny},
               {"DESCRIPTION", kLeft, Fit::kEnd}});
  for (const auto& device : response.devices()) {
    for (const v1::Event& event : device.events()) {
      table.Add({device.device(), event.name(), event.unit(), ScopeText(event.scope()), event.gate_group(),
                 event.masked() ? "masked" : "", event.description()});
    }
  }
  return table.Render(style);
}

std::string ScopesTable(const v1::ListScopesResponse& response, const TableStyle& style) {
  Table table({{"DEVICE", kLeft, Fit::kMiddle},
               {"SLICE", kRight},
               {"VM", kLeft, Fit::kMiddle},
               {"CONTEXT", kLeft, Fit::kMiddle},
               {"GENERATION", kRight},
               {"CONFIDENTIAL"},
               {"VM UUID", kLeft, Fit::kWideOnly}});
  for (const v1::Scope& scope : response.scopes()) {
    table.Add({scope.device(), SliceText(scope), VmText(scope), scope.context(), absl::StrCat(scope.generation()),
               scope.confidential() ? "yes" : "no", scope.vm_uuid()});
  }
  return table.Render(style);
}

std::string SnapshotTable(const v1::Snapshot& snapshot, const TableStyle& style, Bounds bounds) {
  std::vector<Table::Column> columns = {{"SLICE", kRight, Fit::kWideOnly},
                                        {"VM", kLeft, Fit::kMiddle},
                                        {"CONTEXT", kLeft, Fit::kMiddle},
                                        {"EVENT", kLeft, Fit::kMiddle},
                                        {"COUNT", kRight}};
  if (bounds == Bounds::kShown) columns.insert(columns.end(), {{"LOWER", kRight}, {"UPPER", kRight}});
  columns.insert(columns.end(), {{"RATE", kRight},
                                 {"UTIL", kRight, Fit::kIfAny},
                                 {bounds == Bounds::kShown ? "COVERAGE" : "COVER", kRight, Fit::kRare},
                                 {"NOTES", kLeft, Fit::kIfAny}});
  Table table(std::move(columns));
  for (const v1::ScopeCounters& row : snapshot.scopes()) AddCounters(row, bounds, style, table);
  return Heading(snapshot, style) + table.Render(style);
}

std::string PeekTable(const v1::PeekResponse& response, const TableStyle& style) {
  Table table({{"SLICE", kRight, Fit::kWideOnly},
               {"VM", kLeft, Fit::kMiddle},
               {"CONTEXT", kLeft, Fit::kMiddle},
               {"EVENT", kLeft, Fit::kMiddle},
               {"COUNT", kRight},
               {"COVER", kRight, Fit::kRare},
               {"NOTES", kLeft, Fit::kIfAny}});
  const v1::ScopeCounters& row = response.counters();
  const v1::Scope& scope = row.scope();
  for (const v1::Counter& counter : row.counters()) {
    table.Add({SliceText(scope), VmText(scope), scope.context(), counter.event(), PeekedCount(row, counter, style),
               CoverText(counter, style), absl::StrJoin(FlagsOf(row, counter), ",")});
  }
  return WrappedFields({Visible(scope.device()), HostTime(response),
                        absl::StrCat("boot ", BootIdText(response.boot_id())), ReferenceTime(response)},
                       style) +
         table.Render(style);
}

std::string SnapshotTables(const v1::GetSnapshotResponse& response, const TableStyle& style, Bounds bounds) {
  std::vector<std::string> tables;
  for (const v1::Snapshot& snapshot : response.snapshots()) tables.push_back(SnapshotTable(snapshot, style, bounds));
  return absl::StrJoin(tables, "\n");
}

std::string StateText(v1::Device::State state) { return Word(v1::Device::State_Name(state), "STATE_", state); }

std::string KindsText(const v1::Device& device) {
  return absl::StrJoin(device.kinds(), "+", [](std::string* out, int kind) {
    absl::StrAppend(out, Word(v1::Device::Kind_Name(kind), "KIND_", kind));
  });
}

bool HasCounters(const v1::Device& device) {
  return device.boot_id() != 0 || absl::c_linear_search(device.kinds(), v1::Device::KIND_COUNTERS);
}

bool IsBoardAlone(const v1::Device& device) {
  return device.boot_id() == 0 && device.state() != v1::Device::STATE_AWAY;
}

std::string StateText(v1::ScopeCounters::State state) {
  return Word(v1::ScopeCounters::State_Name(state), "STATE_", state);
}

std::string ScopeText(v1::Event::Scope scope) { return Word(v1::Event::Scope_Name(scope), "SCOPE_", scope); }

std::string NotAnsweredText(const std::string& device) {
  return absl::StrCat(device, " has not answered yet: there is no snapshot");
}

std::string LostText(uint64_t messages) {
  return absl::StrCat(PluralText(messages, "message"), " of the driver ", messages == 1 ? "was" : "were", " lost");
}

std::string SliceText(const v1::Scope& scope) { return scope.has_slice() ? absl::StrCat(scope.slice()) : ""; }

std::string VmText(const v1::Scope& scope) {
  return scope.host() ? absl::StrCat("(host:", SliceText(scope), ")") : scope.vm();
}

bool IsEstimated(const google::protobuf::RepeatedPtrField<std::string>& flags) {
  return std::find(flags.begin(), flags.end(), kEstimated) != flags.end();
}

bool IsEstimated(const v1::ScopeCounters& row, const v1::Counter& counter) {
  if (counter.has_estimate() || !IsEstimated(row.flags())) return counter.has_estimate();
  return std::ranges::none_of(row.counters(), [](const v1::Counter& other) { return other.has_estimate(); });
}

bool IsPartial(const v1::Counter& counter) {
  if (counter.estimate().method() == v1::Estimate::METHOD_COUNTED) return true;
  // The comparison is false for an unknown coverage (NaN).
  return counter.has_coverage() && !(counter.coverage() >= 1);
}

std::vector<std::string> FlagsOf(const v1::ScopeCounters& row, const v1::Counter& counter) {
  std::vector<std::string> flags(row.flags().begin(), row.flags().end());
  if (!IsPartial(counter)) std::erase(flags, kPartial);
  if (!IsEstimated(row, counter)) std::erase(flags, kEstimated);
  return flags;
}

const v1::Ratio* FindUtilisation(const v1::ScopeCounters& row, const std::string& event) {
  const auto found = std::find_if(row.ratios().begin(), row.ratios().end(),
                                  [&](const v1::Ratio& ratio) { return ratio.event() == event; });
  return found == row.ratios().end() ? nullptr : &*found;
}

absl::Duration ToDuration(const google::protobuf::Duration& duration) {
  return absl::Seconds(duration.seconds()) + absl::Nanoseconds(duration.nanos());
}

absl::Time ToTime(const google::protobuf::Timestamp& time) {
  return absl::FromUnixSeconds(time.seconds()) + absl::Nanoseconds(time.nanos());
}

std::string TimeText(absl::Time time) { return absl::FormatTime("%Y-%m-%dT%H:%M:%E3SZ", time, absl::UTCTimeZone()); }

}  // namespace sideband::client
