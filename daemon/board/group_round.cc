// SPDX-License-Identifier: Apache-2.0
#include "daemon/board/group_round.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "proto/mailbox/word.h"
#include "proto/smbus/transfer.h"

namespace sideband::daemon {
namespace {

constexpr uint8_t kAnyAddress = 0x4F;
constexpr size_t kCountAndBlock = 1 + mailbox::kRegisterBytes;

uint64_t WriteBits(bool has_pec) {
  smbus::Transfer transfer;
  transfer.messages.push_back(smbus::Message::Write(kAnyAddress, Bytes(1 + kCountAndBlock + has_pec)));
  return smbus::BitTimes(transfer, {});
}

uint64_t ReadBits(bool has_pec) {
  smbus::Transfer transfer;
  const Bytes block(kCountAndBlock + has_pec);
  transfer.messages.push_back(smbus::Message::Write(kAnyAddress, {mailbox::kDataRegister}));
  transfer.messages.push_back(smbus::Message::Read(kAnyAddress, static_cast<uint16_t>(block.size())));
  return smbus::BitTimes(transfer, {.read = {block}});
}

struct Item {
  size_t size;
  std::vector<uint32_t> dwords;
  std::function<void(const std::vector<uint32_t>&)> take;
};

using mailbox::AsyncStatus;
using mailbox::AsyncType;
using mailbox::Opcode;

// Before the poll of that number; the last one holds for all further polls.
constexpr int kPausesMs[] = {0, 1, 2, 5, 10, 20, 50, 100};

// Shared by the commands of the request.
struct Job {
  AsyncQuestion question;
  std::function<void(const std::vector<uint32_t>&)> take;
  uint8_t id = 0;
  int polls = 0;
};

mailbox::CommandWord SubmitWord(const AsyncQuestion& question) {
  return BoardCommand(Opcode::kAsyncRequest, static_cast<uint8_t>(question.type));
}

absl::Duration PauseBefore(int poll) {
  return absl::Milliseconds(kPausesMs[std::min<size_t>(static_cast<size_t>(poll), std::size(kPausesMs) - 1)]);
}

void AddPoll(GroupRound& round, const std::shared_ptr<Job>& job);

// Reports a request that does not end.
void CheckEnd(GroupRound& round, const Job& job, bool has_ended) {
  round.Check(absl::StrFormat("the end of request %02x", static_cast<uint8_t>(job.question.type)), has_ended);
}

void TakePoll(GroupRound& round, const std::shared_ptr<Job>& job, AsyncStatus status) {
  const bool has_ended = !mailbox::IsUnfinished(status);
  if (!has_ended && job->polls < kAsyncPollsMax) return AddPoll(round, job);
  CheckEnd(round, *job, has_ended);
  if (status == AsyncStatus::kSuccess) AddDwords(round, ScratchReads(0, job->question.dwords), job->take);
  if (status == AsyncStatus::kNotSupported || status == AsyncStatus::kInvalidCommand) {
    round.Refuse(SubmitWord(job->question), std::nullopt);
  }
}

void AddPoll(GroupRound& round, const std::shared_ptr<Job>& job) {
  round.Add(
      {.word = BoardCommand(Opcode::kAsyncRequest, static_cast<uint8_t>(AsyncType::kPoll), job->id),
       .outputs = {.data = true},
       .take = [&round,
                job](const BoardReply& reply) { TakePoll(round, job, static_cast<AsyncStatus>(reply.data & 0xFF)); },
       // A number that the board has forgotten does not refuse the command.
       .refuse = [](const BoardReply&) {},
       .pause = PauseBefore(job->polls++)});
}

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

uint64_t CommandBits(bool has_data_in, const Outputs& outputs, const PortTraits& port) {
  const bool is_checked = port.is_shared && (outputs.data || outputs.extended_data);
  const uint64_t writes = 1 + has_data_in, reads = 1 + outputs.data + outputs.extended_data + is_checked;
  return writes * WriteBits(port.has_pec) + reads * ReadBits(port.has_pec);
}

std::vector<mailbox::CommandWord> ScratchReads(uint8_t first, uint8_t count) {
  std::vector<mailbox::CommandWord> words;
  for (uint8_t i = 0; i < count; ++i) {
    words.push_back(BoardCommand(mailbox::Opcode::kScratchRead, static_cast<uint8_t>(first + i)));
  }
  return words;
}

void AddDwords(GroupRound& round, const std::vector<mailbox::CommandWord>& words,
               std::function<void(const std::vector<uint32_t>&)> take) {
  const auto is_refused = [&round](const mailbox::CommandWord& word) { return round.IsRefused(word, std::nullopt); };
  if (std::ranges::any_of(words, is_refused)) return;
  // Shared by the commands of the item: the last one hands it over.
  const auto item = std::make_shared<Item>(Item{words.size(), {}, std::move(take)});
  for (const mailbox::CommandWord& word : words) {
    round.Add({.word = word, .outputs = {.data = true}, .take = [item](const BoardReply& reply) {
                 item->dwords.push_back(reply.data);
                 if (item->dwords.size() == item->size) item->take(item->dwords);
               }});
  }
}

Bytes BytesOf(const std::vector<uint32_t>& dwords) {
  ByteWriter out;
  for (const uint32_t dword : dwords) out.U32(dword);
  return std::move(out).Take();
}

void AddAsync(GroupRound& round, const AsyncQuestion& question,
              std::function<void(const std::vector<uint32_t>&)> take) {
  const mailbox::CommandWord submit = SubmitWord(question);
  if (!round.capabilities().HasScratch() || round.IsRefused(submit, std::nullopt)) return;
  const auto job = std::make_shared<Job>(Job{question, std::move(take)});
  if (question.parameter) round.Add({.word = BoardCommand(Opcode::kScratchWrite, 0), .data = question.parameter});
  round.Add({.word = submit,
             .outputs = {.data = true},
             .take =
                 [&round, job](const BoardReply& reply) {
                   job->id = static_cast<uint8_t>(reply.data);
                   AddPoll(round, job);
                 },
             .takes_accepted = true});
}

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
