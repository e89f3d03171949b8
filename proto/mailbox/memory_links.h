// SPDX-License-Identifier: Apache-2.0
//
// Links and memories of a board, and their errors: GET_NVLINK_INFO and GET_PCIE_LINK_INFO; GET_ECC, whose arguments
// differ between the generations, and REMAP_ROW_STATS. The numbers are those of NVIDIA's public smbpbi.h
// (open-gpu-kernel-modules, MIT; docs/design/smbpbi-facts.md, 3.7 and 3.8).
//   GET_NVLINK_INFO: arg1 = NvlinkItem, arg2 = link, page, or kAllLinks
//   GET_PCIE_LINK_INFO: arg1 = PciePage, arg2 = 0
//   V6: arg1 = EccCounter, arg2 = EccMemory → 5D = errors
//   V5: arg1 bit 7 clear, 6:0 = index 6:0; arg2 7:5 = index 9:7, 2:0 = type → 5D = errors
//   V2 to V4: arg1 = EccSelector::Encode(); arg2 = partition and slice, or GPC and TPC → 5D = errors
#ifndef SIDEBAND_PROTO_MAILBOX_MEMORY_LINKS_H_
#define SIDEBAND_PROTO_MAILBOX_MEMORY_LINKS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "proto/mailbox/word.h"

namespace sideband::mailbox {

enum class NvlinkItem : uint8_t {
  kCount = 0x0,
  kStateV1 = 0x1,     // page: 32 links of one bit, 1 is up
  kBandwidth = 0x2,   // link: Mbit/s, kNvlinkBandwidthInvalid
  kReplays = 0x3,     // link
  kRecoveries = 0x4,  // link
  kFlitCrc = 0x5,     // link
  kDataCrc = 0x6,     // link
  kStateV2 = 0x7,     // page: 8 links of four bits in 5D, 8 more in 5E: NvlinkState
  kWidth = 0x8,       // page: 5 links of six bits in 5D, 5 more in 5E: TX 2:0, RX 5:3 (NvlinkWidth)
  kDataTx = 0x9,      // link or kAllLinks: NvlinkDelta, in the reply's word
  kDataRx = 0xA,
  kRawTx = 0xB,
  kRawRx = 0xC,
  kTrainingErrors = 0xD,  // page: 32 links of one bit
  kRuntimeErrors = 0xE,
  kAvailability = 0xF,  // page
};
inline constexpr uint8_t kNvlinkItemMax = 0xF;
inline constexpr uint8_t kAllLinks = 0xFF;
inline constexpr uint8_t kNvlinksMax = 32;
inline constexpr uint32_t kNvlinkBandwidthInvalid = 0xFFFF'FFFF;

enum class NvlinkState : uint8_t { kOff = 0, kSafe = 1, kActive = 2, kError = 3, kLowPower = 4, kDisabled = 5 };
inline constexpr uint8_t kLinksPerStatePage = 16;
inline constexpr uint8_t kLinksPerWidthPage = 10;
// Lanes by their code.
inline constexpr std::array<uint8_t, 5> kNvlinkWidths = {0, 1, 2, 4, 8};
inline constexpr uint8_t kNvlinkWidthInvalid = 7;

// Bytes since the last read, in bits 23:0 of the reply's word. The unit is 1024^granularity bytes, from KiB on.
struct NvlinkDelta {
  uint8_t granularity = 0;  // 0 KiB, 1 MiB, 2 GiB, 3 TiB
  bool is_new = false;      // a sample that was not read before
  bool is_invalid = false;
  uint32_t delta = 0;  // 20 bits

  constexpr uint32_t Encode() const {
    return (granularity & 3u) | (is_new ? 1u << 2 : 0) | (is_invalid ? 1u << 3 : 0) | (delta & 0xFFFFFu) << 4;
  }
  static constexpr NvlinkDelta Decode(uint32_t word) {
    return {.granularity = static_cast<uint8_t>(word & 3),
            .is_new = (word >> 2 & 1) != 0,
            .is_invalid = (word >> 3 & 1) != 0,
            .delta = word >> 4 & 0xFFFFF};
  }
  bool operator==(const NvlinkDelta&) const = default;
};

enum class PciePage : uint8_t {
  kLink = 0,         // 5D: PcieLink; 5E 15:0: correctable errors
  kRecoveries = 1,   // 5D: L0 to recovery; 5E: replays
  kNaks = 2,         // 5D 15:0: replay rollovers, 31:16: NAKs received; 5E 15:0: NAKs sent
  kTargetSpeed = 3,  // 5D 2:0
  kTraffic = 4,      // 5D: TX, 5E: RX, in a unit that is not public
  kState = 6,        // 5D 4:0: LTSSM
  kLocalEqualisation = 8,
  kRemoteEqualisation = 9,
};
inline constexpr uint8_t kPciePageMax = 9;
inline constexpr uint8_t kLtssmL0 = 5;

// By the code of a speed: its generation. Code 0 is unknown.
inline constexpr uint8_t kPcieSpeedMax = 5;
// Lanes by the code of a width; code 0 is unknown.
inline constexpr std::array<uint8_t, 7> kPcieWidths = {0, 1, 2, 4, 8, 16, 32};

struct PcieLink {
  uint8_t speed = 0;                                  // code
  uint8_t width = 0;                                  // code
  uint8_t non_fatal = 0, fatal = 0, unsupported = 0;  // errors

  constexpr uint32_t Encode() const {
    return speed | uint32_t{width} << 4 | uint32_t{non_fatal} << 8 | uint32_t{fatal} << 16 |
           uint32_t{unsupported} << 24;
  }
  static constexpr PcieLink Decode(uint32_t dword) {
    return {.speed = static_cast<uint8_t>(dword & 7),
            .width = static_cast<uint8_t>(dword >> 4 & 7),
            .non_fatal = static_cast<uint8_t>(dword >> 8),
            .fatal = static_cast<uint8_t>(dword >> 16),
            .unsupported = static_cast<uint8_t>(dword >> 24)};
  }
  bool operator==(const PcieLink&) const = default;
};

// V6.
enum class EccCounter : uint8_t { kCorrected = 0, kUncorrected = 1, kFlags = 2 };
enum class EccMemory : uint8_t { kSram = 0, kDram = 1 };
// A bit of kFlags, whose arg2 is 0. Announced by Capability::kSramThreshold.
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

  // The data of RemapCounts::kBoth.
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

// Whether the reply repeats the opcode and the arguments of its command: some of SMBPBI's have results in bits 23:0
// instead (docs/design/smbpbi-facts.md, 3.4, 3.7, 3.8 and 3.10).
constexpr bool EchoesItself(const CommandWord& command) {
  const bool is_link_result = command.opcode == Opcode::kGetNvlinkInfo &&
                              command.arg1 >= static_cast<uint8_t>(NvlinkItem::kDataTx) &&
                              command.arg1 <= static_cast<uint8_t>(NvlinkItem::kRuntimeErrors);
  const bool is_histogram =
      command.opcode == Opcode::kGetRowRemap && command.arg1 == static_cast<uint8_t>(RemapItem::kHistogram);
  const bool is_packed = command.opcode == Opcode::kLaunchBundle || command.opcode == Opcode::kPerformanceMonitoring;
  return !command.copy_data && !is_link_result && !is_histogram && !is_packed;
}

}  // namespace sideband::mailbox

#endif  // SIDEBAND_PROTO_MAILBOX_MEMORY_LINKS_H_
