// SPDX-License-Identifier: Apache-2.0
//
// Reads one group of a fake board to its end, as the reader of a board does, for tests.
//   RoundRunner runner(board);
//   EXPECT_EQ(runner.Read(BoardGroup::kPower).power.watts.at(PowerSource::kTotal), 123.456);
#ifndef SIDEBAND_DAEMON_BOARD_ROUND_RUNNER_H_
#define SIDEBAND_DAEMON_BOARD_ROUND_RUNNER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "daemon/board/board_groups.h"
#include "daemon/board/fake_board.h"
#include "daemon/board/group_round.h"

namespace sideband::daemon {

// Not thread-safe. `board` must outlive it.
class RoundRunner {
 public:
  explicit RoundRunner(FakeBoard& board) : board_(board) {}

  // With the board's capabilities of now, a second after the last one.
  const BoardReading& Read(BoardGroup group) {
    now.steady += absl::Seconds(1);
    now.wall += absl::Seconds(1);
    memory.capabilities = board_.capabilities;
    GroupRound round(group, now, memory, reading, report_);
    RowOf(round.group()).plan(round);
    while (const PlannedCommand* next = round.Next()) {
      const auto reply = board_.Run(next->word, next->data, next->outputs);
      round.Take(*reply);
    }
    commands = round.commands();
    return reading;
  }

  BoardMemory memory;
  BoardReading reading;
  BoardTime now = {absl::Seconds(100), absl::FromUnixSeconds(1'000'000)};
  uint32_t commands = 0;             // of the last group
  std::vector<std::string> reports;  // "group: what"

 private:
  FakeBoard& board_;
  const BoardReport report_ = [this](absl::string_view group, absl::string_view what) {
    reports.push_back(absl::StrCat(group, ": ", what));
  };
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_BOARD_ROUND_RUNNER_H_
