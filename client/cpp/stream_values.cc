// SPDX-License-Identifier: Apache-2.0
#include "client/cpp/stream_values.h"

#include "client/cpp/snapshot_values.h"

namespace sideband::library {
namespace {

// The API's own bounds.
constexpr Duration kIntervalMin = std::chrono::milliseconds(10);
constexpr Duration kHeartbeatMin = std::chrono::seconds(1);
constexpr Duration kLongest = std::chrono::hours(24);
constexpr size_t kTokenBytesMax = 32768;

GapReason ValueOf(v1::Gap::Reason reason) {
  switch (reason) {
    case v1::Gap::REASON_UNKNOWN_TOKEN:
      return GapReason::kUnknownToken;
    case v1::Gap::REASON_POLICY_CHANGED:
      return GapReason::kPolicyChanged;
    case v1::Gap::REASON_REBOOTED:
      return GapReason::kRebooted;
    case v1::Gap::REASON_NOT_KEPT:
      return GapReason::kNotKept;
    case v1::Gap::REASON_STATE_CHANGED:
      return GapReason::kStateChanged;
    case v1::Gap::REASON_GONE:
      return GapReason::kGone;
    case v1::Gap::REASON_APPEARED:
      return GapReason::kAppeared;
    default:
      return GapReason::kUnknown;
  }
}

BoardEvent ValueOf(const v1::WatchBoardEventsResponse& event, Bounds& bounds) {
  BoardEvent value{.device = event.device()};
  if (event.has_driver_message()) {
    const v1::DriverMessage& message = event.driver_message();
    value.event = DriverMessage{.xid = message.xid(),
                                .sequence = message.sequence(),
                                .time = bounds.TimeOf(message.time(), "time"),
                                .text = message.text(),
                                .text_truncated = message.text_truncated(),
                                .later_lost = message.later_lost()};
  } else if (event.has_raised()) {
    value.event = RaisedEvent{.name = event.raised().name(), .count = event.raised().count()};
  } else if (event.event_case() == v1::WatchBoardEventsResponse::kMessagesLost) {
    value.event = LostMessages{.count = event.messages_lost()};
  }
  return value;
}

StateItem ValueOf(const v1::StateItem& item, Bounds& bounds) {
  StateItem value{.gone = item.gone()};
  if (item.has_device()) {
    value.item = library::ValueOf(item.device(), bounds);
  } else if (item.has_scope()) {
    value.item = ScopeState{.scope = library::ValueOf(item.scope().scope()),
                            .status = library::ValueOf(item.scope().state()),
                            .flags = ValuesOf(item.scope().flags())};
  } else if (item.has_limit()) {
    value.item =
        SensorLimit{.device = item.limit().device(), .sensor = library::ValueOf(item.limit().sensor(), bounds)};
  } else if (item.has_mark()) {
    value.item = library::ValueOf(item.mark(), bounds);
  } else if (item.has_board_event()) {
    value.item = ValueOf(item.board_event(), bounds);
  }
  return value;
}

bool IsWithin(Duration value, Duration min, Duration max) { return value >= min && value <= max; }

}  // namespace

Gap ValueOf(const v1::Gap& gap, Bounds& bounds) {
  Gap value{.device = gap.device(), .reason = ValueOf(gap.reason()), .sensors = gap.sensors()};
  if (gap.has_from()) value.from = bounds.TimeOf(gap.from(), "from");
  if (gap.has_to()) value.to = bounds.TimeOf(gap.to(), "to");
  return value;
}

Change ValueOf(const v1::StateChange& change, Bounds& bounds) {
  Change value;
  if (!bounds.AddScopes(change.items_size())) return value;
  for (const v1::StateItem& item : change.items()) value.items.push_back(ValueOf(item, bounds));
  return value;
}

absl::Status CheckOptions(const StreamOptions& options) {
  if (options.interval != Duration::zero() && !IsWithin(options.interval, kIntervalMin, kLongest)) {
    return absl::InvalidArgumentError("interval: must be 0, or from 10 ms to 24 h");
  }
  if (options.heartbeat != Duration::zero() && !IsWithin(options.heartbeat, kHeartbeatMin, kLongest)) {
    return absl::InvalidArgumentError("heartbeat: must be 0, or from 1 s to 24 h");
  }
  if (options.delay_min <= Duration::zero() || !IsWithin(options.delay_max, options.delay_min, kLongest)) {
    return absl::InvalidArgumentError("delay_min, delay_max: must be above 0, in this order, and at most 24 h");
  }
  if (options.resume_token.size() > kTokenBytesMax) {
    return absl::InvalidArgumentError("resume_token: longer than 32768 bytes");
  }
  return absl::OkStatus();
}

v1::SubscribeRequest ToMessage(const StreamOptions& options, const std::string& resume_token) {
  v1::SubscribeRequest message;
  *message.mutable_filter() = ToMessage(options.filter);
  message.set_mode(v1::SubscribeRequest::MODE_STREAM);
  message.set_stream_mode(options.kind == StreamKind::kOnChange ? v1::SubscribeRequest::STREAM_MODE_ON_CHANGE
                                                                : v1::SubscribeRequest::STREAM_MODE_SAMPLE);
  if (options.interval > Duration::zero()) *message.mutable_sample_interval() = ToMessage(options.interval);
  message.set_sensors(options.sensors);
  if (options.heartbeat > Duration::zero()) *message.mutable_heartbeat_interval() = ToMessage(options.heartbeat);
  message.set_suppress_redundant(options.suppress_redundant);
  message.set_resume_token(resume_token);
  return message;
}

namespace {

MarkState ValueOf(v1::MarkInfo::State state) {
  switch (state) {
    case v1::MarkInfo::STATE_PENDING:
      return MarkState::kPending;
    case v1::MarkInfo::STATE_READ:
      return MarkState::kRead;
    case v1::MarkInfo::STATE_LOST:
      return MarkState::kLost;
    default:
      return MarkState::kUnknown;
  }
}

}  // namespace

Mark ValueOf(const v1::MarkInfo& mark, Bounds& bounds) {
  Mark value{.id = mark.mark_id(),
             .scope = library::ValueOf(mark.scope()),
             .label = mark.label(),
             .boot_id = mark.boot_id(),
             .state = ValueOf(mark.state()),
             .requested = bounds.NanosecondsOf(mark.requested_ns(), "requested_ns"),
             .host_time_error = bounds.DurationOf(mark.host_time_error(), "host_time_error")};
  if (mark.has_reference_time_ns()) {
    value.reference_time = bounds.NanosecondsOf(mark.reference_time_ns(), "reference_time_ns");
  }
  if (mark.has_host_time()) value.host_time = bounds.TimeOf(mark.host_time(), "host_time");
  return value;
}

std::vector<Mark> ValuesOf(const v1::ListMarksResponse& response, Bounds& bounds) {
  std::vector<Mark> values;
  if (!bounds.AddScopes(response.marks_size())) return values;
  for (const v1::MarkInfo& mark : response.marks()) values.push_back(ValueOf(mark, bounds));
  return values;
}

Span ValueOf(const v1::GetSpanResponse& response, Bounds& bounds) {
  return {.from = ValueOf(response.from(), bounds),
          .to = ValueOf(response.to(), bounds),
          .duration = bounds.NanosecondsOf(response.duration_ns(), "duration_ns"),
          .duration_error = bounds.NanosecondsOf(response.duration_error_ns(), "duration_error_ns"),
          .counters = ValuesOf(response.counters(), bounds),
          .flags = ValuesOf(response.flags())};
}

v1::MarkRequest ToMessage(const MarkRequest& request) {
  v1::MarkRequest message;
  message.set_device(request.device);
  message.set_vm(request.vm);
  message.set_context(request.context);
  message.set_label(request.label);
  return message;
}

v1::ListMarksRequest ToMessage(const MarkFilter& filter) {
  v1::ListMarksRequest message;
  message.set_device(filter.device);
  message.set_vm(filter.vm);
  message.set_context(filter.context);
  return message;
}

v1::GetSpanRequest ToMessage(const SpanRequest& request) {
  v1::GetSpanRequest message;
  message.set_device(request.device);
  message.set_vm(request.vm);
  message.set_from_mark(request.from);
  message.set_to_mark(request.to);
  for (const std::string& event : request.events) message.add_events(event);
  return message;
}

Sensor ValueOf(const v1::Sensor& sensor, Bounds& bounds) {
  Sensor value{.name = sensor.name(),
               .value = sensor.value(),
               .count_per_unit = sensor.count_per_unit(),
               .group = sensor.group()};
  for (const v1::SensorLabel& label : sensor.labels()) {
    value.labels.push_back({.name = label.name(), .value = label.value()});
  }
  if (sensor.has_count()) value.count = sensor.count();
  if (sensor.has_created()) value.created = bounds.TimeOf(sensor.created(), "created");
  return value;
}

DeviceSensors ValueOf(const v1::DeviceSensors& sensors, Bounds& bounds) {
  DeviceSensors value{.device = sensors.device()};
  if (!bounds.AddCounters(sensors.sensors_size()) || !bounds.AddCounters(sensors.groups_size())) return value;
  for (const v1::Sensor& sensor : sensors.sensors()) value.sensors.push_back(ValueOf(sensor, bounds));
  for (const v1::SensorGroup& group : sensors.groups()) {
    value.groups.push_back({.name = group.name(),
                            .host_time = bounds.TimeOf(group.host_time(), "host_time"),
                            .age = bounds.DurationOf(group.age(), "age")});
  }
  return value;
}

std::vector<DeviceSensors> ValuesOf(const v1::GetSensorsResponse& response, Bounds& bounds) {
  std::vector<DeviceSensors> values;
  if (!bounds.AddDevices(response.devices_size())) return values;
  for (const v1::DeviceSensors& device : response.devices()) values.push_back(ValueOf(device, bounds));
  return values;
}

v1::SensorFilter ToMessage(const SensorFilter& filter) {
  v1::SensorFilter message;
  message.set_device(filter.device);
  for (const std::string& name : filter.names) message.add_names(name);
  return message;
}

}  // namespace sideband::library
