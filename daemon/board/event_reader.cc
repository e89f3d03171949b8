// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "absl/strings/str_cat.h"
#include "daemon/board/group_plans.h"
#include "daemon/board/group_round.h"
#include "proto/mailbox/board_items.h"
#include "proto/mailbox/services.h"

namespace sideband::daemon {
namespace {

using mailbox::BoardEvent;
using mailbox::DriverEvent;
using mailbox::Opcode;

constexpr uint8_t kWrite = 0, kRead = 1;

constexpr uint32_t KnownEvents() {
  uint32_t events = 0;
  for (const mailbox::BoardEventRow& row : mailbox::kBoardEvents) events |= mailbox::MaskOf(row.event);
  return events;
}

mailbox::CommandWord PendingRegister(uint8_t access) {
  return BoardCommand(Opcode::kRegisterAccess, access, static_cast<uint8_t>(mailbox::BoardRegister::kPendingEvents));
}

// Events that were pending before, and could not be cleared, were counted then.
void CountEvents(GroupRound& round, uint32_t pending) {
  BoardMemory& memory = round.memory();
  const uint32_t fresh = pending & ~std::exchange(memory.pending_events, pending);
  for (const mailbox::BoardEventRow& row : mailbox::kBoardEvents) {
    RunningCount& count = memory.events.counts.try_emplace(row.event, RunningCount{0, round.now().wall}).first->second;
    if ((fresh & mailbox::MaskOf(row.event)) != 0) ++count.value;
  }
  constexpr uint32_t kRestarts = mailbox::MaskOf(BoardEvent::kColdRestart) | mailbox::MaskOf(BoardEvent::kWarmRestart);
  memory.saw_reset |= (fresh & kRestarts) != 0;
  round.draft().events = memory.events;
}

void TakePending(GroupRound& round, uint32_t data) {
  const uint32_t pending = data & KnownEvents();
  CountEvents(round, pending);
  if (pending == 0) return;
  round.Add({.word = PendingRegister(kWrite), .data = 0, .take = [&memory = round.memory()](const BoardReply&) {
               memory.pending_events = 0;
             }});
}

void CountXid(GroupRound& round, uint16_t xid) {
  DriverMessageReading& kept = round.memory().driver_messages;
  const bool has_room = kept.counts.size() < DriverMessageReading::kXidsMax || kept.counts.contains(xid);
  RunningCount& count =
      has_room ? kept.counts.try_emplace(xid, RunningCount{0, round.now().wall}).first->second : kept.other;
  if (count.value++ == 0) count.created = round.now().wall;
}

// Returns false for a message that is kept already: a board that does not drop what was read repeats it.
bool Keep(GroupRound& round, const DriverEvent& message) {
  DriverMessageReading& kept = round.memory().driver_messages;
  if (!kept.messages.empty() && kept.messages.back() == message) return false;
  round.Report(absl::StrCat("xid ", message.xid, ", number ", message.sequence, ": ", message.text));
  CountXid(round, message.xid);
  ++kept.taken;
  kept.messages.push_back(message);
  if (kept.messages.size() > DriverMessageReading::kMessagesMax) kept.messages.pop_front();
  return true;
}

void AddMessage(GroupRound& round, int number);

void TakeRecord(GroupRound& round, int number, const std::vector<uint32_t>& dwords) {
  const auto message = DriverEvent::Decode(BytesOf(dwords));
  if (!round.Check("a driver's message", message.ok())) return;
  if (!Keep(round, *message)) return;
  round.draft().driver_messages = round.memory().driver_messages;
  if (number + 1 < kMessagesPerRoundMax) AddMessage(round, number + 1);
}

// The first dword has the record's length.
void TakeHeader(GroupRound& round, int number, uint32_t header) {
  const auto dwords = static_cast<uint8_t>(header);
  const bool is_possible = dwords >= DriverEvent::kHeaderBytes / 4 && dwords <= DriverEvent::kBytesMax / 4;
  if (!round.Check("the length of a driver's message", is_possible)) return;
  AddDwords(round, ScratchReads(1, static_cast<uint8_t>(dwords - 1)),
            [&round, number, header](const std::vector<uint32_t>& rest) {
              std::vector<uint32_t> record = {header};
              record.insert(record.end(), rest.begin(), rest.end());
              TakeRecord(round, number, record);
            });
}

void AddMessage(GroupRound& round, int number) {
  round.Add({.word = BoardCommand(Opcode::kGetDriverEvent, static_cast<uint8_t>(mailbox::DriverEventStep::kOldest)),
             .take =
                 [&round, number](const BoardReply&) {
                   AddDwords(round, ScratchReads(0, 1), [&round, number](const std::vector<uint32_t>& dwords) {
                     TakeHeader(round, number, dwords[0]);
                   });
                 },
             // The status of a board without a message is not public.
             .refuse = [](const BoardReply&) {}});
}

}  // namespace

void PlanEvents(GroupRound& round) {
  round.Add({.word = PendingRegister(kRead), .outputs = {.data = true}, .take = [&round](const BoardReply& reply) {
               TakePending(round, reply.data);
             }});
}

void PlanDriverMessages(GroupRound& round) {
  if (!round.capabilities().HasScratch()) return;
  round.draft().driver_messages = round.memory().driver_messages;
  AddMessage(round, 0);
}

}  // namespace sideband::daemon
