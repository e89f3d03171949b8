// SPDX-License-Identifier: Apache-2.0
//
// What events count at most, for shares over ranges that a caller chooses (docs/utilisation.md): a gauge in counts per
// cycle of the reference clock.
//   sideband_event_capacity{device="gpu0",slice="0",event="tensor_active_cycles"} 8
#ifndef SIDEBAND_DAEMON_EXPOSITION_CAPACITY_FAMILY_H_
#define SIDEBAND_DAEMON_EXPOSITION_CAPACITY_FAMILY_H_

#include "absl/strings/string_view.h"
#include "daemon/exposition/frame.h"
#include "daemon/exposition/text_buffer.h"

namespace sideband::daemon {

// Appends the capacities of the events that the caller may read: on every slice if it sees the device's row, else on
// the slices of the VMs that it sees. An event of the device has no slice.
void WriteEventCapacity(absl::string_view name, const DeviceFrame& frame, TextBuffer& out);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_EXPOSITION_CAPACITY_FAMILY_H_
