// SPDX-License-Identifier: Apache-2.0
//
// A board's capability dwords, with their numeric fields (docs/design/smbpbi-facts.md, 3.2).
//   BoardCapabilities capabilities{.dwords = {0x0001'0801}};
//   capabilities.Has(Capability::kPowerTotal);   // true
//   capabilities.HasFractions();                 // true: 8 in 11:8
#ifndef SIDEBAND_DAEMON_BOARD_BOARD_CAPABILITIES_H_
#define SIDEBAND_DAEMON_BOARD_BOARD_CAPABILITIES_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "proto/mailbox/capability.h"

namespace sideband::daemon {

struct BoardCapabilities {
  std::array<uint32_t, mailbox::kCapabilityDwords> dwords = {};

  constexpr bool Has(mailbox::Capability capability) const {
    return (dwords[mailbox::DwordOf(capability)] & mailbox::MaskOf(capability)) != 0;
  }
  constexpr bool HasAny(std::span<const mailbox::Capability> capabilities) const {
    return std::ranges::any_of(capabilities, [this](mailbox::Capability capability) { return Has(capability); });
  }
  // Whether the board announces nothing at all, as one whose capabilities are not known yet.
  constexpr bool IsEmpty() const {
    return std::ranges::all_of(dwords, [](uint32_t dword) { return dword == 0; });
  }
  // Whether temperatures have a fraction: GET_EXT_TEMP in the format s24.8.
  constexpr bool HasFractions() const { return (dwords[0] >> 8 & 0xF) == 8; }
  // Whether there is scratch memory, which results of asynchronous requests and driver messages need.
  constexpr bool HasScratch() const { return (dwords[2] >> 2 & 7) != 0; }
  bool operator==(const BoardCapabilities&) const = default;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_BOARD_BOARD_CAPABILITIES_H_
