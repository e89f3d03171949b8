// SPDX-License-Identifier: Apache-2.0
#include "daemon/board/fake_board.h"

#include <algorithm>

#include "proto/mailbox/board_items.h"

namespace sideband::daemon {

using mailbox::AsyncStatus;
using mailbox::AsyncType;
using mailbox::BoardRegister;
using mailbox::MailboxStatus;
using mailbox::MonitoringAction;
using mailbox::Opcode;

absl::StatusOr<BoardReply> FakeBoard::Run(const mailbox::CommandWord& word, std::optional<uint32_t> data,
                                          const Outputs& outputs) {
  const Ran ran = {word, data, outputs};
  log.push_back(ran);
  if (!bus.ok()) return bus;
  if (const auto reply = lie(ran)) return *reply;
  const auto error = errors.find(word.opcode);
  const Answer answer = error == errors.end() ? Execute(ran) : Answer{error->second};
  BoardReply reply = {.word = word};
  reply.word.execute = false;
  reply.word.status = answer.status;
  reply.word.copy_data = shows_pending_events && pending_events != 0;
  if (outputs.data) reply.data = answer.data;
  if (outputs.extended_data) reply.extended_data = answer.extended_data;
  return reply;
}

void FakeBoard::Announce(mailbox::Capability capability) {
  capabilities.dwords[mailbox::DwordOf(capability)] |= mailbox::MaskOf(capability);
}

void FakeBoard::Withdraw(mailbox::Capability capability) {
  capabilities.dwords[mailbox::DwordOf(capability)] &= ~mailbox::MaskOf(capability);
}

void FakeBoard::Set(Opcode opcode, uint8_t arg1, uint8_t arg2, uint32_t data, uint32_t extended_data) {
  answers_[{opcode, arg1, arg2}] = {.data = data, .extended_data = extended_data};
}

void FakeBoard::SetItem(mailbox::SysId item, absl::string_view bytes) {
  const uint8_t dwords = mailbox::DwordsOf(*mailbox::FindSysId(item));
  for (uint8_t i = 0; i < dwords; ++i) {
    uint32_t dword = 0;
    for (size_t byte = 0; byte < 4 && 4 * i + byte < bytes.size(); ++byte) {
      dword |= uint32_t{static_cast<uint8_t>(bytes[4 * i + byte])} << 8 * byte;
    }
    Set(Opcode::kGetSysId, static_cast<uint8_t>(item), i, dword);
  }
}

void FakeBoard::AddMessage(const mailbox::DriverEvent& message) { messages.push_back(message.Encode()); }

size_t FakeBoard::CountOf(Opcode opcode) const {
  return static_cast<size_t>(
      std::ranges::count_if(log, [opcode](const Ran& ran) { return ran.word.opcode == opcode; }));
}

FakeBoard::Answer FakeBoard::Execute(const Ran& ran) {
  const mailbox::CommandWord& word = ran.word;
  if (word.opcode == Opcode::kGetCapabilities) {
    if (word.arg1 >= mailbox::kCapabilityDwords) return {MailboxStatus::kErrArg1};
    return {.data = capabilities.dwords[word.arg1]};
  }
  if (word.opcode == Opcode::kScratchRead) return {.data = scratch[word.arg1]};
  if (word.opcode == Opcode::kScratchWrite) {
    scratch[word.arg1] = ran.data.value_or(0);
    return {};
  }
  if (word.opcode == Opcode::kAsyncRequest) return ExecuteAsync(word.arg1, word.arg2);
  if (word.opcode == Opcode::kRegisterAccess) return AccessRegister(ran);
  if (word.opcode == Opcode::kGetDriverEvent) return TakeMessage(word.arg2);
  if (word.opcode == Opcode::kPerformanceMonitoring) return Metric(ran);
  const auto found = answers_.find({word.opcode, word.arg1, word.arg2});
  return found == answers_.end() ? Answer{MailboxStatus::kErrNotSupported} : found->second;
}

FakeBoard::Answer FakeBoard::ExecuteAsync(uint8_t type, uint8_t dword) {
  if (static_cast<AsyncType>(type) == AsyncType::kPoll) return Poll(dword);
  const auto found = async.find(static_cast<AsyncType>(type));
  const Async request = found == async.end() ? Async{.status = AsyncStatus::kNotSupported} : found->second;
  for (size_t i = 0; i < request.dwords.size() && dword + i < scratch.size(); ++i)
    scratch[dword + i] = request.dwords[i];
  running_[next_id_] = request;
  return {.status = MailboxStatus::kAccepted, .data = next_id_++};
}

FakeBoard::Answer FakeBoard::Poll(uint8_t id) {
  const auto found = running_.find(id);
  if (found == running_.end()) return {MailboxStatus::kErrArg2};
  const bool is_unfinished = found->second.unfinished_polls-- > 0;
  return {.data = static_cast<uint32_t>(is_unfinished ? AsyncStatus::kMoreProcessing : found->second.status)};
}

FakeBoard::Answer FakeBoard::AccessRegister(const Ran& ran) {
  const bool is_write = ran.word.arg1 == 0;
  switch (static_cast<BoardRegister>(ran.word.arg2)) {
    case BoardRegister::kPendingEvents:
      if (is_write) pending_events &= ran.data.value_or(0);
      return {.data = pending_events};
    case BoardRegister::kScratchPages:
    case BoardRegister::kEventMask:
      return {};
  }
  return {MailboxStatus::kErrArg2};
}

FakeBoard::Answer FakeBoard::TakeMessage(uint8_t dword) {
  if (messages.empty()) return {MailboxStatus::kErrNotAvailable};
  const Bytes message = messages.front();
  messages.pop_front();
  ByteReader in(message);
  for (size_t i = dword; in.remaining() >= 4; ++i) scratch[i] = in.U32();
  return {.data = static_cast<uint32_t>(message.size())};
}

// Answers as our own firmware does: the metric is checked first, then the partition, then the compute instance.
FakeBoard::Answer FakeBoard::Metric(const Ran& ran) const {
  const auto action = static_cast<MonitoringAction>(ran.word.arg1 >> 6);
  const auto metric = static_cast<mailbox::MetricId>(ran.word.arg1 & 0x3F);
  if (action == MonitoringAction::kCapture) return {};
  const auto device = metrics.find({});
  if (device == metrics.end() || !device->second.contains(metric)) return {MailboxStatus::kErrNotSupported};
  MetricScope scope;
  if (ran.word.arg2 != mailbox::kWholeDevice) scope.partition = ran.word.arg2 & mailbox::kPartitionMask;
  if (scope.partition && !metrics.contains(scope)) return {MailboxStatus::kErrArg2};
  if (scope.partition && (ran.word.arg2 & mailbox::kComputeInstanceBit) != 0) {
    scope.compute_instance = static_cast<uint8_t>(ran.data.value_or(0) >> 8);
  }
  const auto values = metrics.find(scope);
  if (values == metrics.end()) return {MailboxStatus::kErrData};
  const auto value = values->second.find(metric);
  return value == values->second.end() ? Answer{MailboxStatus::kErrNotSupported} : Answer{.data = value->second};
}

}  // namespace sideband::daemon
