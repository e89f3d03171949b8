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

#include <array>
#include <cstdint>
#include <memory>
#include <optional>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "daemon/board/board_groups.h"
#include "daemon/board/board_reading.h"
#include "daemon/board/group_round.h"

namespace sideband::daemon {

struct BoardScheduleOptions {
  uint32_t bus_hz = 100'000;  // above 0
  double bus_share = 0.3;     // above 0, at most 1
  absl::Duration interval = absl::Seconds(1);
};

// Which group of a board is to be read next, within a share of the bus's time: of the groups that are due, the one with
// the earliest deadline. What does not fit is read later, and so less often. Time is an argument (a steady clock's).
//
// Not thread-safe. Instants that are earlier than one before count as that one.
//
// The share is a token bucket of one second: it holds what the share of one second is worth, and is full at first. In
// any time T, at most share · (T + 1 s) of the bus is used, and one command more where a command alone is worth more
// than the bucket holds.
class BoardSchedule {
 public:
  explicit BoardSchedule(const BoardScheduleOptions& options);

  // A group that becomes active is due at once; one that is active stays as it is.
  void Activate(BoardGroup group, absl::Duration now);
  void Deactivate(BoardGroup group);
  // Makes a group due at once, if it is active.
  void MakeDue(BoardGroup group, absl::Duration now);
  // Makes a group due at once, and before all others that are not late.
  void Hasten(BoardGroup group, absl::Duration now);
  // The bus time that a group is expected to take, in bit times. A group begins once that, or a full bucket, fits.
  void SetCost(BoardGroup group, uint64_t bits) { entries_[IndexOf(group)].cost = bits; }
  uint64_t CostOf(BoardGroup group) const { return entries_[IndexOf(group)].cost; }

  // nullopt: none is due, or it does not fit. A group with a later deadline does not overtake one that does not fit.
  std::optional<BoardGroup> NextDue(absl::Duration now);
  // The earliest instant at which there may be a group; infinite if none is active that will be due.
  absl::Duration NextTime(absl::Duration now);
  // After a group was read, or its reading has failed: then it is due again after its period, or ten seconds.
  void Finish(BoardGroup group, bool was_read, absl::Duration now);

  // The instant from which on a command of this bus time may be run.
  absl::Duration TimeToFit(uint64_t bits, absl::Duration now);
  bool Fits(uint64_t bits, absl::Duration now) { return TimeToFit(bits, now) <= now; }
  void Charge(uint64_t bits, absl::Duration now);

 private:
  struct Entry {
    bool is_active = false;
    absl::Duration due, deadline;
    uint64_t cost = 0;
  };
  absl::Duration PeriodOf(BoardGroup group) const;
  void SetDue(BoardGroup group, absl::Duration due, absl::Duration period);
  void Refill(absl::Duration now);
  // The due group with the earliest deadline.
  std::optional<BoardGroup> MostUrgent(absl::Duration now) const;

  const absl::Duration interval_;
  const double bits_per_second_, capacity_;
  std::array<Entry, kBoardGroupCount> entries_;
  double tokens_;
  absl::Duration refilled_ = -absl::InfiniteDuration();
};

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
  // The reading that the round fills.
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
