// SPDX-License-Identifier: Apache-2.0
//
// Building blocks of the two text formats scraped by Prometheus: its own format 0.0.4
// (https://prometheus.io/docs/instrumenting/exposition_formats/) and OpenMetrics 1.0
// (https://prometheus.io/docs/specs/om/open_metrics_spec/).
//   AppendLabel(labels, "vm", vm.name);   // vm="render farm \"7\""
#ifndef SIDEBAND_PROTO_EXPOSITION_TEXT_H_
#define SIDEBAND_PROTO_EXPOSITION_TEXT_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"

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

}  // namespace sideband

#endif  // SIDEBAND_PROTO_EXPOSITION_TEXT_H_
