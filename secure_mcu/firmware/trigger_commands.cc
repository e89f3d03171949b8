// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/firmware/trigger_commands.h"

#include <algorithm>

#include "absl/status/status.h"
#include "proto/mailbox/bookmark_check.h"
#include "proto/mailbox/clocks.h"
#include "proto/mailbox/hull_stream.h"
#include "proto/mailbox/timeline_stream.h"

namespace sideband::mcu {
namespace {

using mailbox::MailboxStatus;
using mailbox::TriggerStep;

// The registers are shared, and another controller may have written one of a word's halves: the answer tells which word
// was taken.
Reply Taken(uint64_t word) {
  return {.data = static_cast<uint32_t>(word), .extended_data = static_cast<uint32_t>(word >> 32)};
}

Reply Stop(Device& device) { return device.SetTriggerGrid(0).ok() ? Reply{} : Fail(MailboxStatus::kErrData); }

Reply Start(Device& device, uint64_t period) {
  if (period == 0 || !device.SetTriggerGrid(period).ok()) return Fail(MailboxStatus::kErrData);
  return Taken(period);
}

// Another controller may have written to the operands before the command.
bool IsCheckOf(const mailbox::CommandWord& command, uint32_t data, uint32_t extended_data) {
  const bool is_bookmark = static_cast<TriggerStep>(command.arg1) == TriggerStep::kBookmark;
  return is_bookmark && command.arg2 == mailbox::BookmarkCheck(data, extended_data);
}

MailboxStatus BookmarkStatus(const absl::Status& refused) {
  switch (refused.code()) {
    case absl::StatusCode::kNotFound:
      return MailboxStatus::kErrNotAvailable;
    case absl::StatusCode::kUnavailable:
      return MailboxStatus::kErrAgain;
    case absl::StatusCode::kFailedPrecondition:
      return MailboxStatus::kErrNotSupported;
    default:
      return MailboxStatus::kErrData;
  }
}

}  // namespace

bool TriggerCommands::OpensStream(const mailbox::CommandWord& command) {
  const auto step = static_cast<TriggerStep>(command.arg1);
  return step == TriggerStep::kTimeline || step == TriggerStep::kHulls;
}

Reply TriggerCommands::Execute(const mailbox::CommandWord& command, uint32_t data, uint32_t extended_data) {
  const auto step = static_cast<TriggerStep>(command.arg1);
  if (step > TriggerStep::kHulls) return Fail(MailboxStatus::kErrArg1);
  if (step >= TriggerStep::kSelect && !device_.HasClocks()) return Fail(MailboxStatus::kErrOpcode);
  // Of a stream it is the width of the windows.
  if (command.arg2 != 0 && !OpensStream(command) && !IsCheckOf(command, data, extended_data)) {
    return Fail(MailboxStatus::kErrArg2);
  }
  if (step == TriggerStep::kOnce) return {.data = device_.Trigger()};
  if (step == TriggerStep::kStart) return Start(device_, uint64_t{extended_data} << 32 | data);
  return step == TriggerStep::kStop ? Stop(device_) : OfDomains(step, data, extended_data);
}

Reply TriggerCommands::OfDomains(TriggerStep step, uint32_t data, uint32_t extended_data) {
  if (step == TriggerStep::kSelect) return Select(uint64_t{extended_data} << 32 | data);
  return step == TriggerStep::kBookmark ? Bookmark(data, extended_data) : Open(step, data, extended_data);
}

Reply TriggerCommands::Select(uint64_t domains) {
  return device_.SelectClocks(domains).ok() ? Taken(domains) : Fail(MailboxStatus::kErrData);
}

Reply TriggerCommands::Bookmark(uint32_t scope, uint32_t bookmark) {
  const auto asked_ns = device_.SetBookmark(static_cast<uint16_t>(scope), static_cast<uint16_t>(scope >> 16), bookmark);
  return asked_ns.ok() ? Taken(*asked_ns) : Fail(BookmarkStatus(asked_ns.status()));
}

// A reader goes on in what it has begun to read, whatever arrives meanwhile.
Reply TriggerCommands::Open(TriggerStep step, uint32_t first_trigger_id, uint32_t offset) {
  if (offset == 0) MakeStream(step, first_trigger_id);
  if (step != stream_step_ || first_trigger_id != stream_first_) return Fail(MailboxStatus::kErrAgain);
  if (offset >= stream_.size()) return Fail(MailboxStatus::kErrData);
  return {.data = static_cast<uint32_t>(stream_.size()), .extended_data = stream_newest_};
}

void TriggerCommands::MakeStream(TriggerStep step, uint32_t first_trigger_id) {
  stream_step_ = step;
  stream_first_ = first_trigger_id;
  stream_newest_ = 0;
  if (step == TriggerStep::kTimeline) {
    mailbox::Timeline timeline = device_.GetTimeline(first_trigger_id);
    timeline.boot_id = device_.identity().boot_id;
    if (!timeline.entries.empty()) stream_newest_ = timeline.entries.back().trigger_id;
    stream_ = mailbox::EncodeTimelineStream(timeline);
    return;
  }
  mailbox::ClockHulls hulls = device_.GetHulls(first_trigger_id);
  hulls.boot_id = device_.identity().boot_id;
  for (const mailbox::ClockHull& hull : hulls.hulls) stream_newest_ = std::max(stream_newest_, hull.last_trigger_id);
  stream_ = mailbox::EncodeHullStream(hulls);
}

}  // namespace sideband::mcu
