// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/firmware/memory_errors.h"

#include <algorithm>

#include "proto/mailbox/memory_links.h"

namespace sideband::mcu {
namespace {

using mailbox::EccCounter;
using mailbox::EccMemory;
using mailbox::EccSelector;
using mailbox::EccV5Type;
using mailbox::MailboxStatus;
using mailbox::RemapItem;

constexpr uint8_t kSelectsAddresses = 1;  // arg1 7:6 of V2 to V4
constexpr uint8_t kCountedSource = 0;     // of V2 to V4

constexpr uint8_t kV5Dram = 0, kV5Sram = 1;  // indexes
constexpr uint8_t kV5BufferEntries = 16;

uint16_t CountField(uint32_t count) { return static_cast<uint16_t>(std::min(count, mailbox::kRemapCountMax)); }

uint32_t Halves(uint16_t low, uint16_t high) { return low | uint32_t{high} << 16; }

}  // namespace

Reply MemoryErrors::GetEcc(EccGeneration generation, uint8_t arg1, uint8_t arg2) const {
  if (spec_.ecc != generation) return Fail(MailboxStatus::kErrNotSupported);
  switch (generation) {
    case EccGeneration::kV2:
    case EccGeneration::kV3:
    case EccGeneration::kV4:
      return OfUnit(arg1, arg2);
    case EccGeneration::kV5:
      return OfIndex(arg1, arg2);
    case EccGeneration::kV6:
      return OfMemory(arg1, arg2);
  }
  return Fail(MailboxStatus::kErrNotSupported);
}

Reply MemoryErrors::OfUnit(uint8_t arg1, uint8_t arg2) const {
  // With addresses, the fields below mean something else, so IsValid() does not apply.
  if (arg1 >> 6 == kSelectsAddresses) return Fail(MailboxStatus::kErrNotSupported);
  if (!EccSelector::IsValid(arg1)) return Fail(MailboxStatus::kErrArg1);
  const EccSelector selector = EccSelector::Decode(arg1);
  if (selector.source != kCountedSource || arg2 != 0) return {};
  const EccErrors& errors = selector.is_graphics ? state_.sram : state_.dram;
  return {.data = selector.is_double ? errors.uncorrected : errors.corrected};
}

Reply MemoryErrors::OfIndex(uint8_t arg1, uint8_t arg2) const {
  const uint8_t index = arg1 & ~mailbox::kEccV5Buffer;
  if ((arg1 & mailbox::kEccV5Buffer) != 0) {
    return Fail(index < kV5BufferEntries ? MailboxStatus::kErrNotSupported : MailboxStatus::kErrArg1);
  }
  if (index > kV5Sram) return Fail(MailboxStatus::kErrArg1);
  // Bits 7:5 are the index's high bits. No board has an index that needs them.
  if (arg2 > mailbox::kEccV5TypeMax) return Fail(MailboxStatus::kErrArg2);
  const EccErrors& errors = index == kV5Dram ? state_.dram : state_.sram;
  if (arg2 == static_cast<uint8_t>(EccV5Type::kCorrected)) return {.data = errors.corrected};
  return {.data = arg2 == static_cast<uint8_t>(EccV5Type::kUncorrected) ? errors.uncorrected : 0};
}

Reply MemoryErrors::OfMemory(uint8_t arg1, uint8_t arg2) const {
  if (arg1 > static_cast<uint8_t>(EccCounter::kFlags)) return Fail(MailboxStatus::kErrArg1);
  const auto counter = static_cast<EccCounter>(arg1);
  const uint8_t arg2_max = counter == EccCounter::kFlags ? 0 : static_cast<uint8_t>(EccMemory::kDram);
  if (arg2 > arg2_max) return Fail(MailboxStatus::kErrArg2);
  const EccErrors& errors = static_cast<EccMemory>(arg2) == EccMemory::kDram ? state_.dram : state_.sram;
  switch (counter) {
    case EccCounter::kCorrected:
      return {.data = errors.corrected};
    case EccCounter::kUncorrected:
      return {.data = errors.uncorrected};
    case EccCounter::kFlags:
      return {.data = state_.sram_threshold_exceeded ? mailbox::kSramThresholdExceeded : 0};
  }
  return Fail(MailboxStatus::kErrArg1);
}

Reply MemoryErrors::GetRowRemap(uint8_t arg1, uint8_t arg2) const {
  if (!spec_.row_remapping) return Fail(MailboxStatus::kErrNotSupported);
  if (arg1 > static_cast<uint8_t>(RemapItem::kHistogram)) return Fail(MailboxStatus::kErrArg1);
  const auto item = static_cast<RemapItem>(arg1);
  // The flags have one page.
  if (item != RemapItem::kCounts && arg2 != 0) return Fail(MailboxStatus::kErrArg2);
  const RowRemaps& rows = state_.rows;
  const mailbox::RemapHistogram& banks = rows.banks;
  switch (item) {
    case RemapItem::kCounts:
      return RemapCounts(arg2);
    case RemapItem::kFlags:
      return {.data = (rows.has_failed ? mailbox::kRemapFailed : 0) | (rows.is_pending ? mailbox::kRemapPending : 0)};
    case RemapItem::kHistogram:
      return {.data = Halves(banks.low, banks.partial),
              .extended_data = Halves(banks.high, banks.maximum),
              .word_bits = banks.none};
  }
  return Fail(MailboxStatus::kErrArg1);
}

Reply MemoryErrors::RemapCounts(uint8_t arg2) const {
  const RowRemaps& rows = state_.rows;
  const mailbox::RemapCountFields both = {.uncorrected = CountField(rows.uncorrected),
                                          .corrected = CountField(rows.corrected),
                                          .uncorrected_excess = rows.uncorrected > mailbox::kRemapCountMax,
                                          .corrected_excess = rows.corrected > mailbox::kRemapCountMax};
  switch (static_cast<mailbox::RemapCounts>(arg2)) {
    case mailbox::RemapCounts::kBoth:
      return {.data = both.Encode()};
    case mailbox::RemapCounts::kUncorrected:
      return {.data = rows.uncorrected};
    case mailbox::RemapCounts::kCorrected:
      return {.data = rows.corrected};
  }
  return Fail(MailboxStatus::kErrArg2);
}

Reply MemoryErrors::GetRetiredPages(uint8_t arg1) const {
  if (!spec_.page_retirement) return Fail(MailboxStatus::kErrNotSupported);
  if (arg1 != 0) return Fail(MailboxStatus::kErrArg1);
  return {.data = state_.pages.single_bit | uint32_t{state_.pages.double_bit} << 8};
}

}  // namespace sideband::mcu
