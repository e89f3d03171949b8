// SPDX-License-Identifier: Apache-2.0
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
  // A count stays at its highest number instead of wrapping, so one that falls has begun anew.
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

}  // namespace sideband::daemon
