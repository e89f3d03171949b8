// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/firmware/power_hints.h"

#include <algorithm>
#include <cmath>

#include "proto/mailbox/board_items.h"
#include "secure_mcu/firmware/clock_range.h"

namespace sideband::mcu {
namespace {

using mailbox::BoardClock;
using mailbox::MailboxStatus;

enum Item : uint8_t { kClocks = 0, kTemperature = 1, kProfiles = 2 };
constexpr uint8_t kProfilePages = 4;
constexpr double kDegreesMax = 32'767;  // of a signed number of 16 bits

Reply Profiles(uint8_t page) { return page < kProfilePages ? Reply{} : Fail(MailboxStatus::kErrArg2); }

}  // namespace

Reply PowerHints::Get(uint8_t item, uint8_t which) const {
  if (item == kClocks) return Clocks(which);
  if (item == kTemperature) return Temperature(which);
  return item == kProfiles ? Profiles(which) : Fail(MailboxStatus::kErrArg1);
}

Reply PowerHints::Clocks(uint8_t clock) const {
  if (static_cast<BoardClock>(clock) == BoardClock::kMemory) return Fail(MailboxStatus::kErrNotSupported);
  if (static_cast<BoardClock>(clock) != BoardClock::kGraphics) return Fail(MailboxStatus::kErrArg2);
  const auto range = ClockRangeMhz(device_);
  return range ? Reply{.data = *range} : Fail(MailboxStatus::kErrNotSupported);
}

Reply PowerHints::Temperature(uint8_t which) const {
  if (which != 0) return Fail(MailboxStatus::kErrArg2);
  if (!spec_.thermal) return Fail(MailboxStatus::kErrNotSupported);
  const auto most = static_cast<uint32_t>(std::floor(std::clamp(spec_.thermal->shutdown_c, 0.0, kDegreesMax)));
  return {.data = most << 16};
}

}  // namespace sideband::mcu
