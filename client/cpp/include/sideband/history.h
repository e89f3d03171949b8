// SPDX-License-Identifier: Apache-2.0
//
// Past counters, from the daemon's memory.
//   const auto history = client.GetHistory({.filter = {.vm = "vm1"}, .step = std::chrono::seconds(10)});
//   if (!history) return 1;
//   for (const sideband::HistorySeries& series : history->devices.at(0).series) {
//     for (const sideband::HistoryColumn& column : series.columns) std::cout << column.event << column.counts.back();
//   }
#ifndef SIDEBAND_HISTORY_H_
#define SIDEBAND_HISTORY_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sideband/device.h"
#include "sideband/snapshot.h"
#include "sideband/time.h"

namespace sideband {

struct HistoryRequest {
  Filter filter;
  // By the host's clock, both inclusive. Absent: as far back as the history goes, up to now.
  std::optional<Time> since;
  std::optional<Time> until;
  // The least time between two points. 0: every stored point.
  Duration step{};
};

struct HistoryPoint {
  Time host_time{};
  Duration host_time_error{};
  // Comparable between points of one boot only.
  Duration reference_time{};
  uint32_t snapshot_id = 0;

  bool operator==(const HistoryPoint&) const = default;
};

struct HistoryColumn {
  std::string event;
  // One for each point of the series.
  std::vector<uint64_t> counts;
  // Empty, or parallel to `counts`: as Counter::coverage. 0: the count means nothing. NaN: unknown.
  std::vector<double> coverage;
  // The same of the time since the series' previous point. 0: the difference of the counts means nothing.
  std::vector<double> interval_coverage;
  // Empty, or parallel to `counts`, which then are estimates: what was counted.
  std::vector<uint64_t> lowers;

  bool operator==(const HistoryColumn&) const = default;
};

struct HistoryStatus {
  // Index in DeviceHistory::points: it holds from this point on.
  size_t point = 0;
  ScopeStatus status = ScopeStatus::kUnknown;
  std::vector<std::string> flags;

  bool operator==(const HistoryStatus&) const = default;
};

// One scope between two restarts of its counters. Counts of two series must not be subtracted.
struct HistorySeries {
  Scope scope;
  uint64_t boot_id = 0;
  // Index in DeviceHistory::points of the first point; the series has consecutive ones, as many as a column has counts.
  size_t first_point = 0;
  std::vector<HistoryColumn> columns;
  std::vector<HistoryStatus> statuses;

  bool operator==(const HistorySeries&) const = default;
};

// All indices are within `points`.
struct DeviceHistory {
  std::string device;
  // The oldest point in the caller's history, requested or not.
  std::optional<Time> oldest;
  // In chronological order.
  std::vector<HistoryPoint> points;
  std::vector<HistorySeries> series;

  bool operator==(const DeviceHistory&) const = default;
};

struct History {
  std::vector<DeviceHistory> devices;
  // Longer than the requested one if the answer would have been too large. Absent: every stored point.
  std::optional<Duration> step;

  bool operator==(const History&) const = default;
};

}  // namespace sideband

#endif  // SIDEBAND_HISTORY_H_
