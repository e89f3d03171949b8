// SPDX-License-Identifier: Apache-2.0
//
// Pieces of the two text formats that Prometheus scrapes: its own, 0.0.4
// (https://prometheus.io/docs/instrumenting/exposition_formats/), and OpenMetrics 1.0
// (https://prometheus.io/docs/specs/om/open_metrics_spec/).
//   AppendLabel(labels, "vm", vm.name);   →   vm="render farm \"7\""
#ifndef SIDEBAND_DAEMON_EXPOSITION_TEXT_H_
#define SIDEBAND_DAEMON_EXPOSITION_TEXT_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace sideband::daemon {

enum class MetricsFormat : uint8_t { kText, kOpenMetrics };
inline constexpr MetricsFormat kMetricsFormats[] = {MetricsFormat::kText, MetricsFormat::kOpenMetrics};

// The value of Content-Type.
absl::string_view ContentTypeOf(MetricsFormat format);

enum class MetricType : uint8_t { kCounter, kGauge, kHistogram };

// NAME="VALUE" with the value escaped, after a comma unless `out` is at the start of a label list ("" or "{").
void AppendLabel(std::string& out, absl::string_view name, absl::string_view value);

// The # HELP and # TYPE lines of the family with samples `name`: OpenMetrics leaves out the _total of a counter there.
// What is not printable ASCII in `help` becomes '?': it may come from a device.
std::string FamilyHeader(MetricsFormat format, absl::string_view name, MetricType type, absl::string_view help);

// The shortest form that reads back as the same number; "NaN", "+Inf" and "-Inf" as both formats have them.
std::string NumberText(double value);

// Seconds of the Unix epoch, to the millisecond.
std::string TimeText(absl::Time time);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_EXPOSITION_TEXT_H_
