// SPDX-License-Identifier: Apache-2.0
#include "daemon/view/board_event_cursor.h"

#include <algorithm>
#include <cstddef>

#include "absl/time/time.h"
#include "daemon/snapshot/message.h"

namespace sideband::daemon {
namespace {

void Fill(const mailbox::DriverEvent& event, sideband::v1::DriverMessage& out) {
  out.set_xid(event.xid);
  out.set_sequence(event.sequence);
  SetTime(absl::FromUnixSeconds(event.time_s), *out.mutable_time());
  out.set_text(event.text);
  out.set_text_truncated(event.text_truncated);
  out.set_later_lost(event.later_lost);
}

// kBoardEvents has the events in the order of their numbers, without a gap.
const char* WordOf(mailbox::BoardEvent event) { return mailbox::kBoardEvents[static_cast<size_t>(event)].word; }

// A reader counts each event from its first reading on, 0 before that.
uint64_t ReaderIdOf(const BoardReading& reading) {
  const auto& counts = reading.events.counts;
  return counts.empty() ? 0 : static_cast<uint64_t>(absl::ToUnixNanos(counts.begin()->second.created));
}

}  // namespace

BoardEventCursor::Position BoardEventCursor::position() const {
  Position position{.messages = position_ - messages_.size() - lost_, .reader_id = reader_id_};
  for (const auto& [event, count] : seen_) {
    position.raised.resize(static_cast<size_t>(event) + 1);
    const auto waiting = raised_.find(event);
    position.raised.back() = count.value - (waiting == raised_.end() ? 0 : waiting->second);
  }
  return position;
}

bool BoardEventCursor::Resume(const Position& position, const BoardReading& reading) {
  const DriverMessageReading& messages = reading.driver_messages;
  const bool is_held = position.reader_id == ReaderIdOf(reading) && position.messages <= messages.taken &&
                       messages.taken - position.messages <= messages.messages.size();
  if (!is_held) return false;
  is_first_ = false;
  position_ = position.messages;
  for (const auto& [event, count] : reading.events.counts) {
    const auto number = static_cast<size_t>(event);
    const uint64_t taken = number < position.raised.size() ? position.raised[number] : 0;
    seen_[event] = {.value = std::min(taken, count.value), .created = count.created};
  }
  return true;
}

void BoardEventCursor::Follow(const BoardReading& reading) {
  reader_id_ = ReaderIdOf(reading);
  FollowMessages(reading.driver_messages);
  FollowRaised(reading.events);
  is_first_ = false;
}

void BoardEventCursor::FollowMessages(const DriverMessageReading& messages) {
  if (messages.taken < position_) position_ = 0;
  const uint64_t fresh = messages.taken - position_;
  const size_t held = std::min<uint64_t>(fresh, messages.messages.size());
  // What was dropped before the first time, nobody has missed.
  if (!is_first_) lost_ += fresh - held;
  messages_.insert(messages_.end(), messages.messages.end() - static_cast<ptrdiff_t>(held), messages.messages.end());
  position_ = messages.taken;
  for (; messages_.size() > DriverMessageReading::kMessagesMax; messages_.pop_front()) ++lost_;
}

void BoardEventCursor::FollowRaised(const EventReading& events) {
  for (const auto& [event, count] : events.counts) {
    const RunningCount before = std::exchange(seen_[event], count);
    if (is_first_) continue;
    const uint64_t fresh = count.created == before.created ? count.value - before.value : count.value;
    if (fresh > 0) raised_[event] += fresh;
  }
}

std::optional<BoardEventCursor::Message> BoardEventCursor::Next() {
  Message message;
  message.set_device(device_);
  if (lost_ > 0) {
    message.set_messages_lost(std::exchange(lost_, 0));
  } else if (!messages_.empty()) {
    Fill(messages_.front(), *message.mutable_driver_message());
    messages_.pop_front();
  } else if (!raised_.empty()) {
    const auto raised = raised_.extract(raised_.begin());
    message.mutable_raised()->set_name(WordOf(raised.key()));
    message.mutable_raised()->set_count(raised.mapped());
  } else {
    return std::nullopt;
  }
  return message;
}

}  // namespace sideband::daemon
