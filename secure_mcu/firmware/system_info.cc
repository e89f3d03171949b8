// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/firmware/system_info.h"

#include "secure_mcu/firmware/dwords.h"
#include "secure_mcu/firmware/version.h"

namespace sideband::mcu {
namespace {

using mailbox::MailboxStatus;

constexpr uint32_t kMigSupported = 1 << 3, kMigEnabled = 1 << 4, kMigPending = 1 << 5, kDriverRuns = 1 << 6;
constexpr uint8_t kFlagPages = 2;

constexpr uint8_t kClockMost = 2, kClockKnown = 5;  // 3 to 5 (P-state, throttle reasons) are not served
constexpr uint8_t kGraphicsClock = 0, kMemoryClock = 1;
constexpr uint64_t kHzPerMhz = 1'000'000;

constexpr size_t kVersionBytes = 64;

}  // namespace

Reply SystemInfo::GetFlags(uint8_t page) const {
  if (page >= kFlagPages) return Fail(MailboxStatus::kErrArg1);
  if (page == 1) return {};
  // The chip file fixes the partitions, so the pending state equals the current one.
  const bool has_partitions = device_.catalog().slices.size() > 1;
  return {.data = kDriverRuns | (has_partitions ? kMigSupported | kMigEnabled | kMigPending : 0)};
}

Reply SystemInfo::GetClock(uint8_t which, uint8_t domain) const {
  if (which > kClockMost) {
    return Fail(which <= kClockKnown ? MailboxStatus::kErrNotSupported : MailboxStatus::kErrArg1);
  }
  if (domain == kMemoryClock) return Fail(MailboxStatus::kErrNotSupported);
  if (domain != kGraphicsClock) return Fail(MailboxStatus::kErrArg2);
  const uint64_t hz = device_.catalog().reference_clock_hz;
  return {.data = static_cast<uint32_t>((hz + kHzPerMhz / 2) / kHzPerMhz)};
}

Reply SystemInfo::GetVersion(uint8_t item, uint8_t dword) const {
  if (item != 0) return Fail(MailboxStatus::kErrArg1);
  if (dword >= kVersionBytes / 4) return Fail(MailboxStatus::kErrArg2);
  return {.data = DwordOf(PaddedText(ProgramVersion(), kVersionBytes), dword)};
}

}  // namespace sideband::mcu
