// SPDX-License-Identifier: Apache-2.0
#include "daemon/board/board_schedule.h"

#include <algorithm>

namespace sideband::daemon {
namespace {

constexpr double kBucketSeconds = 1;
// Groups without a period, and those of a long one, are not left waiting for longer when they become due.
constexpr absl::Duration kPatienceMax = absl::Seconds(10);

}  // namespace

BoardSchedule::BoardSchedule(const BoardScheduleOptions& options)
    : interval_(options.interval),
      bits_per_second_(options.bus_hz * options.bus_share),
      capacity_(bits_per_second_ * kBucketSeconds),
      tokens_(capacity_) {}

absl::Duration BoardSchedule::PeriodOf(BoardGroup group) const {
  return daemon::PeriodOf(RowOf(group).group_class, interval_);
}

void BoardSchedule::SetDue(BoardGroup group, absl::Duration due, absl::Duration period) {
  Entry& entry = entries_[IndexOf(group)];
  entry.due = due;
  entry.deadline = due + period;
}

void BoardSchedule::Activate(BoardGroup group, absl::Duration now) {
  Entry& entry = entries_[IndexOf(group)];
  if (entry.is_active) return;
  entry.is_active = true;
  MakeDue(group, now);
}

void BoardSchedule::Deactivate(BoardGroup group) { entries_[IndexOf(group)].is_active = false; }

void BoardSchedule::MakeDue(BoardGroup group, absl::Duration now) {
  SetDue(group, now, std::min(PeriodOf(group), kPatienceMax));
}

void BoardSchedule::Hasten(BoardGroup group, absl::Duration now) { SetDue(group, now, absl::ZeroDuration()); }

std::optional<BoardGroup> BoardSchedule::MostUrgent(absl::Duration now) const {
  std::optional<BoardGroup> urgent;
  for (const GroupRow& row : kBoardGroups) {
    const Entry& entry = entries_[IndexOf(row.group)];
    if (!entry.is_active || entry.due > now) continue;
    if (!urgent || entry.deadline < entries_[IndexOf(*urgent)].deadline) urgent = row.group;
  }
  return urgent;
}

std::optional<BoardGroup> BoardSchedule::NextDue(absl::Duration now) {
  const auto group = MostUrgent(now);
  return group && Fits(CostOf(*group), now) ? group : std::nullopt;
}

absl::Duration BoardSchedule::NextTime(absl::Duration now) {
  if (const auto group = MostUrgent(now)) return TimeToFit(CostOf(*group), now);
  absl::Duration next = absl::InfiniteDuration();
  for (const Entry& entry : entries_) {
    if (entry.is_active) next = std::min(next, entry.due);
  }
  return next;
}

void BoardSchedule::Finish(BoardGroup group, bool was_read, absl::Duration now) {
  const absl::Duration period = PeriodOf(group);
  if (!was_read) return SetDue(group, now + std::min(period, kPatienceMax), std::min(period, kPatienceMax));
  // In its rhythm, unless that is behind: missed readings are not made up for.
  SetDue(group, std::max(entries_[IndexOf(group)].due + period, now), period);
}

void BoardSchedule::Refill(absl::Duration now) {
  if (now <= refilled_) return;
  tokens_ = std::min(capacity_, tokens_ + bits_per_second_ * absl::ToDoubleSeconds(now - refilled_));
  refilled_ = now;
}

absl::Duration BoardSchedule::TimeToFit(uint64_t bits, absl::Duration now) {
  Refill(now);
  const double missing = std::min(static_cast<double>(bits), capacity_) - tokens_;
  // Rounded up, so that it does fit then.
  return missing <= 0 ? now : refilled_ + absl::Seconds(missing / bits_per_second_) + absl::Nanoseconds(1);
}

void BoardSchedule::Charge(uint64_t bits, absl::Duration now) {
  Refill(now);
  tokens_ -= static_cast<double>(bits);
}

}  // namespace sideband::daemon
