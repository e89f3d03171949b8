// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/firmware/scratch_memory.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "proto/base/bytes.h"
#include "proto/mailbox/board_items.h"
#include "proto/mailbox/services.h"
#include "secure_mcu/firmware/system_info.h"

namespace sideband::mcu {
namespace {

using mailbox::BundleField;
using mailbox::BundleRule;
using mailbox::CommandWord;
using mailbox::DriverEvent;
using mailbox::DriverEventStep;
using mailbox::MailboxStatus;
using mailbox::Opcode;

constexpr uint8_t kWrite = 0, kRead = 1;
enum Index : uint8_t { kScratchPages = 0, kPending = 1, kMask = 2 };

constexpr uint8_t kSteps = 3;

// A record is a multiple of four bytes.
std::vector<uint32_t> DwordsOf(ByteSpan record) {
  std::vector<uint32_t> dwords(record.size() / 4);
  for (size_t i = 0; i < dwords.size(); ++i) dwords[i] = DwordOf(record, i);
  return dwords;
}

enum EntryDword : size_t { kCommand = 0, kDataIn = 1, kDataOut = 2, kExtendedOut = 3 };
constexpr uint8_t kWritesRegister = 0;  // arg1 of REGISTER_ACCESS
constexpr unsigned kRegisterBits = 32, kEchoBits = 24;
constexpr uint32_t kEcho = 0x00FF'FFFF;

// Whether the request would start a bundle, write scratch memory or select its pages.
bool IsRefused(const CommandWord& command) {
  constexpr Opcode kRefused[] = {Opcode::kLaunchBundle, Opcode::kScratchWrite, Opcode::kScratchCopy,
                                 Opcode::kGetDriverEvent};
  if (command.opcode == Opcode::kAsyncRequest) {
    return static_cast<mailbox::AsyncType>(command.arg1) != mailbox::AsyncType::kPoll;
  }
  if (command.opcode == Opcode::kRegisterAccess) {
    return command.arg1 == kWritesRegister &&
           static_cast<mailbox::BoardRegister>(command.arg2) == mailbox::BoardRegister::kScratchPages;
  }
  return std::ranges::find(kRefused, command.opcode) != std::end(kRefused);
}

uint32_t StatusWord(CommandWord command, const Reply& reply) {
  const bool copies = command.copy_data && reply.status == MailboxStatus::kSuccess;
  command.status = reply.status;
  command.execute = command.copy_data = command.reserved = false;
  const uint32_t word = command.Encode();
  const uint32_t bits = reply.word_bits.value_or(copies ? reply.data : word);
  return (word & ~kEcho) | (bits & kEcho);
}

unsigned WidthOf(const BundleRule& rule) { return rule.width == 0 ? kRegisterBits : rule.width; }

bool IsValid(uint32_t dword, size_t requests) {
  const BundleRule rule = BundleRule::Decode(dword);
  if (rule.Encode() != dword || rule.request >= requests) return false;
  if (rule.source > BundleField::kExtendedData || rule.destination > BundleField::kExtendedData) return false;
  // Status and EVENT_PENDING of the reply are the bundle's own.
  const unsigned room = rule.destination == BundleField::kStatus ? kEchoBits : kRegisterBits;
  return rule.from + WidthOf(rule) <= kRegisterBits && rule.to + WidthOf(rule) <= room;
}

uint32_t SourceOf(const BundleRule& rule, std::span<const uint32_t> entries) {
  constexpr EntryDword kSources[] = {kCommand, kDataOut, kExtendedOut};  // by BundleField
  const size_t entry = rule.request * mailbox::kBundleRequestDwords;
  return entries[entry + kSources[static_cast<size_t>(rule.source)]];
}

// The reply's registers, by BundleField.
using Registers = std::array<uint32_t, 3>;

void Apply(const BundleRule& rule, std::span<const uint32_t> entries, Registers& registers) {
  const uint64_t mask = (uint64_t{1} << WidthOf(rule)) - 1;
  const uint64_t bits = SourceOf(rule, entries) >> rule.from & mask;
  uint32_t& written = registers[static_cast<size_t>(rule.destination)];
  written = static_cast<uint32_t>((written & ~(mask << rule.to)) | bits << rule.to);
}

Reply Pack(std::span<const uint32_t> rules, std::span<const uint32_t> entries, const CommandWord& bundle) {
  Registers registers = {bundle.Encode(), 0, 0};
  bool writes_word = false;
  for (const uint32_t dword : rules) {
    const BundleRule rule = BundleRule::Decode(dword);
    Apply(rule, entries, registers);
    writes_word |= rule.destination == BundleField::kStatus;
  }
  Reply reply = {.data = registers[1], .extended_data = registers[2]};
  if (writes_word) reply.word_bits = registers[0] & kEcho;
  return reply;
}

}  // namespace

Reply ScratchMemory::Read(uint8_t dword) const { return {.data = pages_[source_][dword]}; }

Reply ScratchMemory::Write(uint8_t dword, uint8_t count_less_one, uint32_t value) {
  const size_t count = size_t{count_less_one} + 1;
  if (dword + count > kPageDwords) return Fail(MailboxStatus::kErrArg2);
  std::fill_n(pages_[destination_].begin() + dword, count, value);
  return {};
}

Reply ScratchMemory::Copy(uint8_t dword, uint8_t count_less_one, uint32_t from) {
  const size_t count = size_t{count_less_one} + 1;
  if (dword + count > kPageDwords) return Fail(MailboxStatus::kErrArg2);
  if (from >= kPageDwords || from + count > kPageDwords) return Fail(MailboxStatus::kErrData);
  const Page source = pages_[source_];  // a copy: the page may be the destination, too
  std::copy_n(source.begin() + from, count, pages_[destination_].begin() + dword);
  return {};
}

bool ScratchMemory::SelectPages(uint32_t pages) {
  const size_t destination = pages & 0xFF, source = pages >> 8;
  if (destination >= kPages || source >= kPages) return false;
  destination_ = destination;
  source_ = source;
  return true;
}

bool ScratchMemory::Put(uint8_t dword, std::span<const uint32_t> values) {
  if (dword + values.size() > kPageDwords) return false;
  std::copy(values.begin(), values.end(), pages_[destination_].begin() + dword);
  return true;
}

std::span<const uint32_t> ScratchMemory::Parameters(uint8_t dword, size_t count) const {
  if (dword + count > kPageDwords) return {};
  return std::span(pages_[destination_]).subspan(dword, count);
}

Reply EventRegisters::Access(uint8_t arg1, uint8_t arg2, uint32_t data) {
  if (arg1 != kWrite && arg1 != kRead) return Fail(MailboxStatus::kErrArg1);
  if (arg2 > kMask) return Fail(MailboxStatus::kErrArg2);
  return arg1 == kWrite ? Write(arg2, data) : Read(arg2);
}

Reply EventRegisters::Write(uint8_t index, uint32_t data) {
  if (index == kScratchPages) return scratch_.SelectPages(data) ? Reply{} : Fail(MailboxStatus::kErrData);
  if (index == kPending) {
    // A controller can clear events and raise none.
    pending_ = Pending() & data;
    followed_ = board_.raised;
    return {};
  }
  if ((data & ~kEverything) != 0) return Fail(MailboxStatus::kErrData);
  mask_ = data;
  return {};
}

Reply EventRegisters::Read(uint8_t index) const {
  if (index == kScratchPages) return {.data = scratch_.pages()};
  return {.data = index == kPending ? Pending() : mask_};
}

uint32_t EventRegisters::Pending() const {
  uint32_t raised = 0;
  for (const mailbox::BoardEventRow& row : mailbox::kBoardEvents) {
    const auto index = static_cast<size_t>(row.event);
    if (board_.raised[index] != followed_[index]) raised |= MaskOf(row.event);
  }
  return pending_ | raised;
}

Reply DriverEvents::Get(uint8_t step, uint8_t dword, uint32_t data) {
  if (step >= kSteps) return Fail(MailboxStatus::kErrArg1);
  const auto event = Find(static_cast<DriverEventStep>(step), data);
  if (!event) return Fail(MailboxStatus::kErrNotAvailable);
  const Bytes record = event->Encode();
  if (!scratch_.Put(dword, DwordsOf(record))) return Fail(MailboxStatus::kErrArg2);
  // Removes the record only after it has been stored: otherwise a failed command would lose it.
  if (static_cast<DriverEventStep>(step) == DriverEventStep::kOldest) messages_.TakeOldest();
  return {.data = static_cast<uint32_t>(record.size())};
}

std::optional<DriverEvent> DriverEvents::Find(DriverEventStep step, uint32_t data) const {
  switch (step) {
    case DriverEventStep::kOldest:
      return messages_.FindFrom(0);
    case DriverEventStep::kBySequence:
      return messages_.FindFrom(data);
    case DriverEventStep::kByTime:
      return messages_.FindSince(data);
  }
  return std::nullopt;
}

Reply Bundles::Launch(uint8_t counts, uint8_t dword) {
  const size_t requests = counts & 0xF, rules = counts >> 4;
  if (requests == 0 || requests > mailbox::kBundleRequestsMax || rules > mailbox::kBundleRulesMax) {
    return Fail(MailboxStatus::kErrArg1);
  }
  const size_t entry_dwords = requests * mailbox::kBundleRequestDwords;
  const auto laid_out = scratch_.Parameters(dword, entry_dwords + rules);
  if (laid_out.empty()) return Fail(MailboxStatus::kErrArg2);
  // A copy: no request can change a rule that has been judged.
  std::vector<uint32_t> bundle(laid_out.begin(), laid_out.end());
  const auto entries = std::span(bundle).first(entry_dwords), rule_dwords = std::span(bundle).subspan(entry_dwords);
  const auto is_valid = [&](uint32_t rule) { return IsValid(rule, requests); };
  if (!std::ranges::all_of(rule_dwords, is_valid)) return Fail(MailboxStatus::kErrDisposition);

  const bool has_succeeded = ExecuteAll(entries);
  scratch_.Put(dword, entries);
  Reply reply = Pack(rule_dwords, entries, {.opcode = Opcode::kLaunchBundle, .arg1 = counts, .arg2 = dword});
  if (!has_succeeded) reply.status = MailboxStatus::kPartialFailure;
  return reply;
}

bool Bundles::ExecuteAll(std::span<uint32_t> entries) const {
  bool has_succeeded = true, has_stopped = false;
  for (size_t i = 0; i < entries.size(); i += mailbox::kBundleRequestDwords) {
    const auto entry = entries.subspan(i, mailbox::kBundleRequestDwords);
    const bool stops = (entry[kCommand] & mailbox::kBundleStops) != 0;
    const CommandWord command = CommandWord::Decode(entry[kCommand]);
    const Reply reply = has_stopped ? Fail(MailboxStatus::kNull) : ExecuteOne(command, entry[kDataIn]);
    const bool has_failed = reply.status != MailboxStatus::kSuccess;
    has_succeeded &= !has_failed;
    has_stopped |= has_failed && stops;
    entry[kCommand] = StatusWord(command, reply);
    entry[kDataOut] = reply.data;
    entry[kExtendedOut] = reply.extended_data;
  }
  return has_succeeded;
}

Reply Bundles::ExecuteOne(const CommandWord& command, uint32_t data) const {
  if (command.reserved || IsRefused(command)) return Fail(MailboxStatus::kErrRequest);
  CommandWord word = command;
  // In an entry the bit of `execute` is kBundleStops.
  word.execute = true;
  word.status = MailboxStatus::kNull;
  return execute_(word, data);
}

}  // namespace sideband::mcu
