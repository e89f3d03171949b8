// SPDX-License-Identifier: Apache-2.0
#include "client/cpp/history_values.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "client/cpp/device_values.h"
#include "client/cpp/snapshot_values.h"

namespace sideband::library {
namespace {

template <typename T>
std::vector<T> NumbersOf(const google::protobuf::RepeatedField<T>& numbers) {
  return {numbers.begin(), numbers.end()};
}

// Whether the list is absent, or has one number for each count.
template <typename T>
bool IsParallel(const std::vector<T>& list, const HistoryColumn& column) {
  return list.empty() || list.size() == column.counts.size();
}

// Converts what one device has: indices are of its points and events.
class DeviceConversion {
 public:
  DeviceConversion(const v1::DeviceHistory& history, Bounds& bounds) : history_(history), bounds_(bounds) {}

  DeviceHistory Convert() {
    DeviceHistory value{.device = history_.device()};
    if (history_.has_oldest()) value.oldest = bounds_.TimeOf(history_.oldest(), "oldest");
    for (const v1::HistoryPoint& point : history_.points()) value.points.push_back(Point(point));
    for (const v1::HistorySeries& series : history_.series()) {
      if (!bounds_.AddScopes(1)) break;
      value.series.push_back(Series(series));
    }
    return value;
  }

 private:
  HistoryPoint Point(const v1::HistoryPoint& point) {
    return {.host_time = bounds_.TimeOf(point.host_time(), "host_time"),
            .host_time_error = bounds_.DurationOf(point.host_time_error(), "host_time_error"),
            .reference_time = bounds_.NanosecondsOf(point.reference_time_ns(), "reference_time_ns"),
            .snapshot_id = point.snapshot_id()};
  }

  HistorySeries Series(const v1::HistorySeries& series) {
    HistorySeries value{
        .scope = library::ValueOf(series.scope()), .boot_id = series.boot_id(), .first_point = series.first_point()};
    if (!bounds_.AddCounters(series.columns_size())) return value;
    for (const v1::HistoryColumn& column : series.columns()) value.columns.push_back(Column(series, column));
    for (const v1::HistoryStatus& status : series.statuses()) value.statuses.push_back(Status(status));
    return value;
  }

  HistoryColumn Column(const v1::HistorySeries& series, const v1::HistoryColumn& column) {
    HistoryColumn value{.counts = NumbersOf(column.counts()), .lowers = NumbersOf(column.lowers())};
    if (column.has_coverage()) {
      value.coverage = NumbersOf(column.coverage().of_counts());
      value.interval_coverage = NumbersOf(column.coverage().of_intervals());
    }
    if (column.event() < static_cast<uint32_t>(history_.events_size())) {
      value.event = history_.events(static_cast<int>(column.event()));
    } else {
      Refuse("an event that is not listed", column.event());
    }
    if (uint64_t{series.first_point()} + value.counts.size() > static_cast<size_t>(history_.points_size())) {
      Refuse("a series beyond the last point", series.first_point());
    }
    if (!IsParallel(value.coverage, value) || !IsParallel(value.interval_coverage, value) ||
        !IsParallel(value.lowers, value)) {
      Refuse("a column of unequal lengths", column.event());
    }
    return value;
  }

  HistoryStatus Status(const v1::HistoryStatus& status) {
    if (status.point() >= static_cast<uint32_t>(history_.points_size())) {
      Refuse("a status beyond the last point", status.point());
    }
    return {.point = status.point(), .status = library::ValueOf(status.state()), .flags = ValuesOf(status.flags())};
  }

  void Refuse(absl::string_view what, uint32_t index) {
    bounds_.Refuse(absl::StrCat(history_.device(), ": the history has ", what, ", ", index));
  }

  const v1::DeviceHistory& history_;
  Bounds& bounds_;
};

}  // namespace

History ValueOf(const v1::GetHistoryResponse& response, Bounds& bounds) {
  History value;
  if (response.has_step()) value.step = bounds.DurationOf(response.step(), "step");
  if (!bounds.AddDevices(response.devices_size())) return value;
  for (const v1::DeviceHistory& device : response.devices()) {
    value.devices.push_back(DeviceConversion(device, bounds).Convert());
  }
  return value;
}

v1::GetHistoryRequest ToMessage(const HistoryRequest& request) {
  v1::GetHistoryRequest message;
  *message.mutable_filter() = ToMessage(request.filter);
  if (request.since) *message.mutable_since() = ToMessage(*request.since);
  if (request.until) *message.mutable_until() = ToMessage(*request.until);
  if (request.step > Duration::zero()) *message.mutable_step() = ToMessage(request.step);
  return message;
}

}  // namespace sideband::library
