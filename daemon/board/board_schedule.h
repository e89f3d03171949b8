// SPDX-License-Identifier: Apache-2.0
//
// Which group of a board is to be read next, within a share of the bus's time: of the groups that are due, the one with
// the earliest deadline. What does not fit is read later, and so less often. Time is an argument (a steady clock's).
//   BoardSchedule schedule({.bus_hz = 100'000, .bus_share = 0.3, .interval = absl::Seconds(1)});
//   schedule.Activate(BoardGroup::kPower, now);
//   if (const auto group = schedule.NextDue(now)) {
//     for (const uint64_t bits : Costs(*group)) schedule.Charge(bits, now);   // each once Fits(bits, now)
//     schedule.Finish(*group, /*was_read=*/true, now);
//   }
#ifndef SIDEBAND_DAEMON_BOARD_BOARD_SCHEDULE_H_
#define SIDEBAND_DAEMON_BOARD_BOARD_SCHEDULE_H_

#include <array>
#include <cstdint>
#include <optional>

#include "absl/time/time.h"
#include "daemon/board/board_groups.h"

namespace sideband::daemon {

struct BoardScheduleOptions {
  uint32_t bus_hz = 100'000;  // above 0
  double bus_share = 0.3;     // above 0, at most 1
  absl::Duration interval = absl::Seconds(1);
};

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
  // Likewise, and before all others that are not late.
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

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_BOARD_BOARD_SCHEDULE_H_
