// SPDX-License-Identifier: Apache-2.0
//
// The part of the status page about a board, as JSON. For operators alone: a board's values show what every VM on it
// does.
//   boards["gpu0"] = BoardJson(*store.Newest(0), clock.Steady());
#ifndef SIDEBAND_DAEMON_HTTP_BOARD_JSON_H_
#define SIDEBAND_DAEMON_HTTP_BOARD_JSON_H_

#include <nlohmann/json.hpp>

#include "absl/time/time.h"
#include "daemon/board/board_reading.h"

namespace sideband::daemon {

// An object, in which what is unknown is absent. Items of a list have a "name". Counts are decimal text, as in the
// API's messages, since JavaScript's numbers have 53 bits.
//   "name", "driver"           of the board, and the version of its driver
//   "temperatures"             °C: {"name", "value"}; likewise "thresholds"; "margin", and "margin_thresholds" at which
//                              something happens; "is_hot": a slowdown is due
//   "powers"                   W: {"name", "value", "limit"}
//   "clocks"                   Hz: {"name", "value", "maximum"}; "performance_state"
//   "throttling"               names of the reasons that are active now
//   "memory"                   bytes: {"used", "reserved", "total"}
//   "ecc"                      {"name", "corrected", "uncorrected"}
//   "remapped_rows"            {"corrected", "uncorrected", "is_pending", "has_failed", "has_excess"}
//   "retired_pages"            {"single_bit", "double_bit"}
//   "nvlinks"                  {"count", "up", "down": numbers of links that are neither up nor disabled, "errors"}
//   "pcie"                     {"generation", "lanes", "errors", "replays"}
//   "attention"                what an operator has to do something about
//   "messages"                 of the driver, the newest kMessagesShown, newest first: {"xid", "time", "text"};
//                              "messages_taken", all so far
//   "ratios"                   of the whole device, 0 to 1: {"name", "value"}
//   "partitions"               {"partition", "instance", "ratios"}
//   "oldest"                   the group that was read longest ago, of those that are read again and again:
//                              {"name", "age"} in seconds
// `steady_now` is of the clock of BoardTime::steady.
nlohmann::json BoardJson(const BoardReading& reading, absl::Duration steady_now);

inline constexpr size_t kMessagesShown = 5;

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_HTTP_BOARD_JSON_H_
