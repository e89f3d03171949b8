// SPDX-License-Identifier: Apache-2.0
#include "daemon/board/group_plans.h"
#include "daemon/board/group_round.h"
#include "proto/mailbox/board_items.h"

namespace sideband::daemon {
namespace {

using mailbox::MailboxStatus;
using mailbox::Opcode;

void TakeDword(GroupRound& round, uint8_t index, uint32_t dword) {
  round.memory().capabilities.dwords[index] = dword;
  // What follows depends on all of them.
  if (index + 1 < mailbox::kCapabilityDwords) return;
  if (round.capabilities().HasScratch()) {
    constexpr uint8_t kWrite = 0;
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

}  // namespace

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

}  // namespace sideband::daemon
