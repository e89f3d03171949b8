// SPDX-License-Identifier: Apache-2.0
//
// Plans the groups of a board's state: capabilities, identity, flags, events, and messages of the driver.
#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "daemon/board/group_plans.h"
#include "daemon/board/group_round.h"
#include "proto/mailbox/board_items.h"
#include "proto/mailbox/services.h"

namespace sideband::daemon {
namespace {

using mailbox::BoardEvent;
using mailbox::Capability;
using mailbox::DriverEvent;
using mailbox::MailboxStatus;
using mailbox::MiscFlag;
using mailbox::Opcode;
using mailbox::SysId;
using mailbox::SysIdRow;
using Dwords = std::vector<uint32_t>;

constexpr uint8_t kWrite = 0, kRead = 1;  // REGISTER_ACCESS

constexpr uint8_t kDriverVersionDwords = 16;

// nullopt for what is not part of the identity.
std::optional<Capability> CapabilityOf(SysId item) {
  if (item == SysId::kFruPartNumber) return Capability::kFruPartNumber;
  if (item > SysId::kInforomVersion) return std::nullopt;
  // Bits 0 to 14 of dword 1 are those of the items, one to one.
  return static_cast<Capability>(static_cast<int>(Capability::kBoardPartNumber) + static_cast<int>(item));
}

std::string BytesAsText(const Dwords& dwords, size_t size) {
  const Bytes bytes = BytesOf(dwords);
  return std::string(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(std::min(size, bytes.size())));
}

// nullopt if a character cannot be printed. May be empty.
std::optional<std::string> TextOf(const Dwords& dwords, size_t size) {
  std::string text = BytesAsText(dwords, size);
  text.resize(std::min(text.find('\0'), text.size()));
  if (!std::ranges::all_of(text, [](char c) { return absl::ascii_isprint(static_cast<unsigned char>(c)); })) {
    return std::nullopt;
  }
  absl::StripTrailingAsciiWhitespace(&text);
  return text;
}

std::optional<std::string> ValueOf(const SysIdRow& row, const Dwords& dwords) {
  switch (row.format) {
    case mailbox::SysIdFormat::kText:
      return TextOf(dwords, row.bytes);
    case mailbox::SysIdFormat::kBytes:
      return absl::BytesToHexString(BytesAsText(dwords, row.bytes));
    case mailbox::SysIdFormat::kNumber: {
      const uint32_t mask = row.bytes >= 4 ? ~0u : (1u << 8 * row.bytes) - 1;
      return absl::StrFormat("0x%0*x", 2 * row.bytes, dwords[0] & mask);
    }
  }
  return std::nullopt;
}

std::vector<mailbox::CommandWord> Reads(Opcode opcode, uint8_t item, uint8_t dwords) {
  std::vector<mailbox::CommandWord> words;
  for (uint8_t i = 0; i < dwords; ++i) words.push_back(BoardCommand(opcode, item, i));
  return words;
}

void AddItem(GroupRound& round, const SysIdRow& row, std::function<void(std::string)> take) {
  AddDwords(round, Reads(Opcode::kGetSysId, static_cast<uint8_t>(row.item), DwordsOf(row)),
            [&round, row, take = std::move(take)](const Dwords& dwords) {
              auto value = ValueOf(row, dwords);
              if (round.Check(row.name, value.has_value()) && !value->empty()) take(*std::move(value));
            });
}

void AddDriverVersion(GroupRound& round) {
  AddDwords(round, Reads(Opcode::kGetSystemInfo, 0, kDriverVersionDwords), [&round](const Dwords& dwords) {
    auto text = TextOf(dwords, 4 * dwords.size());
    if (round.Check("the driver's version", text.has_value()) && !text->empty()) {
      round.draft().identity.driver_version = *std::move(text);
    }
  });
}

void Compare(BoardMemory& memory, std::string identity) {
  memory.saw_reset |= memory.identity.has_value() && *memory.identity != identity;
  memory.identity = std::move(identity);
}

// The serial number, or else the GUID. One that differs from that of the last call sets BoardMemory::saw_reset.
void AddIdentityCheck(GroupRound& round) {
  const bool has_serial = round.Has(Capability::kSerialNumber);
  if (!has_serial && !round.Has(Capability::kGpuGuid)) return;
  const SysIdRow& row = *mailbox::FindSysId(has_serial ? SysId::kSerialNumber : SysId::kGuid);
  AddItem(round, row, [&memory = round.memory()](std::string value) { Compare(memory, std::move(value)); });
}

void TakeDword(GroupRound& round, uint8_t index, uint32_t dword) {
  round.memory().capabilities.dwords[index] = dword;
  // The commands that follow depend on all of them.
  if (index + 1 < mailbox::kCapabilityDwords) return;
  if (round.capabilities().HasScratch()) {
    round.Add({.word = BoardCommand(Opcode::kRegisterAccess, kWrite,
                                    static_cast<uint8_t>(mailbox::BoardRegister::kScratchPages)),
               .data = 0});
  }
  AddIdentityCheck(round);
}

// Older boards have fewer dwords.
bool IsMissing(MailboxStatus status) {
  return status == MailboxStatus::kErrArg1 || status == MailboxStatus::kErrOpcode ||
         status == MailboxStatus::kErrNotSupported;
}

constexpr Capability kFirstPage[] = {Capability::kEccState, Capability::kMigState, Capability::kFabricFlags,
                                     Capability::kSetDeviceDisable};
constexpr Capability kSecondPage[] = {Capability::kResetRequired, Capability::kDrainAndReset};

// nullopt: announced with its page.
std::optional<Capability> CapabilityOf(MiscFlag flag) {
  switch (flag) {
    case MiscFlag::kEccSupported:
    case MiscFlag::kEccCurrent:
    case MiscFlag::kEccPending:
      return Capability::kEccState;
    case MiscFlag::kMigSupported:
    case MiscFlag::kMigCurrent:
    case MiscFlag::kMigPending:
      return Capability::kMigState;
    case MiscFlag::kDriverRuns:
    case MiscFlag::kDeviceDisabled:
    case MiscFlag::kDriverReloadPending:
      return std::nullopt;
    case MiscFlag::kResetRequired:
      return Capability::kResetRequired;
    case MiscFlag::kDrainRecommended:
      return Capability::kDrainAndReset;
  }
  return std::nullopt;
}

void TakePage(GroupRound& round, uint8_t page, uint32_t bits) {
  FlagReading& reading = round.draft().flags;
  for (const mailbox::MiscFlagRow& row : mailbox::kMiscFlags) {
    const auto capability = CapabilityOf(row.flag);
    if (mailbox::PageOf(row.flag) != page || (capability && !round.Has(*capability))) continue;
    reading.flags[row.flag] = (bits & mailbox::MaskOf(row.flag)) != 0;
  }
  if (page != 0 || !round.Has(Capability::kFabricFlags)) return;
  constexpr uint32_t kManagerError = 3;
  const uint32_t manager = bits >> 8 & 7;
  if (round.Check("the fabric manager's state", manager <= kManagerError)) {
    reading.fabric_manager = static_cast<uint8_t>(manager);
  }
}

void AddPage(GroupRound& round, uint8_t page) {
  round.Add({.word = BoardCommand(Opcode::kGetMiscFlags, page),
             .outputs = {.data = true},
             .take = [&round, page](const BoardReply& reply) { TakePage(round, page, reply.data); }});
}

void TakeWriteProtection(GroupRound& round, uint32_t data) {
  const auto mode = static_cast<uint8_t>(data);
  const bool is_enabled = mode == mailbox::kWriteProtectEnabled;
  if (!round.Check("the write protection", is_enabled || mode == mailbox::kWriteProtectDisabled)) return;
  round.draft().flags.write_protected = is_enabled;
}

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

// Returns false for a message that is kept already: a board that does not drop what was read repeats it.
bool Keep(GroupRound& round, const DriverEvent& message) {
  DriverMessageReading& kept = round.memory().driver_messages;
  if (!kept.messages.empty() && kept.messages.back() == message) return false;
  round.Report(absl::StrCat("xid ", message.xid, ", number ", message.sequence, ": ", message.text));
  kept.Take(message, round.now().wall);
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

void PlanIdentity(GroupRound& round) {
  for (const SysIdRow& row : mailbox::kSysIds) {
    const auto capability = CapabilityOf(row.item);
    if (!capability || !round.Has(*capability)) continue;
    AddItem(round, row,
            [&round, item = row.item](std::string value) { round.draft().identity.items[item] = std::move(value); });
  }
  if (round.Has(Capability::kDriverVersion)) AddDriverVersion(round);
}

void PlanCapabilities(GroupRound& round) {
  round.memory().refused.clear();
  for (uint8_t index = 0; index < mailbox::kCapabilityDwords; ++index) {
    round.Add({.word = BoardCommand(Opcode::kGetCapabilities, index),
               .outputs = {.data = true},
               .take = [&round, index](const BoardReply& reply) { TakeDword(round, index, reply.data); },
               .refuse =
                   [&round, index](const BoardReply& reply) {
                     const uint32_t last = round.capabilities().dwords[index];
                     TakeDword(round, index, IsMissing(reply.word.status) ? 0 : last);
                   }});
  }
}

void PlanFlags(GroupRound& round) {
  if (round.capabilities().HasAny(kFirstPage)) AddPage(round, 0);
  if (round.capabilities().HasAny(kSecondPage)) AddPage(round, 1);
  if (!round.Has(Capability::kAccessWpMode)) return;
  round.Add({.word = BoardCommand(Opcode::kAccessWriteProtect),
             .outputs = {.data = true},
             .take = [&round](const BoardReply& reply) { TakeWriteProtection(round, reply.data); }});
}

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
