// SPDX-License-Identifier: Apache-2.0
#include "client/cpp/mark_values.h"

#include "client/cpp/device_values.h"
#include "client/cpp/snapshot_values.h"

namespace sideband::library {
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

}  // namespace sideband::library
