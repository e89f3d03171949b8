// SPDX-License-Identifier: Apache-2.0
//
// GET_NVLINK_INFO and GET_PCIE_LINK_INFO. The numbers are those of NVIDIA's public smbpbi.h (open-gpu-kernel-modules,
// MIT; docs/design/smbpbi-facts.md, 3.7).
//   GET_NVLINK_INFO: arg1 = NvlinkItem, arg2 = link, page, or kAllLinks
//   GET_PCIE_LINK_INFO: arg1 = PciePage, arg2 = 0
#ifndef SIDEBAND_PROTO_MAILBOX_LINK_INFO_H_
#define SIDEBAND_PROTO_MAILBOX_LINK_INFO_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

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

}  // namespace sideband::mailbox

#endif  // SIDEBAND_PROTO_MAILBOX_LINK_INFO_H_
