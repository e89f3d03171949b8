// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <utility>

#include "daemon/board/group_plans.h"
#include "daemon/board/group_round.h"
#include "proto/mailbox/board_items.h"
#include "proto/mailbox/memory_links.h"

namespace sideband::daemon {
namespace {

using mailbox::Capability;
using mailbox::Opcode;
using mailbox::RemapItem;

std::optional<uint32_t> Mib(GroupRound& round, const char* what, uint32_t mib) {
  return round.Check(what, mib <= kMemoryMibMax) ? std::optional(mib) : std::nullopt;
}

mailbox::CommandWord RemapCommand(RemapItem item) {
  return BoardCommand(Opcode::kGetRowRemap, static_cast<uint8_t>(item));
}

void TakeRemapCounts(GroupRound& round, uint32_t dword) {
  const auto fields = mailbox::RemapCountFields::Decode(dword);
  RowRemapReading& remaps = round.draft().row_remaps;
  // A count stays at its highest number instead of wrapping, so one that falls has restarted.
  remaps.uncorrected = round.Count(0, 0, fields.uncorrected, 64);
  remaps.corrected = round.Count(1, 0, fields.corrected, 64);
  remaps.has_excess = fields.uncorrected_excess || fields.corrected_excess;
}

// `none` is in the place of the echo of opcode and arg1.
mailbox::RemapHistogram HistogramOf(const BoardReply& reply) {
  const auto low_half = [](uint32_t dword) { return static_cast<uint16_t>(dword); };
  const auto high_half = [](uint32_t dword) { return static_cast<uint16_t>(dword >> 16); };
  return {.none = low_half(reply.word.Encode()),
          .low = low_half(reply.data),
          .partial = high_half(reply.data),
          .high = low_half(reply.extended_data),
          .maximum = high_half(reply.extended_data)};
}

using mailbox::EccCounter;
using mailbox::EccMemory;
using mailbox::EccSelector;

// Partition and slice, or GPC and TPC; from version 3 on, texture unit, GPC and TPC (smbpbi-facts.md, 3.8).
constexpr int kNibbles[] = {4, 4}, kTextureUnits[] = {3, 3, 2};
constexpr int kUnitBits = 8;
constexpr uint8_t kSources = 4;
constexpr EccMemory kMemories[] = {EccMemory::kSram, EccMemory::kDram};
// The index of version 5 that our own boards define.
constexpr uint8_t kIndexOfDram = 0, kIndexOfSram = 1;

// A memory's errors of one kind. In keys of counts, `selector` tells its sources apart.
struct EccItem {
  EccMemory memory;
  bool is_corrected;
  uint8_t selector = 0;
};

std::map<EccMemory, RunningCount>& CountsOf(GroupRound& round, bool is_corrected) {
  return is_corrected ? round.draft().ecc.corrected : round.draft().ecc.uncorrected;
}

// Adds a unit's count to its memory's: the sum began when the youngest of its parts did.
void TakeCount(GroupRound& round, const EccItem& item, uint8_t unit, uint32_t raw) {
  const int key = static_cast<int>(item.memory) | (item.is_corrected ? 2 : 0) | item.selector << 2;
  const RunningCount count = round.Count(static_cast<uint16_t>(key), unit, raw, 32);
  RunningCount& sum =
      CountsOf(round, item.is_corrected).try_emplace(item.memory, RunningCount{0, count.created}).first->second;
  sum.value += count.value;
  sum.created = std::max(sum.created, count.created);
}

void AddCount(GroupRound& round, const mailbox::CommandWord& word, const EccItem& item) {
  round.Add({.word = word, .outputs = {.data = true}, .take = [&round, item](const BoardReply& reply) {
               TakeCount(round, item, 0, reply.data);
             }});
}

void AddVersion6(GroupRound& round) {
  for (const EccMemory memory : kMemories) {
    for (const EccCounter counter : {EccCounter::kCorrected, EccCounter::kUncorrected}) {
      AddCount(round, BoardCommand(Opcode::kGetEccV6, static_cast<uint8_t>(counter), static_cast<uint8_t>(memory)),
               {memory, counter == EccCounter::kCorrected});
    }
  }
}

void AddVersion5(GroupRound& round) {
  for (const EccMemory memory : kMemories) {
    const uint8_t index = memory == EccMemory::kDram ? kIndexOfDram : kIndexOfSram;
    for (const mailbox::EccV5Type type : {mailbox::EccV5Type::kCorrected, mailbox::EccV5Type::kUncorrected}) {
      AddCount(round, BoardCommand(Opcode::kGetEccV5, index, static_cast<uint8_t>(type)),
               {memory, type == mailbox::EccV5Type::kCorrected});
    }
  }
}

void AddUnit(GroupRound& round, Opcode opcode, const EccItem& item, std::span<const int> widths, uint8_t unit) {
  const auto go_on = [&round, opcode, item, widths, unit](bool exists) {
    if (const auto next = NextUnit(unit, exists, widths)) AddUnit(round, opcode, item, widths, *next);
  };
  round.Add({.word = BoardCommand(opcode, item.selector, unit),
             .outputs = {.data = true},
             .take =
                 [&round, item, unit, go_on](const BoardReply& reply) {
                   TakeCount(round, item, unit, reply.data);
                   go_on(true);
                 },
             // Only of a unit that does not exist does the search go on: other failures are the whole memory's.
             .refuse =
                 [go_on](const BoardReply& reply) {
                   if (reply.word.status == mailbox::MailboxStatus::kErrArg2) go_on(false);
                 }});
}

void AddUnits(GroupRound& round, Opcode opcode) {
  const std::span<const int> graphics_widths =
      opcode == Opcode::kGetEccV2 ? std::span<const int>(kNibbles) : std::span<const int>(kTextureUnits);
  for (const bool is_double : {false, true}) {
    const uint8_t frame_buffer = EccSelector{.is_double = is_double}.Encode();
    AddUnit(round, opcode, {EccMemory::kDram, !is_double, frame_buffer}, kNibbles, 0);
    for (uint8_t source = 0; source < kSources; ++source) {
      const uint8_t sram = EccSelector{.is_graphics = true, .source = source, .is_double = is_double}.Encode();
      AddUnit(round, opcode, {EccMemory::kSram, !is_double, sram}, graphics_widths, 0);
    }
  }
}

void AddThreshold(GroupRound& round) {
  round.Add({.word = BoardCommand(Opcode::kGetEccV6, static_cast<uint8_t>(EccCounter::kFlags)),
             .outputs = {.data = true},
             .take = [&ecc = round.draft().ecc](const BoardReply& reply) {
               ecc.sram_threshold_exceeded = (reply.data & mailbox::kSramThresholdExceeded) != 0;
             }});
}

void AddNewest(GroupRound& round) {
  if (round.Has(Capability::kEccV6)) return AddVersion6(round);
  if (round.Has(Capability::kEccV5)) return AddVersion5(round);
  if (round.Has(Capability::kEccV4)) return AddUnits(round, Opcode::kGetEccV4);
  if (round.Has(Capability::kEccV3)) return AddUnits(round, Opcode::kGetEccV3);
  if (round.Has(Capability::kEccV2)) return AddUnits(round, Opcode::kGetEccV2);
}

}  // namespace

void PlanMemory(GroupRound& round) {
  MemoryReading& memory = round.draft().memory;
  if (round.Has(Capability::kDramCapacity)) {
    round.Add({.word = BoardCommand(Opcode::kGetSysId, static_cast<uint8_t>(mailbox::SysId::kMaxDramCapacity)),
               .outputs = {.data = true},
               .take = [&round, &memory](const BoardReply& reply) {
                 memory.total_mib = Mib(round, "the memory's size", reply.data);
               }});
  }
  if (!round.Has(Capability::kMemoryCapacity)) return;
  AddAsync(round, {.type = mailbox::AsyncType::kMemoryCapacity, .dwords = 2},
           [&round, &memory](const std::vector<uint32_t>& dwords) {
             memory.reserved_mib = Mib(round, "the reserved memory", dwords[0]);
             memory.used_mib = Mib(round, "the used memory", dwords[1]);
           });
}

void PlanRowRemaps(GroupRound& round) {
  RowRemapReading& remaps = round.draft().row_remaps;
  if (round.Has(Capability::kRowRemap)) {
    round.Add({.word = RemapCommand(RemapItem::kCounts),
               .outputs = {.data = true},
               .take = [&round](const BoardReply& reply) { TakeRemapCounts(round, reply.data); }});
  }
  if (round.Has(Capability::kRemapPending)) {
    round.Add(
        {.word = RemapCommand(RemapItem::kFlags), .outputs = {.data = true}, .take = [&](const BoardReply& reply) {
           remaps.has_failed = (reply.data & mailbox::kRemapFailed) != 0;
           remaps.is_pending = (reply.data & mailbox::kRemapPending) != 0;
         }});
  }
  if (round.Has(Capability::kRemapHistogram)) {
    round.Add({.word = RemapCommand(RemapItem::kHistogram),
               .outputs = {.data = true, .extended_data = true},
               .take = [&remaps](const BoardReply& reply) { remaps.banks = HistogramOf(reply); }});
  }
}

void PlanRetiredPages(GroupRound& round) {
  round.Add({.word = BoardCommand(Opcode::kGetRetiredPages),
             .outputs = {.data = true},
             .take = [&pages = round.draft().retired_pages](const BoardReply& reply) {
               pages.single_bit = static_cast<uint8_t>(reply.data);
               pages.double_bit = static_cast<uint8_t>(reply.data >> 8);
             }});
}

std::optional<uint8_t> NextUnit(uint8_t unit, bool exists, std::span<const int> widths) {
  int step_bit = 0;
  if (!exists) {
    // The lowest field that is not 0 was too high; without one, there is nothing here at all.
    size_t field = 0;
    while (field < widths.size() && (unit >> step_bit & ((1 << widths[field]) - 1)) == 0) step_bit += widths[field++];
    if (field == widths.size()) return std::nullopt;
    step_bit += widths[field];
  }
  const int step = 1 << step_bit, next = (unit & ~(step - 1)) + step;
  return next < 1 << kUnitBits ? std::optional(static_cast<uint8_t>(next)) : std::nullopt;
}

void PlanEcc(GroupRound& round) {
  AddNewest(round);
  if (round.Has(Capability::kSramThreshold)) AddThreshold(round);
}

}  // namespace sideband::daemon
