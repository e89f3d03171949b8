// SPDX-License-Identifier: Apache-2.0
//
// For what share of the last interval the gate groups were counted (docs/design/virtual-counters.md, "Coverage").
//   sideband_vm_gate_coverage_ratio{device="gpu0",slice="0",vm="vm1",gate_group="guest"} 0.9
#ifndef SIDEBAND_DAEMON_EXPOSITION_COVERAGE_FAMILY_H_
#define SIDEBAND_DAEMON_EXPOSITION_COVERAGE_FAMILY_H_

#include "absl/strings/string_view.h"
#include "daemon/exposition/frame.h"
#include "daemon/exposition/text_buffer.h"

namespace sideband::daemon {

// Appends the coverage of each group in each row of the level, if the row shows one of the group's events. Absent where
// it is unknown: without an interval, and if no VM was resident in it.
void WriteGateCoverage(absl::string_view name, const DeviceFrame& frame, Level level, TextBuffer& out);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_EXPOSITION_COVERAGE_FAMILY_H_
