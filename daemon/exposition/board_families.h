// SPDX-License-Identifier: Apache-2.0
//
// The families of the boards' sensors, for operators alone: a board's values show what every VM on it does.
//   out += BoardFamiliesText(MetricsFormat::kText, {{"gpu0", boards.Newest(0)}}, now.steady);
#ifndef SIDEBAND_DAEMON_EXPOSITION_BOARD_FAMILIES_H_
#define SIDEBAND_DAEMON_EXPOSITION_BOARD_FAMILIES_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "daemon/board/board_reading.h"
#include "proto/exposition/text.h"

namespace sideband::daemon {

struct BoardOfDevice {
  std::string device;                           // its name, which no other device has
  std::shared_ptr<const BoardReading> reading;  // shared with the boards' store; nullptr: nothing is known
};

// The families by name, each once, with a sample for each value that is known, in the order of `boards`. A family
// without a sample is left out. OpenMetrics' last line is the caller's. `steady_now` is of the clock of the readings'
// BoardTime::steady: ages are taken from it, and are never below 0. Thread-safe.
std::string BoardFamiliesText(MetricsFormat format, const std::vector<BoardOfDevice>& boards,
                              absl::Duration steady_now);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_EXPOSITION_BOARD_FAMILIES_H_
