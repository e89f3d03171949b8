// SPDX-License-Identifier: Apache-2.0
//
// The boards that a caller may see, with the part of each that it may see. Every front end gets them here.
//   for (const VisibleBoard& board : VisibleBoards(store, caller, reader.Devices(caller), clock.Steady())) Show(board);
#ifndef SIDEBAND_DAEMON_VIEW_VISIBLE_BOARDS_H_
#define SIDEBAND_DAEMON_VIEW_VISIBLE_BOARDS_H_

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "daemon/board/board_reading.h"
#include "daemon/board/board_store.h"
#include "daemon/sensors/board_series.h"
#include "daemon/view/reader.h"

namespace sideband::daemon {

struct VisibleBoard {
  std::string device;                           // its name, which no other device has
  std::shared_ptr<const BoardReading> reading;  // never nullptr; shared with the boards' store
  BoardPart part = BoardPart::Whole();          // never nothing
};

// The part of the device's board that the caller may see, if the board has these partitions. Thread-safe.
BoardPart VisiblePart(const Caller& caller, const std::string& device, const std::set<uint8_t>& partitions);

// Of `devices`, in their order, those whose board is read and still answers: one of which nothing was read for a
// minute, or for three intervals of its device, has no values any more. `steady_now` is of the clock of the readings.
// Thread-safe.
std::vector<VisibleBoard> VisibleBoards(const BoardStore& boards, const Caller& caller,
                                        const std::vector<VisibleDevice>& devices, absl::Duration steady_now);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_VIEW_VISIBLE_BOARDS_H_
