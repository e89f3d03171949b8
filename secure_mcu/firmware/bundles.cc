// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/firmware/bundles.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "proto/mailbox/board_items.h"
#include "proto/mailbox/services.h"

namespace sideband::mcu {
namespace {

using mailbox::BundleField;
using mailbox::BundleRule;
using mailbox::CommandWord;
using mailbox::MailboxStatus;
using mailbox::Opcode;

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
