// SPDX-License-Identifier: Apache-2.0
#include "client/cpp/snapshot_values.h"

#include <algorithm>

#include "client/cpp/device_values.h"
#include "proto/base/event_name.h"

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

}  // namespace

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

}  // namespace sideband::library
