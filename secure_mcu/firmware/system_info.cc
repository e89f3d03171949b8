// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/firmware/system_info.h"

#include <algorithm>
#include <iterator>

#include "proto/mailbox/board_items.h"
#include "secure_mcu/firmware/clock_range.h"
#include "secure_mcu/firmware/dwords.h"
#include "secure_mcu/firmware/hidden_clock.h"
#include "secure_mcu/firmware/version.h"

namespace sideband::mcu {
namespace {

using mailbox::BoardClock;
using mailbox::ClockItem;
using mailbox::MailboxStatus;
using mailbox::MaskOf;
using mailbox::MiscFlag;
using mailbox::ThrottleReason;

constexpr uint32_t kMig =
    MaskOf(MiscFlag::kMigSupported) | MaskOf(MiscFlag::kMigCurrent) | MaskOf(MiscFlag::kMigPending);
constexpr uint32_t kEcc =
    MaskOf(MiscFlag::kEccSupported) | MaskOf(MiscFlag::kEccCurrent) | MaskOf(MiscFlag::kEccPending);
constexpr uint8_t kFlagPages = 2;

constexpr size_t kVersionBytes = 64;

uint32_t SupportedReasons(const BoardSpec& board) {
  uint32_t reasons = board.power_limit ? MaskOf(ThrottleReason::kSoftwarePowerCap) : 0;
  if (board.thermal) {
    reasons |= MaskOf(ThrottleReason::kHardwareSlowdown) | MaskOf(ThrottleReason::kHardwareThermal) |
               MaskOf(ThrottleReason::kSoftwareThermal);
  }
  return reasons;
}

bool IsOfNow(ClockItem item) {
  return item == ClockItem::kCurrent || item == ClockItem::kPState || item == ClockItem::kCurrentReasons;
}

}  // namespace

Reply SystemInfo::GetFlags(uint8_t page) const {
  if (page >= kFlagPages) return Fail(MailboxStatus::kErrArg1);
  if (page == 1) {
    return {.data = (board_.state.reset_required ? MaskOf(MiscFlag::kResetRequired) : 0) |
                    (board_.state.drain_recommended ? MaskOf(MiscFlag::kDrainRecommended) : 0)};
  }
  // The chip file fixes the partitions and the ECC, so the pending state equals the current one.
  const bool has_partitions = device_.catalog().slices.size() > 1;
  return {.data = MaskOf(MiscFlag::kDriverRuns) | (has_partitions ? kMig : 0) | (board_.spec.ecc ? kEcc : 0)};
}

uint32_t SystemInfo::PState() const {
  const auto clock = device_.GetWorkloadClock();
  const auto above = std::ranges::upper_bound(clock->levels, clock->hz);
  return static_cast<uint32_t>(clock->levels.end() - above);
}

Reply SystemInfo::GetClock(uint8_t number, uint8_t domain) const {
  if (number >= std::size(mailbox::kClockItems)) return Fail(MailboxStatus::kErrArg1);
  const auto item = static_cast<ClockItem>(number);
  const auto clock = device_.GetWorkloadClock();
  const bool is_frequency = item <= ClockItem::kMaximum;
  if (!is_frequency && !clock) return Fail(MailboxStatus::kErrNotSupported);
  if (domain == static_cast<uint8_t>(BoardClock::kMemory)) return Fail(MailboxStatus::kErrNotSupported);
  if (domain != static_cast<uint8_t>(BoardClock::kGraphics)) return Fail(MailboxStatus::kErrArg2);
  if (IsOfNow(item) && IsClockHidden(device_, clocks_)) return Fail(MailboxStatus::kErrNotAvailable);
  const uint64_t reference_hz = device_.catalog().reference_clock_hz;
  switch (item) {
    case ClockItem::kCurrent:
      return {.data = MhzOf(clock ? clock->hz : reference_hz)};
    case ClockItem::kMinimum:
      return {.data = MhzOf(clock ? clock->levels.front() : reference_hz)};
    case ClockItem::kMaximum:
      return {.data = MhzOf(clock ? clock->levels.back() : reference_hz)};
    case ClockItem::kPState:
      return {.data = PState()};
    case ClockItem::kSupportedReasons:
      return {.data = SupportedReasons(board_.spec)};
    case ClockItem::kCurrentReasons:
      return {.data = board_.state.throttle_reasons};
  }
  return Fail(MailboxStatus::kErrArg1);
}

Reply SystemInfo::GetVersion(uint8_t item, uint8_t dword) const {
  if (item != 0) return Fail(MailboxStatus::kErrArg1);
  if (dword >= kVersionBytes / 4) return Fail(MailboxStatus::kErrArg2);
  return {.data = DwordOf(PaddedText(ProgramVersion(), kVersionBytes), dword)};
}

}  // namespace sideband::mcu
