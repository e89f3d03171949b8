// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/firmware/trigger_commands.h"

#include "proto/mailbox/extension.h"

namespace sideband::mcu {
namespace {

using mailbox::MailboxStatus;
using mailbox::TriggerStep;

Reply SetGrid(Device& device, uint64_t period) {
  return device.SetTriggerGrid(period).ok() ? Reply{} : Fail(MailboxStatus::kErrData);
}

}  // namespace

Reply ExecuteTrigger(Device& device, const mailbox::CommandWord& command, uint32_t data, uint32_t extended_data) {
  const uint64_t period = uint64_t{extended_data} << 32 | data;
  if (command.arg2 != 0) return Fail(MailboxStatus::kErrArg2);
  switch (static_cast<TriggerStep>(command.arg1)) {
    case TriggerStep::kOnce:
      return {.data = device.Trigger()};
    case TriggerStep::kStart:
      return period == 0 ? Fail(MailboxStatus::kErrData) : SetGrid(device, period);
    case TriggerStep::kStop:
      return SetGrid(device, 0);
  }
  return Fail(MailboxStatus::kErrArg1);
}

}  // namespace sideband::mcu
