// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/firmware/trigger_commands.h"

#include "proto/mailbox/extension.h"

namespace sideband::mcu {
namespace {

using mailbox::MailboxStatus;
using mailbox::TriggerStep;

Reply Stop(Device& device) { return device.SetTriggerGrid(0).ok() ? Reply{} : Fail(MailboxStatus::kErrData); }

// Answers the period that it has taken: the registers are shared, and another controller may have written one of its
// words.
Reply Start(Device& device, uint64_t period) {
  if (period == 0 || !device.SetTriggerGrid(period).ok()) return Fail(MailboxStatus::kErrData);
  return {.data = static_cast<uint32_t>(period), .extended_data = static_cast<uint32_t>(period >> 32)};
}

}  // namespace

Reply ExecuteTrigger(Device& device, const mailbox::CommandWord& command, uint32_t data, uint32_t extended_data) {
  const uint64_t period = uint64_t{extended_data} << 32 | data;
  const bool is_of_domains = command.arg1 >= static_cast<uint8_t>(TriggerStep::kSelect);
  if (!is_of_domains && command.arg2 != 0) return Fail(MailboxStatus::kErrArg2);
  switch (static_cast<TriggerStep>(command.arg1)) {
    case TriggerStep::kOnce:
      return {.data = device.Trigger()};
    case TriggerStep::kStart:
      return Start(device, period);
    case TriggerStep::kStop:
      return Stop(device);
    // The device has no clock domains.
    case TriggerStep::kSelect:
    case TriggerStep::kBookmark:
    case TriggerStep::kTimeline:
    case TriggerStep::kHulls:
      return Fail(MailboxStatus::kErrOpcode);
  }
  return Fail(MailboxStatus::kErrArg1);
}

}  // namespace sideband::mcu
