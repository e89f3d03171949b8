// SPDX-License-Identifier: Apache-2.0
//
// How exact the counters of events are that take turns on a device's counters (daemon/snapshot/rotation.h).
//   sideband_vm_event_lower_total{device="gpu0",slice="0",vm="vm1",event="dram_bytes"} 300
#ifndef SIDEBAND_DAEMON_EXPOSITION_ESTIMATE_FAMILY_H_
#define SIDEBAND_DAEMON_EXPOSITION_ESTIMATE_FAMILY_H_

#include <cstdint>

#include "absl/strings/string_view.h"
#include "daemon/exposition/frame.h"
#include "daemon/exposition/text_buffer.h"

namespace sideband::daemon {

enum class EstimateNumber : uint8_t { kCoverage, kLower, kUpper, kStandardError };

// Appends the number of each rotated event that a row of the level shows as an estimate, unless DeviceInfo::estimates
// leaves it out. An unknown number is absent.
void WriteEstimates(absl::string_view name, const DeviceFrame& frame, Level level, EstimateNumber number,
                    TextBuffer& out);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_EXPOSITION_ESTIMATE_FAMILY_H_
