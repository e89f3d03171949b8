// SPDX-License-Identifier: Apache-2.0
#include "client/cpp/snapshot_values.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/lib/rpc_status.h"
#include "proto/base/event_name.h"
#include "proto/base/text.h"
#include "sideband/client.h"

namespace sideband {

const Counter* ScopeCounters::Find(std::string_view event) const {
  return FindEvent(absl::string_view(event.data(), event.size()), [this](const std::string& exact) {
    const auto found = std::ranges::find(counters, exact, &Counter::event);
    return found == counters.end() ? nullptr : &*found;
  });
}

}  // namespace sideband

namespace sideband::library {
namespace {

constexpr int64_t kNanosPerSecond = 1'000'000'000;
constexpr int64_t kSecondsMax = std::numeric_limits<int64_t>::max() / kNanosPerSecond - 1;

// Whether seconds and nanoseconds fit 64 bits of nanoseconds.
bool Fits(int64_t seconds, int32_t nanos) {
  return seconds >= -kSecondsMax && seconds <= kSecondsMax && nanos > -kNanosPerSecond && nanos < kNanosPerSecond;
}

ErrorCode CodeOf(const absl::Status& status) {
  if (client::IsTooLarge(status)) return ErrorCode::kProtocol;
  switch (status.code()) {
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kOutOfRange:
      return ErrorCode::kInvalidArgument;
    case absl::StatusCode::kNotFound:
      return ErrorCode::kNotFound;
    case absl::StatusCode::kUnauthenticated:
      return ErrorCode::kUnauthenticated;
    case absl::StatusCode::kPermissionDenied:
      return ErrorCode::kPermissionDenied;
    case absl::StatusCode::kFailedPrecondition:
    case absl::StatusCode::kAlreadyExists:
      return ErrorCode::kFailedPrecondition;
    case absl::StatusCode::kResourceExhausted:
      return ErrorCode::kResourceExhausted;
    case absl::StatusCode::kUnavailable:
      return ErrorCode::kUnavailable;
    case absl::StatusCode::kDeadlineExceeded:
      return ErrorCode::kDeadlineExceeded;
    case absl::StatusCode::kCancelled:
      return ErrorCode::kCancelled;
    case absl::StatusCode::kAborted:
      return ErrorCode::kAborted;
    case absl::StatusCode::kUnimplemented:
      return ErrorCode::kUnimplemented;
    case absl::StatusCode::kDataLoss:
      return ErrorCode::kProtocol;
    default:
      return ErrorCode::kInternal;
  }
}

EventScope ValueOf(v1::Event::Scope scope) {
  switch (scope) {
    case v1::Event::SCOPE_CONTEXT:
      return EventScope::kContext;
    case v1::Event::SCOPE_DEVICE:
      return EventScope::kDevice;
    default:
      return EventScope::kUnknown;
  }
}

EventCounting ValueOf(v1::Event::Counting counting) {
  switch (counting) {
    case v1::Event::COUNTING_FIXED:
      return EventCounting::kFixed;
    case v1::Event::COUNTING_ROTATED:
      return EventCounting::kRotated;
    case v1::Event::COUNTING_DERIVED:
      return EventCounting::kDerived;
    default:
      return EventCounting::kUnknown;
  }
}

Event ValueOf(const v1::Event& event) {
  Event value{.name = event.name(),
              .unit = event.unit(),
              .scope = ValueOf(event.scope()),
              .description = event.description(),
              .masked = event.masked(),
              .counting = ValueOf(event.counting())};
  if (event.has_gate_group()) value.gate_group = event.gate_group();
  return value;
}

EstimateMethod ValueOf(v1::Estimate::Method method) {
  switch (method) {
    case v1::Estimate::METHOD_RANDOM_TURNS:
      return EstimateMethod::kRandomTurns;
    case v1::Estimate::METHOD_MODEL:
      return EstimateMethod::kModel;
    case v1::Estimate::METHOD_COUNTED:
      return EstimateMethod::kCounted;
    default:
      return EstimateMethod::kUnknown;
  }
}

Estimate ValueOf(const v1::Estimate& estimate, Bounds& bounds) {
  Estimate value{.lower = estimate.lower(),
                 .time_enabled = bounds.NanosecondsOf(estimate.time_enabled_ns(), "time_enabled_ns"),
                 .time_running = bounds.NanosecondsOf(estimate.time_running_ns(), "time_running_ns"),
                 .method = ValueOf(estimate.method())};
  if (estimate.has_standard_error()) value.standard_error = estimate.standard_error();
  if (estimate.has_upper()) value.upper = estimate.upper();
  return value;
}

Counter ValueOf(const v1::Counter& counter, Bounds& bounds) {
  Counter value{.event = counter.event(), .count = counter.count()};
  if (counter.has_rate_per_second()) value.rate_per_second = counter.rate_per_second();
  if (counter.has_coverage()) value.coverage = counter.coverage();
  if (counter.has_rate_coverage()) value.rate_coverage = counter.rate_coverage();
  if (counter.has_estimate()) value.estimate = ValueOf(counter.estimate(), bounds);
  return value;
}

Ratio ValueOf(const v1::Ratio& ratio) {
  return {.name = ratio.name(),
          .formula = ratio.formula(),
          .numerator_per_second = ratio.numerator_per_second(),
          .denominator_per_second = ratio.denominator_per_second(),
          .value = ratio.value(),
          .event = ratio.event()};
}

ScopeCounters ValueOf(const v1::ScopeCounters& row, Bounds& bounds) {
  ScopeCounters value{.scope = library::ValueOf(row.scope()),
                      .status = library::ValueOf(row.state()),
                      .flags = ValuesOf(row.flags()),
                      .counters = ValuesOf(row.counters(), bounds)};
  if (!bounds.AddCounters(row.ratios_size())) return value;
  for (const v1::Ratio& ratio : row.ratios()) value.ratios.push_back(ValueOf(ratio));
  return value;
}

// All but the rows.
Snapshot HeaderOf(const v1::Snapshot& snapshot, Bounds& bounds) {
  Snapshot value{.device = snapshot.device(),
                 .boot_id = snapshot.boot_id(),
                 .snapshot_id = snapshot.snapshot_id(),
                 .trigger_id = snapshot.trigger_id(),
                 .reference_time = bounds.NanosecondsOf(snapshot.reference_time_ns(), "reference_time_ns"),
                 .host_time = bounds.TimeOf(snapshot.host_time(), "host_time"),
                 .host_time_error = bounds.DurationOf(snapshot.host_time_error(), "host_time_error"),
                 .device_state = library::ValueOf(snapshot.device_state())};
  if (snapshot.has_age()) value.age = bounds.DurationOf(snapshot.age(), "age");
  if (snapshot.has_elapsed()) value.elapsed = bounds.DurationOf(snapshot.elapsed(), "elapsed");
  if (snapshot.has_host_utc_error()) {
    value.host_utc_error = bounds.DurationOf(snapshot.host_utc_error(), "host_utc_error");
  }
  return value;
}

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

Time Bounds::TimeOf(const google::protobuf::Timestamp& time, absl::string_view what) {
  if (Fits(time.seconds(), time.nanos()) && time.nanos() >= 0) {
    return Time(std::chrono::seconds(time.seconds()) + std::chrono::nanoseconds(time.nanos()));
  }
  Refuse(absl::StrCat(what, " is out of range: ", time.seconds(), " s, ", time.nanos(), " ns"));
  return {};
}

Duration Bounds::DurationOf(const google::protobuf::Duration& duration, absl::string_view what) {
  if (Fits(duration.seconds(), duration.nanos())) {
    return std::chrono::seconds(duration.seconds()) + std::chrono::nanoseconds(duration.nanos());
  }
  Refuse(absl::StrCat(what, " is out of range: ", duration.seconds(), " s, ", duration.nanos(), " ns"));
  return {};
}

Duration Bounds::NanosecondsOf(uint64_t nanoseconds, absl::string_view what) {
  if (nanoseconds <= static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
    return std::chrono::nanoseconds(static_cast<int64_t>(nanoseconds));
  }
  Refuse(absl::StrCat(what, " is out of range: ", nanoseconds, " ns"));
  return {};
}

bool Bounds::AddScopes(size_t scopes) { return Add(scopes, kScopesMax, "scopes", scopes_); }

bool Bounds::AddCounters(size_t counters) { return Add(counters, kCountersMax, "counters", counters_); }

bool Bounds::AddDevices(size_t devices) { return Add(devices, kDevicesMax, "devices", devices_); }

bool Bounds::Add(size_t more, size_t max, absl::string_view what, size_t& total) {
  total += more;
  if (total <= max) return true;
  Refuse(absl::StrCat("an answer has ", total, " ", what, " or more; this library accepts ", max));
  return false;
}

void Bounds::Refuse(const std::string& reason) {
  if (status_.ok()) status_ = absl::DataLossError(reason);
}

google::protobuf::Duration ToMessage(Duration duration) {
  google::protobuf::Duration message;
  message.set_seconds(duration.count() / kNanosPerSecond);
  message.set_nanos(static_cast<int32_t>(duration.count() % kNanosPerSecond));
  return message;
}

google::protobuf::Timestamp ToMessage(Time time) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(time);
  google::protobuf::Timestamp message;
  message.set_seconds(seconds.time_since_epoch().count());
  message.set_nanos(static_cast<int32_t>((time - seconds).count()));
  return message;
}

Error ErrorOf(const absl::Status& status) { return {CodeOf(status), Visible(status.message())}; }

DeviceState ValueOf(v1::Device::State state) {
  switch (state) {
    case v1::Device::STATE_FRESH:
      return DeviceState::kFresh;
    case v1::Device::STATE_STALE:
      return DeviceState::kStale;
    case v1::Device::STATE_AWAY:
      return DeviceState::kAway;
    default:
      return DeviceState::kUnknown;
  }
}

Device ValueOf(const v1::Device& device, Bounds& bounds) {
  Device value{.name = device.name(),
               .uuid = device.uuid(),
               .boot_id = device.boot_id(),
               .state = ValueOf(device.state()),
               .interval = bounds.DurationOf(device.interval(), "interval"),
               .reference_clock_hz = device.reference_clock_hz()};
  for (const int kind : device.kinds()) {
    value.has_counters |= kind == v1::Device::KIND_COUNTERS;
    value.has_board |= kind == v1::Device::KIND_BOARD;
  }
  return value;
}

Scope ValueOf(const v1::Scope& scope) {
  Scope value{.device = scope.device(),
              .vm = scope.vm(),
              .vm_uuid = scope.vm_uuid(),
              .context = scope.context(),
              .generation = scope.generation(),
              .confidential = scope.confidential(),
              .host = scope.host()};
  if (scope.has_slice()) value.slice = scope.slice();
  return value;
}

std::vector<Device> ValuesOf(const v1::ListDevicesResponse& response, Bounds& bounds) {
  std::vector<Device> values;
  if (!bounds.AddDevices(response.devices_size())) return values;
  for (const v1::Device& device : response.devices()) values.push_back(ValueOf(device, bounds));
  return values;
}

std::vector<DeviceEvents> ValuesOf(const v1::ListEventsResponse& response, Bounds& bounds) {
  std::vector<DeviceEvents> values;
  if (!bounds.AddDevices(response.devices_size())) return values;
  for (const auto& device : response.devices()) {
    if (!bounds.AddCounters(device.events_size())) return values;
    DeviceEvents& value = values.emplace_back();
    value.device = device.device();
    for (const v1::Event& event : device.events()) value.events.push_back(ValueOf(event));
  }
  return values;
}

std::vector<Scope> ValuesOf(const v1::ListScopesResponse& response, Bounds& bounds) {
  std::vector<Scope> values;
  if (!bounds.AddScopes(response.scopes_size())) return values;
  for (const v1::Scope& scope : response.scopes()) values.push_back(ValueOf(scope));
  return values;
}

v1::Filter ToMessage(const Filter& filter) {
  v1::Filter message;
  message.set_device(filter.device);
  message.set_vm(filter.vm);
  message.set_context(filter.context);
  for (const std::string& event : filter.events) message.add_events(event);
  return message;
}

std::string ScopeText(const Scope& scope) {
  if (scope.host) return absl::StrCat(scope.device, ": host of slice ", scope.slice.value_or(0));
  return absl::StrCat(scope.device, scope.vm.empty() ? "" : ": ", scope.vm, scope.context.empty() ? "" : "/",
                      scope.context);
}

std::string ScopeKey(const Scope& scope) {
  std::string key = scope.host ? "host" : "vm";
  key += scope.slice ? std::to_string(*scope.slice) : "-";
  for (const std::string* name : {&scope.vm_uuid, &scope.vm, &scope.context}) {
    key += ':' + std::to_string(name->size()) + ':' + *name;
  }
  return key;
}

ScopeStatus ValueOf(v1::ScopeCounters::State state) {
  switch (state) {
    case v1::ScopeCounters::STATE_ACTIVE:
      return ScopeStatus::kActive;
    case v1::ScopeCounters::STATE_IDLE:
      return ScopeStatus::kIdle;
    case v1::ScopeCounters::STATE_RETIRED:
      return ScopeStatus::kRetired;
    default:
      return ScopeStatus::kUnknown;
  }
}

std::vector<std::string> ValuesOf(const google::protobuf::RepeatedPtrField<std::string>& texts) {
  return {texts.begin(), texts.end()};
}

std::vector<Counter> ValuesOf(const google::protobuf::RepeatedPtrField<v1::Counter>& counters, Bounds& bounds) {
  std::vector<Counter> values;
  if (!bounds.AddCounters(counters.size())) return values;
  values.reserve(counters.size());
  for (const v1::Counter& counter : counters) values.push_back(ValueOf(counter, bounds));
  return values;
}

Snapshot ValueOf(const v1::Snapshot& snapshot, Bounds& bounds) {
  Snapshot value = HeaderOf(snapshot, bounds);
  if (!bounds.AddScopes(snapshot.scopes_size())) return value;
  value.scopes.reserve(snapshot.scopes_size());
  for (const v1::ScopeCounters& row : snapshot.scopes()) value.scopes.push_back(ValueOf(row, bounds));
  return value;
}

std::vector<Snapshot> ValuesOf(const v1::GetSnapshotResponse& response, Bounds& bounds) {
  std::vector<Snapshot> values;
  if (!bounds.AddDevices(response.snapshots_size())) return values;
  for (const v1::Snapshot& snapshot : response.snapshots()) values.push_back(ValueOf(snapshot, bounds));
  return values;
}

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
