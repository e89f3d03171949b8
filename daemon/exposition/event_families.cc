// SPDX-License-Identifier: Apache-2.0
#include "daemon/exposition/event_families.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "daemon/snapshot/utilisation.h"
#include "proto/exposition/row_families.h"

namespace sideband::daemon {
namespace {

constexpr size_t kNumberAndEnd = 32;  // a count or a far-future time, "} " and the newline

absl::string_view Description(const mailbox::EventInfo& event) {
  const absl::string_view description = event.description.empty() ? event.name : event.description;
  return absl::StripSuffix(description, ".");
}

absl::string_view LevelHelp(Level level) {
  switch (level) {
    case Level::kDevice:
      return "Of the device; beside confidential VMs, of its other VMs (sideband_device_complete 0).";
    case Level::kVm:
      return kVmFamilies.level_help;
    case Level::kContext:
      return kContextFamilies.level_help;
    case Level::kHost:
      return "Of the hypervisor on each slice, while nobody is resident.";
  }
  return "";
}

absl::string_view CapacityText(Level level) {
  switch (level) {
    case Level::kDevice:
      return "of the device's capacity";
    case Level::kVm:
      return "of the capacity of the VM's slice (of the device, without a slice)";
    case Level::kContext:
      return "of the slice's capacity while the context was resident";
    case Level::kHost:
      return "of the slice's capacity while nobody was resident";
  }
  return "";
}

}  // namespace

std::string CounterHelp(const mailbox::EventInfo& event, Level level) {
  return sideband::CounterHelp(event, LevelHelp(level));
}

std::string UtilisationHelp(const mailbox::EventInfo& event, Level level) {
  const bool has_turns = level == Level::kContext || level == Level::kHost;
  if (has_turns && event.name == mailbox::kResidentCyclesEvent) {
    return absl::StrCat(Description(event), ": share of the slice's time over the last interval, from 0 to 1.");
  }
  return absl::StrCat(Description(event), ": share ", CapacityText(level), " over the last interval, from 0 to 1.");
}

std::string RatioHelp(const RatioSpec& ratio, Level level) {
  return absl::StrCat(ratio.Formula(), " over the last interval, from 0 to 1. ", LevelHelp(level));
}

// Nearly all of a scrape is written here, so room is made once and the pieces are copied without further checks.
void WriteCounters(absl::string_view name, const DeviceFrame& frame, Level level, size_t event, TextBuffer& out) {
  const auto& [rows, label_bytes] = frame.rows(level);
  if (rows.empty()) return;
  const DeviceSnapshot& snapshot = *frame.device().snapshot;
  if (event >= snapshot.data.counters_per_block) return;
  const std::string created_name = absl::StrCat(absl::StripSuffix(name, "_total"), "_created");
  // Twice: each counter may have a _created sample.
  char* at = out.Reserve(2 * (label_bytes + rows.size() * (created_name.size() + kNumberAndEnd)));
  for (const Row& row : rows) {
    if (!(*row.events)[event] || !snapshot.IsShown(row.index, event)) continue;
    at = Put(Put(Put(at, name), *row.labels), "} ");
    at = Put(Put(at, snapshot.Shown(row.index)[event]), "\n");
    if (row.created.empty()) continue;
    at = Put(Put(Put(at, created_name), *row.labels), "} ");
    at = Put(Put(at, row.created), "\n");
  }
  out.Commit(at);
}

void WriteUtilisations(absl::string_view name, const DeviceFrame& frame, Level level, size_t event, TextBuffer& out) {
  const auto& [rows, label_bytes] = frame.rows(level);
  if (rows.empty()) return;
  const DeviceSnapshot& snapshot = *frame.device().snapshot;
  if (event >= snapshot.data.counters_per_block) return;
  char* at = out.Reserve(label_bytes + rows.size() * (name.size() + kNumberAndEnd));
  for (const Row& row : rows) {
    if (!row.utilisation.IsIn(event, *row.events) || !snapshot.IsShown(row.index, event)) continue;
    const auto utilisation = row.utilisation.Of(event);
    if (!utilisation) continue;
    at = Put(Put(Put(at, name), *row.labels), "} ");
    at = Put(PutShare(at, utilisation->value), "\n");
  }
  out.Commit(at);
}

void WriteRatios(absl::string_view name, const DeviceFrame& frame, Level level, const Ratio& ratio, TextBuffer& out) {
  for (const Row& row : frame.rows(level).rows) {
    const auto rates = frame.device().snapshot->Rates(row.index);
    if (rates.empty() || !ratio.IsIn(*row.events)) continue;
    if (MayExceedOne(ratio, frame.device().snapshot->Bounds(row.index))) continue;
    const double value = RatioOf(ratio, rates);
    if (!std::isnan(value)) AppendSample(out, name, *row.labels, NumberText(value));
  }
}

}  // namespace sideband::daemon
