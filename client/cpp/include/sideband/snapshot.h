// SPDX-License-Identifier: Apache-2.0
//
// Counters of a device, latched at one instant.
//   const sideband::ScopeCounters* const train = snapshot.Find("vm1", "train");
//   const sideband::Counter* const reads = train != nullptr ? train->Find("dram_read_cycles") : nullptr;
//   if (reads != nullptr) std::cout << reads->count << "\n";
// All types are plain values. Pointers that they return last as long as the value, unchanged.
#ifndef SIDEBAND_SNAPSHOT_H_
#define SIDEBAND_SNAPSHOT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sideband/device.h"
#include "sideband/export.h"
#include "sideband/time.h"

namespace sideband {

enum class EstimateMethod {
  kUnknown,
  // The error rests on the device's random order of turns: it holds whatever the workload does.
  kRandomTurns,
  // The turns are not random: the error holds for a workload without a rhythm of its own.
  kModel,
  // Nothing was estimated: the count is what was counted.
  kCounted,
};

// The uncertainty of an event's count. The event is multiplexed on counters with others.
struct Estimate {
  // 1.96 times it is half of a 95 % interval. Absent: too few turns.
  std::optional<uint64_t> standard_error;
  // The number that was counted. The truth is never below it.
  uint64_t lower = 0;
  // The truth is never above it. Absent: a counter has saturated, or nothing is known.
  std::optional<uint64_t> upper;
  // The scope's own time, and the part of it in which the event was counted.
  Duration time_enabled{};
  Duration time_running{};
  EstimateMethod method = EstimateMethod::kUnknown;

  bool operator==(const Estimate&) const = default;
};

struct Counter {
  std::string event;
  // Events since the scope's counters were created, exact to the last of 64 bits. Never falls within a boot and a
  // generation, unless it is an estimate.
  uint64_t count = 0;
  // Events per second of the device's time over the daemon's last interval. Absent: unknown.
  std::optional<double> rate_per_second;
  // The share of the scope's resident cycles in which the event was counted: above 0, at most 1; NaN if the device
  // contradicts itself. Absent: in all of them.
  std::optional<double> coverage;
  // The same of the interval of the rate.
  std::optional<double> rate_coverage;
  // Absent: the count is exact.
  std::optional<Estimate> estimate;

  bool operator==(const Counter&) const = default;
};

// A share over the daemon's last interval: a ratio of its configuration, or the utilisation of one event.
struct Ratio {
  std::string name;
  // The formula of a configured ratio; empty for a utilisation.
  std::string formula;
  double numerator_per_second = 0;
  double denominator_per_second = 0;
  // From 0 to 1.
  double value = 0;
  // The event whose utilisation it is; empty for a configured ratio.
  std::string event;

  bool operator==(const Ratio&) const = default;
};

enum class ScopeStatus {
  kUnknown,
  kActive,
  // Not on the device at the instant of the snapshot; its counts are complete.
  kIdle,
  // Ended; these are its final counts.
  kRetired,
};

struct ScopeCounters {
  Scope scope;
  ScopeStatus status = ScopeStatus::kUnknown;
  // Reasons why counts may be inexact: "overflow", "partial", "estimated", … Empty: they are exact.
  std::vector<std::string> flags;
  std::vector<Counter> counters;
  std::vector<Ratio> ratios;

  // The counter of an event, by its full name or by the short one that screens show, without "_cycles". nullptr: the
  // event was not counted, or the caller may not read it.
  SIDEBAND_EXPORT const Counter* Find(std::string_view event) const;

  bool operator==(const ScopeCounters&) const = default;
};

struct Snapshot {
  std::string device;
  uint64_t boot_id = 0;
  uint32_t snapshot_id = 0;
  uint32_t trigger_id = 0;
  // The device's reference clock, since its boot. Comparable within one boot only.
  Duration reference_time{};
  // The host's clock at the same instant, with an error to either side.
  Time host_time{};
  Duration host_time_error{};
  std::vector<ScopeCounters> scopes;
  // When the message was sent. A device that is not fresh has neither rates nor ratios.
  DeviceState device_state = DeviceState::kUnknown;
  std::optional<Duration> age;
  // The interval of the rates and ratios; absent if there are none.
  std::optional<Duration> elapsed;
  // How far the host's clock may be from UTC; absent if its kernel knows of no synchronisation.
  std::optional<Duration> host_utc_error;

  // The row of a VM, or of one of its contexts; with an empty `vm`, the device's own. nullptr: there is none. Of a
  // scope that ended and began again, both of which may be here, the later one.
  const ScopeCounters* Find(std::string_view vm, std::string_view context = {}) const {
    const ScopeCounters* found = nullptr;
    for (const ScopeCounters& row : scopes) {
      const bool matches = row.scope.vm == vm && row.scope.context == context && !row.scope.host;
      if (matches && (found == nullptr || row.scope.generation > found->scope.generation)) found = &row;
    }
    return found;
  }

  bool operator==(const Snapshot&) const = default;
};

}  // namespace sideband

#endif  // SIDEBAND_SNAPSHOT_H_
