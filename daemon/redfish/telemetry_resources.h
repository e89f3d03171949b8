// SPDX-License-Identifier: Apache-2.0
//
// The telemetry service (DSP2046), its fixed definitions of reports, and reports.
//   MetricReport report(*FindReport("Counters"));
//   SIDEBAND_RETURN_IF_ERROR(report.Add(CounterMetricValue(snapshot, scope, counter)));
//   Show(std::move(report).Json(clock.Now()));
#ifndef SIDEBAND_DAEMON_REDFISH_TELEMETRY_RESOURCES_H_
#define SIDEBAND_DAEMON_REDFISH_TELEMETRY_RESOURCES_H_

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace sideband::daemon {

// Bounds an answer: with short names some 6 MB.
inline constexpr size_t kMetricValuesMax = 20'000;

enum class ReportKind : uint8_t { kBoardSensors, kCounters, kPartitions };

struct ReportRow {
  ReportKind kind;
  const char* id;  // of the report, and of its definition
  const char* name;
};

inline constexpr ReportRow kReports[] = {
    {ReportKind::kBoardSensors, "BoardSensors", "Sensors of boards"},
    {ReportKind::kCounters, "Counters", "Counters of devices, VMs and contexts"},
    {ReportKind::kPartitions, "Partitions", "Metrics of boards' partitions"},
};

// nullptr if there is none.
const ReportRow* FindReport(absl::string_view id);
std::vector<std::string> ReportIds();

nlohmann::json TelemetryServiceJson();
nlohmann::json ReportDefinitionJson(const ReportRow& row);

// A report as it grows. Not thread-safe.
class MetricReport {
 public:
  // `row` is one of kReports.
  explicit MetricReport(const ReportRow& row) : row_(row) {}

  // RESOURCE_EXHAUSTED where the report has kMetricValuesMax values: a part of them would look like all.
  absl::Status Add(nlohmann::json value);
  nlohmann::json Json(absl::Time now) &&;

 private:
  const ReportRow& row_;
  nlohmann::json values_ = nlohmann::json::array();
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_REDFISH_TELEMETRY_RESOURCES_H_
