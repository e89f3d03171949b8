// SPDX-License-Identifier: Apache-2.0
//
// Reads everything that a board's base commands report, one command at a time, so that snapshots and other users of the
// bus wait for one command at most. What the board does not announce is not asked for.
//   BoardReader reader(port, {.schedule = {.bus_hz = 400'000}}, log_change);
//   SIDEBAND_ASSIGN_OR_RETURN(const BoardStep step, reader.Step({clock.Steady(), clock.Now()}));
//   if (step == BoardStep::kPublished) boards.Publish(device, reader.reading());
//   if (step == BoardStep::kIdle) WaitUntil(reader.NextTime(clock.Steady()));
#ifndef SIDEBAND_DAEMON_BOARD_BOARD_READER_H_
#define SIDEBAND_DAEMON_BOARD_BOARD_READER_H_

#include <cstdint>
#include <memory>
#include <optional>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "daemon/board/board_port.h"
#include "daemon/board/board_reading.h"
#include "daemon/board/board_schedule.h"
#include "daemon/board/command_cost.h"
#include "daemon/board/group_round.h"

namespace sideband::daemon {

enum class BoardStep {
  kIdle,       // nothing is due, or does not fit into the share of the bus
  kRan,        // one command
  kPublished,  // one command at most, and reading() is another one now
};

struct BoardReaderOptions {
  BoardScheduleOptions schedule;
  PortTraits port;
  // Times that a command of a round is run again after ABORTED; then the group is read later.
  int interruptions_max = 0;
};

// Used by one thread at a time. `port` must outlive it.
class BoardReader {
 public:
  BoardReader(BoardPort& port, const BoardReaderOptions& options, BoardReport report);

  // Runs one command at most. An error is the port's: the group is read again later, or after ABORTED the command, and
  // the last reading stays, with its times.
  absl::StatusOr<BoardStep> Step(const BoardTime& now);
  // When the next step has something to do.
  absl::Duration NextTime(absl::Duration now);

  // Never nullptr; empty at first. Shared with all who show it.
  std::shared_ptr<const BoardReading> reading() const { return reading_; }

 private:
  // Begins the round of the group that is due. False if there is none.
  bool Begin(const BoardTime& now);
  absl::Duration TimeOfNextCommand(absl::Duration now);
  void Finish(absl::Duration now);
  void Abandon(absl::Duration now);
  // Adapts groups to the capabilities that were just read.
  void FollowCapabilities(absl::Duration now);
  void EstimateCost(BoardGroup group);
  // EVENT_PENDING of a reply: the events are read next, if the bit was clear before.
  void FollowHint(const BoardReply& reply, absl::Duration now);
  // After a reset, or with another board, as `group` has shown: what was known is no longer.
  void FollowReset(BoardGroup group, absl::Duration now);

  BoardPort& port_;
  const PortTraits port_traits_;
  const int interruptions_max_;
  const BoardReport report_;
  BoardSchedule schedule_;
  BoardMemory memory_;
  std::shared_ptr<const BoardReading> reading_ = std::make_shared<const BoardReading>();
  // Of the round.
  BoardReading draft_;
  std::optional<GroupRound> round_;
  uint64_t round_bits_ = 0;
  int interruptions_ = 0;  // of its next command
  absl::Duration last_command_ = -absl::InfiniteDuration();
  bool has_pending_event_ = false;  // as the last reply says
  absl::Duration last_hint_ = -absl::InfiniteDuration();
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_BOARD_BOARD_READER_H_
