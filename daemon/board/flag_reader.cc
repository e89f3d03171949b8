// SPDX-License-Identifier: Apache-2.0
#include <iterator>

#include "daemon/board/group_plans.h"
#include "daemon/board/group_round.h"
#include "proto/mailbox/board_items.h"

namespace sideband::daemon {
namespace {

using mailbox::Capability;
using mailbox::MiscFlag;
using mailbox::Opcode;

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

}  // namespace

void PlanFlags(GroupRound& round) {
  if (round.capabilities().HasAny(kFirstPage)) AddPage(round, 0);
  if (round.capabilities().HasAny(kSecondPage)) AddPage(round, 1);
  if (!round.Has(Capability::kAccessWpMode)) return;
  round.Add({.word = BoardCommand(Opcode::kAccessWriteProtect),
             .outputs = {.data = true},
             .take = [&round](const BoardReply& reply) { TakeWriteProtection(round, reply.data); }});
}

}  // namespace sideband::daemon
