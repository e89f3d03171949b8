// SPDX-License-Identifier: Apache-2.0
#include "proto/exposition/family_names.h"

#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"

namespace sideband {
namespace {

// The daemon's own families that begin with a level; //tests/lint:metrics_test compares.
constexpr absl::string_view kOwnStems[] = {
    "context_event_coverage_ratio",
    "context_event_lower",
    "context_event_standard_error",
    "context_event_upper",
    "context_flags",
    "context_gate_coverage_ratio",
    "device_clock_hertz",
    "device_complete",
    "device_disabled",
    "device_event_coverage_ratio",
    "device_event_lower",
    "device_event_standard_error",
    "device_event_upper",
    "device_flags",
    "device_gate_coverage_ratio",
    "device_info",
    "device_reference_seconds",
    "device_up",
    "host_clock_error_bound_seconds",
    "host_event_coverage_ratio",
    "host_event_lower",
    "host_event_standard_error",
    "host_event_upper",
    "host_flags",
    "host_gate_coverage_ratio",
    "vm_event_coverage_ratio",
    "vm_event_lower",
    "vm_event_standard_error",
    "vm_event_upper",
    "vm_flags",
    "vm_gate_coverage_ratio",
    "vm_info",
};

using Names = absl::flat_hash_set<std::string>;

// The own names without their level: an event has the same name at all levels.
Names OwnNames() {
  Names names;
  for (const absl::string_view stem : kOwnStems) names.emplace(stem.substr(stem.find('_') + 1));
  return names;
}

// A counter's name without _total. OpenMetrics names the family like that, and derives _created from it: a stem with
// one of these suffixes could be another family, also one of another device.
std::string CounterStem(const std::string& event) {
  const absl::string_view stem = absl::StripSuffix(event, "_total");
  const bool is_ambiguous =
      absl::EndsWith(stem, "_ratio") || absl::EndsWith(stem, "_created") || absl::EndsWith(stem, "_total");
  return absl::StrCat(stem, is_ambiguous ? "_count" : "");
}

}  // namespace

std::vector<std::string> CounterNames(const std::vector<mailbox::EventInfo>& events) {
  Names taken = OwnNames();
  std::vector<std::string> names;
  for (const mailbox::EventInfo& event : events) {
    std::string stem = CounterStem(event.name);
    while (!taken.insert(stem).second) stem = absl::StrCat("event_", stem);
    names.push_back(absl::StrCat(stem, "_total"));
  }
  return names;
}

std::string RatioName(absl::string_view name) { return absl::StrCat(name, "_ratio"); }

std::string FamilyName(absl::string_view level, absl::string_view name) {
  return absl::StrCat("sideband_", level, "_", name);
}

std::string FamilyHeader(MetricsFormat format, const FamilyText& family) {
  return FamilyHeader(format, family.name, family.type, family.help);
}

std::string CounterHelp(const mailbox::EventInfo& event, absl::string_view level_help) {
  const absl::string_view description = event.description.empty() ? event.name : event.description;
  const std::string unit = event.unit.empty() ? "" : absl::StrCat(" (unit: ", event.unit, ")");
  return absl::StrCat(absl::StripSuffix(description, "."), unit, ". ", level_help);
}

std::string SecondsText(uint64_t time_ns) {
  return absl::StrFormat("%d.%09d", time_ns / 1'000'000'000, time_ns % 1'000'000'000);
}

}  // namespace sideband
