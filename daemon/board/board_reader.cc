// SPDX-License-Identifier: Apache-2.0
#include "daemon/board/board_reader.h"

#include <algorithm>
#include <utility>

#include "daemon/board/board_groups.h"

namespace sideband::daemon {
namespace {

constexpr double kBucketSeconds = 1;
// Groups without a period, and those of a long one, are not left waiting for longer when they become due.
constexpr absl::Duration kPatienceMax = absl::Seconds(10);

// A board whose bit changes with each reply has its events read no more often than this.
constexpr absl::Duration kHintPause = absl::Milliseconds(100);

// Totals and facts that outlive a reset.
bool Outlives(BoardGroup group) {
  return group == BoardGroup::kCapabilities || group == BoardGroup::kEvents || group == BoardGroup::kDriverMessages;
}

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

BoardReader::BoardReader(BoardPort& port, const BoardReaderOptions& options, BoardReport report)
    : port_(port),
      port_traits_(options.port),
      interruptions_max_(options.interruptions_max),
      report_(std::move(report)),
      schedule_(options.schedule) {}

bool BoardReader::Begin(const BoardTime& now) {
  schedule_.Activate(BoardGroup::kCapabilities, now.steady);
  const auto group = schedule_.NextDue(now.steady);
  if (!group) return false;
  draft_ = *reading_;
  round_.emplace(*group, now, memory_, draft_, report_);
  round_bits_ = 0;
  RowOf(round_->group()).plan(*round_);
  return true;
}

absl::StatusOr<BoardStep> BoardReader::Step(const BoardTime& now) {
  if (!round_ && !Begin(now)) return BoardStep::kIdle;
  if (const PlannedCommand* const next = round_->Next()) {
    if (TimeOfNextCommand(now.steady) > now.steady) return BoardStep::kIdle;
    const uint64_t bits = BitsOf(*next, port_traits_);
    // A failed command has used the bus, too.
    schedule_.Charge(bits, now.steady);
    round_bits_ += bits;
    last_command_ = now.steady;
    const auto reply = port_.Run(next->word, next->data, next->outputs);
    if (!reply.ok()) {
      // A command that another controller interrupts is run again: nothing is known to be wrong with it.
      const bool goes_on = absl::IsAborted(reply.status()) && interruptions_++ < interruptions_max_;
      if (!goes_on) Abandon(now.steady);
      return reply.status();
    }
    interruptions_ = 0;
    FollowHint(*reply, now.steady);
    round_->Take(*reply);
  }
  if (round_->Next() != nullptr) return BoardStep::kRan;
  Finish(now.steady);
  return BoardStep::kPublished;
}

absl::Duration BoardReader::TimeOfNextCommand(absl::Duration now) {
  const PlannedCommand& next = *round_->Next();
  return std::max(last_command_ + next.pause, schedule_.TimeToFit(BitsOf(next, port_traits_), now));
}

absl::Duration BoardReader::NextTime(absl::Duration now) {
  if (round_) return round_->Next() == nullptr ? now : std::max(now, TimeOfNextCommand(now));
  schedule_.Activate(BoardGroup::kCapabilities, now);
  return std::max(now, schedule_.NextTime(now));
}

void BoardReader::Finish(absl::Duration now) {
  const BoardGroup group = round_->group();
  // Without commands there are no values, and no time of theirs.
  if (round_->commands() > 0) {
    draft_.samples[group] = round_->now();
    schedule_.SetCost(group, round_bits_);
  }
  round_.reset();
  schedule_.Finish(group, /*was_read=*/true, now);
  if (group == BoardGroup::kCapabilities) FollowCapabilities(now);
  // The events that are pending at first are those of before this reader.
  const bool is_known = group != BoardGroup::kEvents || reading_->samples.contains(BoardGroup::kEvents);
  if (std::exchange(memory_.saw_reset, false) && is_known) FollowReset(group, now);
  reading_ = std::make_shared<const BoardReading>(std::move(draft_));
}

void BoardReader::Abandon(absl::Duration now) {
  const BoardGroup group = round_->group();
  interruptions_ = 0;
  round_.reset();
  schedule_.Finish(group, /*was_read=*/false, now);
}

void BoardReader::FollowCapabilities(absl::Duration now) {
  const bool has_changed = std::exchange(draft_.capabilities, memory_.capabilities) != memory_.capabilities;
  for (const GroupRow& row : kBoardGroups) {
    if (row.plan == nullptr) continue;
    if (!IsAnnounced(row, memory_.capabilities)) {
      schedule_.Deactivate(row.group);
      ClearGroup(row.group, draft_);
      continue;
    }
    schedule_.Activate(row.group, now);
    // A part of a group may have come or gone.
    if (has_changed && row.group != BoardGroup::kCapabilities) schedule_.MakeDue(row.group, now);
    if (schedule_.CostOf(row.group) == 0) EstimateCost(row.group);
  }
}

void BoardReader::EstimateCost(BoardGroup group) {
  BoardReading unused;
  const BoardReport silent;
  GroupRound round(group, {}, memory_, unused, silent);
  RowOf(round.group()).plan(round);
  schedule_.SetCost(group, round.PlannedBits(port_traits_));
}

void BoardReader::FollowHint(const BoardReply& reply, absl::Duration now) {
  // An event that cannot be cleared leaves the bit set, and gives no reason to look again.
  const bool was_pending = std::exchange(has_pending_event_, HasPendingEvent(reply));
  if (was_pending || !has_pending_event_ || round_->group() == BoardGroup::kEvents) return;
  if (now - last_hint_ < kHintPause) return;
  last_hint_ = now;
  schedule_.Hasten(BoardGroup::kEvents, now);
}

void BoardReader::FollowReset(BoardGroup group, absl::Duration now) {
  if (report_) report_("board", "it was reset, or is another one");
  memory_.counts.RestartAll();
  memory_.refused.clear();
  for (const GroupRow& row : kBoardGroups) {
    if (row.plan == nullptr) continue;
    if (!Outlives(row.group)) ClearGroup(row.group, draft_);
    // The group just read is of the board as it is. It is not read at once again, even if it shows another board each
    // time.
    if (row.group != group) schedule_.MakeDue(row.group, now);
  }
}

}  // namespace sideband::daemon
