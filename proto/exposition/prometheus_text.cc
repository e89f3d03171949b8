// SPDX-License-Identifier: Apache-2.0
#include "proto/exposition/prometheus_text.h"

#include <charconv>
#include <cmath>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"

namespace sideband {
namespace {

void AppendEscaped(std::string& out, absl::string_view value) {
  for (const char c : value) {
    if (c == '\n') {
      out += "\\n";
      continue;
    }
    if (c == '\\' || c == '"') out += '\\';
    out += c;
  }
}

absl::string_view NameOf(MetricType type) {
  constexpr absl::string_view kNames[] = {"counter", "gauge", "histogram"};
  return kNames[static_cast<size_t>(type)];
}

// Only OpenMetrics escapes quotes in help texts.
void AppendHelp(std::string& out, MetricsFormat format, absl::string_view help) {
  for (const char c : help) {
    if (c == '\\' || (c == '"' && format == MetricsFormat::kOpenMetrics)) out += '\\';
    // Descriptions come from a device: a line feed would end the HELP line and begin one of its own.
    out += absl::ascii_isprint(c) ? c : '?';
  }
}

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

absl::string_view ContentTypeOf(MetricsFormat format) {
  return format == MetricsFormat::kText ? "text/plain; version=0.0.4; charset=utf-8"
                                        : "application/openmetrics-text; version=1.0.0; charset=utf-8";
}

void AppendLabel(std::string& out, absl::string_view name, absl::string_view value) {
  if (!out.empty() && out.back() != '{') out += ',';
  absl::StrAppend(&out, name, "=\"");
  AppendEscaped(out, value);
  out += '"';
}

std::string FamilyHeader(MetricsFormat format, absl::string_view name, MetricType type, absl::string_view help) {
  // OpenMetrics' metadata name the family of a counter, without the suffix of its samples.
  if (format == MetricsFormat::kOpenMetrics && type == MetricType::kCounter) absl::ConsumeSuffix(&name, "_total");
  std::string out = absl::StrCat("# HELP ", name, " ");
  AppendHelp(out, format, help);
  absl::StrAppend(&out, "\n# TYPE ", name, " ", NameOf(type), "\n");
  return out;
}

std::string CreatedName(absl::string_view counter) {
  return absl::StrCat(absl::StripSuffix(counter, "_total"), "_created");
}

std::string NumberText(double value) {
  // Both formats demand these spellings; to_chars would write nan and inf.
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  char digits[32];  // the shortest form of a double has at most 24 characters
  return std::string(digits, std::to_chars(digits, digits + sizeof(digits), value).ptr);
}

std::string ValueText(double value) {
  constexpr double kExactMax = 9'007'199'254'740'992;  // 2^53
  if (std::abs(value) <= kExactMax && std::trunc(value) == value) return absl::StrCat(static_cast<int64_t>(value));
  return NumberText(value);
}

std::string TimeText(absl::Time time) {
  const int64_t milliseconds = absl::ToUnixMillis(time);
  return absl::StrFormat("%d.%03d", milliseconds / 1000, milliseconds % 1000);
}

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
