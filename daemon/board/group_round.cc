// SPDX-License-Identifier: Apache-2.0
#include "daemon/board/group_round.h"

#include <iterator>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "daemon/board/command_cost.h"

namespace sideband::daemon {
namespace {

using mailbox::CommandWord;
using mailbox::MailboxStatus;

std::pair<uint32_t, uint32_t> KeyOf(const CommandWord& word, std::optional<uint32_t> data) {
  return {word.Encode(), data.value_or(0)};
}

// The board does not have what was asked for, and will not before its capabilities change.
bool IsRefusal(MailboxStatus status) {
  return status == MailboxStatus::kErrOpcode || status == MailboxStatus::kErrArg1 ||
         status == MailboxStatus::kErrArg2 || status == MailboxStatus::kErrNotSupported;
}

// The value is unknown now, as may happen to every board.
bool IsAbsence(MailboxStatus status) {
  return status == MailboxStatus::kErrNotAvailable || status == MailboxStatus::kErrNotSupported ||
         status == MailboxStatus::kErrSensorData;
}

std::string NameOf(const CommandWord& word) {
  return absl::StrFormat("%s %02x %02x", mailbox::OpcodeName(word.opcode), word.arg1, word.arg2);
}

}  // namespace

CommandWord BoardCommand(mailbox::Opcode opcode, uint8_t arg1, uint8_t arg2) {
  return {.opcode = opcode, .arg1 = arg1, .arg2 = arg2, .execute = true};
}

uint64_t BitsOf(const PlannedCommand& command, const PortTraits& port) {
  return CommandBits(command.data.has_value(), command.outputs, port);
}

GroupRound::GroupRound(BoardGroup group, const BoardTime& now, BoardMemory& memory, BoardReading& draft,
                       const BoardReport& report)
    : group_(group), now_(now), memory_(memory), draft_(draft), report_(report) {
  ClearGroup(group, draft_);
}

bool GroupRound::Add(PlannedCommand command) {
  if (!command.refuse && IsRefused(command.word, command.data)) return false;
  if (is_taking_) {
    following_.push_back(std::move(command));
  } else {
    plan_.push_back(std::move(command));
  }
  return true;
}

const PlannedCommand* GroupRound::Next() const {
  if (plan_.empty() || commands_ >= RowOf(group_).commands_max) return nullptr;
  return &plan_.front();
}

uint64_t GroupRound::PlannedBits(const PortTraits& port) const {
  uint64_t bits = 0;
  for (const PlannedCommand& command : plan_) bits += BitsOf(command, port);
  return bits;
}

void GroupRound::Take(const BoardReply& reply) {
  const PlannedCommand command = std::move(plan_.front());
  plan_.pop_front();
  ++commands_;
  const MailboxStatus status = reply.word.status;
  is_taking_ = true;
  if (status == MailboxStatus::kSuccess || (status == MailboxStatus::kAccepted && command.takes_accepted)) {
    TakeSuccess(command, reply);
  } else {
    TakeFailure(command, reply);
  }
  is_taking_ = false;
  plan_.insert(plan_.begin(), std::make_move_iterator(following_.begin()), std::make_move_iterator(following_.end()));
  following_.clear();
}

void GroupRound::TakeSuccess(const PlannedCommand& command, const BoardReply& reply) {
  // Names are made only where there is something to forget.
  if (!memory_.failing.empty()) memory_.failing.erase(NameOf(command.word));
  if (command.take) command.take(reply);
}

void GroupRound::TakeFailure(const PlannedCommand& command, const BoardReply& reply) {
  if (command.refuse) return command.refuse(reply);
  const MailboxStatus status = reply.word.status;
  if (IsRefusal(status)) Refuse(command.word, command.data);
  const bool has_vanished =
      command.may_vanish && (status == MailboxStatus::kErrArg2 || status == MailboxStatus::kErrData);
  if (!IsAbsence(status) && !has_vanished) ReportFailure(command, status);
}

void GroupRound::ReportFailure(const PlannedCommand& command, MailboxStatus status) {
  const std::string name = NameOf(command.word), text(mailbox::StatusName(status));
  std::string& reported = memory_.failing[name];
  if (std::exchange(reported, text) != text) Report(absl::StrCat(name, ": ", text));
}

bool GroupRound::Check(absl::string_view what, bool is_plausible) {
  const std::string key = absl::StrCat(RowOf(group_).name, " ", what);
  if (is_plausible) {
    if (memory_.implausible_now.erase(key) > 0) Report(absl::StrCat(what, " is plausible again"));
    return true;
  }
  if (memory_.implausible_now.insert(key).second) Report(absl::StrCat(what, " is implausible"));
  return false;
}

std::optional<double> GroupRound::Plausible(absl::string_view what, double value, double least, double most) {
  if (!Check(what, value >= least && value <= most)) return std::nullopt;
  return value;
}

RunningCount GroupRound::Count(uint16_t item, uint16_t unit, uint64_t raw, int bits) {
  return memory_.counts.Add({group_, item, unit}, raw, bits, now_.wall);
}

bool GroupRound::IsRefused(const CommandWord& word, std::optional<uint32_t> data) const {
  return memory_.refused.contains(KeyOf(word, data));
}

void GroupRound::Refuse(const CommandWord& word, std::optional<uint32_t> data) {
  if (memory_.refused.size() < BoardMemory::kRefusedMax) memory_.refused.insert(KeyOf(word, data));
}

void GroupRound::Report(absl::string_view what) {
  if (report_) report_(RowOf(group_).name, what);
}

}  // namespace sideband::daemon
