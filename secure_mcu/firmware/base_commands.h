// SPDX-License-Identifier: Apache-2.0
//
// SMBPBI's base commands (smbpbi-facts.md, section 3). kRows has a row for each: which boards serve it, what announces
// it, and the part of the firmware that executes it.
//   BaseCommands commands(device, board, Persona::kSideband);
//   const CommandHandler::Reply reply = commands.Execute({.opcode = mailbox::Opcode::kGetTemp}, 0);
//
//   CapabilityDword(1, {.identity_items = items.served()}, board);
//   if (const auto capability = PartAnnouncedBy(command)) Check(*capability);
#ifndef SIDEBAND_SECURE_MCU_FIRMWARE_BASE_COMMANDS_H_
#define SIDEBAND_SECURE_MCU_FIRMWARE_BASE_COMMANDS_H_

#include <cstdint>
#include <optional>

#include "proto/mailbox/capability.h"
#include "proto/mailbox/word.h"
#include "secure_mcu/firmware/async_requests.h"
#include "secure_mcu/firmware/board_unit.h"
#include "secure_mcu/firmware/bundles.h"
#include "secure_mcu/firmware/command_handler.h"
#include "secure_mcu/firmware/complement.h"
#include "secure_mcu/firmware/device.h"
#include "secure_mcu/firmware/links.h"
#include "secure_mcu/firmware/memory_errors.h"
#include "secure_mcu/firmware/performance_monitor.h"
#include "secure_mcu/firmware/scratch_memory.h"
#include "secure_mcu/firmware/sensors.h"
#include "secure_mcu/firmware/system_info.h"

namespace sideband::mcu {

// Not thread-safe.
class BaseCommands {
 public:
  // Both must outlive it.
  BaseCommands(Device& device, BoardUnit& board, Persona persona, const ComplementPolicy& complement = {});
  BaseCommands(const BaseCommands&) = delete;  // members refer to each other
  BaseCommands& operator=(const BaseCommands&) = delete;

  // ERR_OPCODE for opcodes that are not served.
  Reply Execute(const mailbox::CommandWord& command, uint32_t data);
  // The same as CommandHandler::EventPending.
  bool EventPending() const { return registers_.AnyPending(); }

 private:
  using Self = BaseCommands;
  struct Call {
    uint8_t arg1;
    uint8_t arg2;
    uint32_t data;
  };
  struct Row {
    mailbox::Opcode opcode;
    bool (*is_served)(const Self& self);
    // The capability that announces the command wherever it is served, and can be lost; CapabilityDword has the others.
    std::optional<mailbox::Capability> capability;
    Reply (*execute)(Self& self, const Call& call);
  };
  static const Row kRows[];

  template <EccGeneration generation>
  static bool HasEcc(const Self& self);
  template <EccGeneration generation>
  static Reply GetEcc(Self& self, const Call& call);
  bool HasWorkloadClock() const { return device_.GetWorkloadClock().has_value(); }
  static bool Always(const Self& /*self*/) { return true; }
  // nullptr for opcodes that are not served.
  const Row* FindServed(mailbox::Opcode opcode) const;
  Reply GetCapabilities(uint8_t dword) const;
  bool IsLost(const Row& row, const mailbox::CommandWord& command) const;

  const Device& device_;
  BoardUnit& board_;
  const IdentityItems identity_;
  const SystemInfo system_;
  Sensors sensors_;
  ScratchMemory scratch_;
  EventRegisters registers_;
  PerformanceMonitor monitor_;
  LimitRequests limits_;
  AsyncRequests requests_;
  const MemoryErrors memory_errors_;
  LinkInfo links_;
  BoardFlags flags_;
  PowerHints hints_;
  DriverEvents driver_events_;
  Bundles bundles_;
};

// Capabilities that depend on the chip; those of the board follow from its specification.
struct Features {
  uint32_t identity_items = 0;  // bit n: item n of GET_SYS_ID
  bool utilization = false;
  bool memory_capacity = false;
  bool performance_monitoring = false;
  bool workload_clock = false;  // that the board can lower
};

// GET_CAP_DWORD: the parts of SMBPBI commands that a device serves. Clients query it before they use a command.
// `dword` must be below mailbox::kCapabilityDwords. Without those that BaseCommands::kRows has, of commands that are
// announced where they are served, and without what the board has lost.
uint32_t CapabilityDword(uint8_t dword, const Features& features, const BoardUnit& board);

// The capability that announces the command with its first argument, or whatever that is, among those that a fault can
// take away (BoardState::lost); nullopt for others, and for what is in BaseCommands::kRows.
std::optional<mailbox::Capability> PartAnnouncedBy(const mailbox::CommandWord& command);

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_FIRMWARE_BASE_COMMANDS_H_
