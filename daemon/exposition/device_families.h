// SPDX-License-Identifier: Apache-2.0
//
// The families of a device that are no counters: its state, capacities, clocks, coverage and bounds of estimates.
//   for (const DeviceFamily& family : DeviceFamilies()) family.write(family.name, frame, out);
#ifndef SIDEBAND_DAEMON_EXPOSITION_DEVICE_FAMILIES_H_
#define SIDEBAND_DAEMON_EXPOSITION_DEVICE_FAMILIES_H_

#include <cstdint>
#include <span>

#include "absl/strings/string_view.h"
#include "daemon/exposition/device_frame.h"
#include "daemon/exposition/text_buffer.h"
#include "proto/exposition/text.h"

namespace sideband::daemon {

struct DeviceFamily {
  const char* name;
  MetricType type;
  const char* help;
  // Appends the family's series of one device.
  void (*write)(absl::string_view name, const DeviceFrame& frame, TextBuffer& out);
};

std::span<const DeviceFamily> DeviceFamilies();

// The most that events can count, for shares over ranges that a caller chooses (docs/utilisation.md): a gauge in counts
// per cycle of the reference clock.

// Appends the capacities of the events that the caller may read: on every slice if it sees the device's row, else on
// the slices of the VMs that it sees. An event of the device has no slice.
void WriteEventCapacity(absl::string_view name, const DeviceFrame& frame, TextBuffer& out);

// The families of a device's clock domains, for callers that see the device's own row.

// Each appends the samples of one device; none for clocks of which nothing is known, or that are withheld.
void WriteClockFrequency(absl::string_view name, const DeviceFrame& frame, TextBuffer& out);
void WriteClockErrorBound(absl::string_view name, const DeviceFrame& frame, TextBuffer& out);
void WriteClockSegments(absl::string_view name, const DeviceFrame& frame, TextBuffer& out);
void WriteClockRefutedSegments(absl::string_view name, const DeviceFrame& frame, TextBuffer& out);
void WriteClockUnusedReadings(absl::string_view name, const DeviceFrame& frame, TextBuffer& out);
void WriteHostClockErrorBound(absl::string_view name, const DeviceFrame& frame, TextBuffer& out);
void WriteReferenceWithinLimits(absl::string_view name, const DeviceFrame& frame, TextBuffer& out);
void WriteLineErrorBound(absl::string_view name, const DeviceFrame& frame, TextBuffer& out);

// For what share of the last interval the gate groups were counted (docs/design/virtual-counters.md, "Coverage").

// Appends the coverage of each group in each row of the level, if the row shows one of the group's events. Absent where
// it is unknown: without an interval, and if no VM was resident in it.
void WriteGateCoverage(absl::string_view name, const DeviceFrame& frame, Level level, TextBuffer& out);

// Measures of how exact the counters of multiplexed events are (daemon/snapshot/rotation.h).
enum class EstimateNumber : uint8_t { kCoverage, kLower, kUpper, kStandardError };

// Appends the number of each rotated event that a row of the level shows as an estimate, unless DeviceInfo::estimates
// leaves it out. An unknown number is absent.
void WriteEstimates(absl::string_view name, const DeviceFrame& frame, Level level, EstimateNumber number,
                    TextBuffer& out);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_EXPOSITION_DEVICE_FAMILIES_H_
