// SPDX-License-Identifier: Apache-2.0
#include "client/cpp/device_values.h"

#include "absl/strings/str_cat.h"

namespace sideband::library {
namespace {

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

}  // namespace

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

}  // namespace sideband::library
