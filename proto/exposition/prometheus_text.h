// SPDX-License-Identifier: Apache-2.0
//
// Prometheus' two text formats: 0.0.4 (https://prometheus.io/docs/instrumenting/exposition_formats/) and
// OpenMetrics 1.0 (https://prometheus.io/docs/specs/om/open_metrics_spec/). Labels, headers and numbers of both; and
// names, types and HELP of the families of events, and of those that both the daemon's exposition and that of a guest
// (client/cli/export_command.h) have, so that a query works on either.
//   AppendLabel(labels, "vm", vm.name);   // vm="render farm \"7\""
//
//   const std::vector<std::string> names = CounterNames(catalog.events);
//   out += FamilyHeader(MetricsFormat::kText, kVmFamilies.flags);
//   out += FamilyHeader(MetricsFormat::kText, FamilyName("vm", names[event]), MetricType::kCounter,
//                       CounterHelp(catalog.events[event], kVmFamilies.level_help));   // sideband_vm_dram_bytes_total
#ifndef SIDEBAND_PROTO_EXPOSITION_PROMETHEUS_TEXT_H_
#define SIDEBAND_PROTO_EXPOSITION_PROMETHEUS_TEXT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "proto/mailbox/catalog.h"

namespace sideband {

enum class MetricsFormat : uint8_t { kText, kOpenMetrics };
inline constexpr MetricsFormat kMetricsFormats[] = {MetricsFormat::kText, MetricsFormat::kOpenMetrics};

// The value of the HTTP header Content-Type.
absl::string_view ContentTypeOf(MetricsFormat format);

enum class MetricType : uint8_t { kCounter, kGauge, kHistogram };

// Appends NAME="VALUE" with the value escaped, preceded by a comma unless `out` is the start of a label list ("" or
// "{").
void AppendLabel(std::string& out, absl::string_view name, absl::string_view value);

// Returns the # HELP and # TYPE lines of the family with samples `name`. OpenMetrics omits a counter's _total there.
// Characters of `help` other than printable ASCII become '?', since the text may come from a device.
std::string FamilyHeader(MetricsFormat format, absl::string_view name, MetricType type, absl::string_view help);

// Returns the name of the sample that says since when a counter counts ("x_created" of "x_total"): OpenMetrics only.
std::string CreatedName(absl::string_view counter);

// Returns the shortest form that parses to the same number; "NaN", "+Inf" and "-Inf" as in both formats.
std::string NumberText(double value);

// Returns whole numbers, such as hertz and bytes, without an exponent; others as NumberText does.
std::string ValueText(double value);

// Seconds since the Unix epoch, with milliseconds.
std::string TimeText(absl::Time time);

// One for each event, without "sideband_" and level: "dram_bytes_total". Event names are chosen by the device, and a
// repeated family would invalidate the whole scrape. Therefore "event_" is inserted before a name that is used, at any
// level, by an earlier event or the daemon itself, and "_count" after a name that ends in _ratio, _created or a second
// _total. An event that ends in _total is not extended.
std::vector<std::string> CounterNames(const std::vector<mailbox::EventInfo>& events);

// "tensor_active_ratio": of a configured ratio or a utilisation. No counter has such a name.
std::string RatioName(absl::string_view name);

// "sideband_vm_" and the name.
std::string FamilyName(absl::string_view level, absl::string_view name);

struct FamilyText {
  const char* name;
  MetricType type;
  const char* help;
};

std::string FamilyHeader(MetricsFormat format, const FamilyText& family);

// HELP of an event's counter. `level_help` says what the rows are.
std::string CounterHelp(const mailbox::EventInfo& event, absl::string_view level_help);

inline constexpr char kTurnsCoverageHelp[] =
    "Share of the row's time in which an event that takes turns was counted, since its counters were created.";
inline constexpr char kTurnsLowerHelp[] = "What was counted of an event that takes turns: the truth is not below it.";
inline constexpr char kTurnsErrorHelp[] = "Standard error of the estimate of an event that takes turns.";
inline constexpr char kTurnsUpperHelp[] = "Bound of an event that takes turns: the truth is not above it.";

// The families of a level beside its counters.
struct RowFamilies {
  const char* level;
  const char* level_help;
  FamilyText event_coverage;
  FamilyText event_lower;
  FamilyText event_standard_error;
  FamilyText event_upper;
  FamilyText flags;
};

inline constexpr RowFamilies kVmFamilies = {
    .level = "vm",
    .level_help = "Of each VM.",
    .event_coverage = {"sideband_vm_event_coverage_ratio", MetricType::kGauge, kTurnsCoverageHelp},
    .event_lower = {"sideband_vm_event_lower_total", MetricType::kCounter, kTurnsLowerHelp},
    .event_standard_error = {"sideband_vm_event_standard_error", MetricType::kGauge, kTurnsErrorHelp},
    .event_upper = {"sideband_vm_event_upper_total", MetricType::kCounter, kTurnsUpperHelp},
    .flags = {"sideband_vm_flags", MetricType::kGauge, "1 for each reason why counts of a VM may be inexact."},
};

inline constexpr RowFamilies kContextFamilies = {
    .level = "context",
    .level_help = "Of each context.",
    .event_coverage = {"sideband_context_event_coverage_ratio", MetricType::kGauge, kTurnsCoverageHelp},
    .event_lower = {"sideband_context_event_lower_total", MetricType::kCounter, kTurnsLowerHelp},
    .event_standard_error = {"sideband_context_event_standard_error", MetricType::kGauge, kTurnsErrorHelp},
    .event_upper = {"sideband_context_event_upper_total", MetricType::kCounter, kTurnsUpperHelp},
    .flags = {"sideband_context_flags", MetricType::kGauge,
              "1 for each reason why counts of a context may be inexact."},
};

inline constexpr FamilyText kReferenceSecondsFamily = {
    "sideband_device_reference_seconds_total", MetricType::kCounter,
    "Time of the device's reference clock since its boot, at the newest snapshot."};
inline constexpr FamilyText kSampleTimestampFamily = {
    "sideband_sample_timestamp_seconds", MetricType::kGauge,
    "When the newest snapshot of the device was latched, by the host's clock, since 1970."};

// Seconds with all digits of `time_ns`, as kReferenceSecondsFamily has them.
std::string SecondsText(uint64_t time_ns);

}  // namespace sideband

#endif  // SIDEBAND_PROTO_EXPOSITION_PROMETHEUS_TEXT_H_
