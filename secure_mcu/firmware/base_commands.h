// SPDX-License-Identifier: Apache-2.0
//
// SMBPBI's base commands (smbpbi-facts.md, section 3). kRows has a row for each: which boards serve it, what announces
// it, and the part of the firmware that executes it.
//   BaseCommands commands(device, board, Persona::kSideband);
//   const CommandHandler::Reply reply = commands.Execute({.opcode = mailbox::Opcode::kGetTemp}, 0);
#ifndef SIDEBAND_SECURE_MCU_FIRMWARE_BASE_COMMANDS_H_
#define SIDEBAND_SECURE_MCU_FIRMWARE_BASE_COMMANDS_H_

#include <cstdint>
#include <optional>

#include "proto/mailbox/word.h"
#include "secure_mcu/firmware/async_requests.h"
#include "secure_mcu/firmware/board_unit.h"
#include "secure_mcu/firmware/bundles.h"
#include "secure_mcu/firmware/capabilities.h"
#include "secure_mcu/firmware/complement.h"
#include "secure_mcu/firmware/device.h"
#include "secure_mcu/firmware/links.h"
#include "secure_mcu/firmware/memory_errors.h"
#include "secure_mcu/firmware/performance_monitor.h"
#include "secure_mcu/firmware/reply.h"
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
    // The capability that announces the command wherever it is served, and can be lost; capabilities.h has the others.
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

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_FIRMWARE_BASE_COMMANDS_H_
