// SPDX-License-Identifier: Apache-2.0
//
// The families of the boards' sensors as text.
//   out += BoardFamiliesText(MetricsFormat::kText, VisibleBoards(store, caller, devices, now.steady), now.steady);
#ifndef SIDEBAND_DAEMON_EXPOSITION_BOARD_FAMILIES_H_
#define SIDEBAND_DAEMON_EXPOSITION_BOARD_FAMILIES_H_

#include <string>
#include <vector>

#include "absl/time/time.h"
#include "daemon/view/sensor_queries.h"
#include "proto/exposition/text.h"

namespace sideband::daemon {

// The families by name, each once, with a sample for each value that is known and that the caller may see, in the order
// of `boards`. A family without a sample is left out. OpenMetrics' last line is the caller's. `steady_now` is of the
// clock of the readings' BoardTime::steady: ages are taken from it, and are never below 0. Thread-safe.
std::string BoardFamiliesText(MetricsFormat format, const std::vector<VisibleBoard>& boards, absl::Duration steady_now);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_EXPOSITION_BOARD_FAMILIES_H_
