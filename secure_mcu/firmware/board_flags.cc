// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/firmware/board_flags.h"

#include "proto/mailbox/board_items.h"

namespace sideband::mcu {
namespace {

using mailbox::MailboxStatus;

constexpr uint32_t kInsufficient = 1 << 0;
constexpr uint8_t kGet = 0, kSet = 1;

}  // namespace

Reply BoardFlags::GetPowerConnector(uint8_t arg1) const {
  if (!spec_.power_connector) return Fail(MailboxStatus::kErrNotSupported);
  if (arg1 != 0) return Fail(MailboxStatus::kErrArg1);
  return {.data = state_.power_is_insufficient ? kInsufficient : 0};
}

Reply BoardFlags::AccessWriteProtect(uint8_t arg1, uint8_t arg2) {
  if (!spec_.write_protection) return Fail(MailboxStatus::kErrNotSupported);
  if (arg1 != kGet && arg1 != kSet) return Fail(MailboxStatus::kErrArg1);
  if (arg1 == kGet) return arg2 == 0 ? WriteProtect() : Fail(MailboxStatus::kErrArg2);
  const bool enables = arg2 == mailbox::kWriteProtectEnabled;
  if (!enables && arg2 != mailbox::kWriteProtectDisabled) return Fail(MailboxStatus::kErrArg2);
  state_.is_write_protected = enables;
  return {};
}

Reply BoardFlags::WriteProtect() const {
  return {.data = state_.is_write_protected ? mailbox::kWriteProtectEnabled : mailbox::kWriteProtectDisabled};
}

}  // namespace sideband::mcu
