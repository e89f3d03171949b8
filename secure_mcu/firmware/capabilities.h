// SPDX-License-Identifier: Apache-2.0
//
// GET_CAP_DWORD: the parts of SMBPBI commands that a device serves. Clients query it before they use a command.
//   CapabilityDword(1, {.identity_items = items.served()}, board);
//   if (const auto capability = PartAnnouncedBy(command)) Check(*capability);
#ifndef SIDEBAND_SECURE_MCU_FIRMWARE_CAPABILITIES_H_
#define SIDEBAND_SECURE_MCU_FIRMWARE_CAPABILITIES_H_

#include <cstdint>
#include <optional>

#include "proto/mailbox/capability.h"
#include "proto/mailbox/word.h"
#include "secure_mcu/firmware/board_unit.h"

namespace sideband::mcu {

// Capabilities that depend on the chip; those of the board follow from its specification.
struct Features {
  uint32_t identity_items = 0;  // bit n: item n of GET_SYS_ID
  bool utilization = false;
  bool memory_capacity = false;
  bool performance_monitoring = false;
  bool workload_clock = false;  // that the board can lower
};

// `dword` must be below mailbox::kCapabilityDwords. Without those that BaseCommands::kRows has, of commands that are
// announced where they are served, and without what the board has lost.
uint32_t CapabilityDword(uint8_t dword, const Features& features, const BoardUnit& board);

// The capability that announces the command with its first argument, or whatever that is, among those that a fault can
// take away (BoardState::lost); nullopt for others, and for what is in BaseCommands::kRows.
std::optional<mailbox::Capability> PartAnnouncedBy(const mailbox::CommandWord& command);

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_FIRMWARE_CAPABILITIES_H_
