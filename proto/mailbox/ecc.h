// SPDX-License-Identifier: Apache-2.0
//
// Errors of a board's memories: GET_ECC, whose arguments differ between the generations, and REMAP_ROW_STATS. The
// numbers are those of NVIDIA's public smbpbi.h (open-gpu-kernel-modules, MIT; docs/design/smbpbi-facts.md, 3.8).
//   V6: arg1 = EccCounter, arg2 = EccMemory → 5D = errors
//   V5: arg1 bit 7 clear, 6:0 = index 6:0; arg2 7:5 = index 9:7, 2:0 = type → 5D = errors
//   V2 to V4: arg1 = EccSelector::Encode(); arg2 = partition and slice, or GPC and TPC → 5D = errors
#ifndef SIDEBAND_PROTO_MAILBOX_ECC_H_
#define SIDEBAND_PROTO_MAILBOX_ECC_H_

#include <cstdint>

namespace sideband::mailbox {

// V6.
enum class EccCounter : uint8_t { kCorrected = 0, kUncorrected = 1, kFlags = 2 };
enum class EccMemory : uint8_t { kSram = 0, kDram = 1 };
// Of kFlags, whose arg2 is 0. Announced by Capability::kSramThreshold.
inline constexpr uint32_t kSramThresholdExceeded = 1 << 0;

// V5: an index selects a counter in the order of the board's units; our boards have DRAM at 0 and SRAM at 1.
enum class EccV5Type : uint8_t { kCorrected = 0, kUncorrected = 1 };
inline constexpr uint8_t kEccV5Buffer = 1 << 7;  // of arg1: the buffer of SRAM addresses instead of counts
inline constexpr uint8_t kEccV5TypeMax = 4;

// arg1 of V2 to V4.
struct EccSelector {
  bool is_address = false;   // of the frame buffer's errors, instead of counts
  bool is_graphics = false;  // SRAM of the graphics engine, instead of the frame buffer
  uint8_t source = 0;        // 0 to 3: which SRAM
  bool is_double = false;    // errors of two bits, instead of one

  constexpr uint8_t Encode() const {
    return static_cast<uint8_t>((is_address ? 1 << 6 : 0) | (is_graphics ? 1 << 4 : 0) | source << 2 |
                                (is_double ? 1 : 0));
  }
  // Valid only where the fields in bits 7:6, 5:4 and 1:0 are 0 or 1, and source is below 4.
  static constexpr bool IsValid(uint8_t arg1) { return (arg1 >> 6) <= 1 && (arg1 >> 4 & 3) <= 1 && (arg1 & 3) <= 1; }
  static constexpr EccSelector Decode(uint8_t arg1) {
    return {.is_address = (arg1 >> 6 & 1) != 0,
            .is_graphics = (arg1 >> 4 & 1) != 0,
            .source = static_cast<uint8_t>(arg1 >> 2 & 3),
            .is_double = (arg1 & 1) != 0};
  }
};

// REMAP_ROW_STATS, arg1. Of counts, arg2 selects both in one dword, or one of them.
enum class RemapItem : uint8_t { kCounts = 0, kFlags = 1, kHistogram = 2 };
enum class RemapCounts : uint8_t { kBoth = 0, kUncorrected = 1, kCorrected = 2 };
inline constexpr uint32_t kRemapFailed = 1 << 0, kRemapPending = 1 << 1;  // of kFlags
inline constexpr uint32_t kRemapCountMax = 0x7FF;

// Rows remapped, each count with a flag that there were more than it can say.
struct RemapCountFields {
  uint16_t uncorrected = 0, corrected = 0;  // at most kRemapCountMax
  bool uncorrected_excess = false, corrected_excess = false;

  // Of RemapCounts::kBoth.
  constexpr uint32_t Encode() const {
    return uncorrected | (uncorrected_excess ? 1u << 11 : 0) | uint32_t{corrected} << 12 |
           (corrected_excess ? 1u << 23 : 0);
  }
  static constexpr RemapCountFields Decode(uint32_t dword) {
    return {.uncorrected = static_cast<uint16_t>(dword & kRemapCountMax),
            .corrected = static_cast<uint16_t>(dword >> 12 & kRemapCountMax),
            .uncorrected_excess = (dword >> 11 & 1) != 0,
            .corrected_excess = (dword >> 23 & 1) != 0};
  }
  bool operator==(const RemapCountFields&) const = default;
};

// Banks by the spare rows that are left: the reply has `none` in its command word 15:0, low and partial in 5D, high and
// maximum in 5E.
struct RemapHistogram {
  uint16_t none = 0, low = 0, partial = 0, high = 0, maximum = 0;
  bool operator==(const RemapHistogram&) const = default;
};

}  // namespace sideband::mailbox

#endif  // SIDEBAND_PROTO_MAILBOX_ECC_H_
