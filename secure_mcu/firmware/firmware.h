// SPDX-License-Identifier: Apache-2.0
//
// The microcontroller's firmware: executes mailbox commands, at one set of registers or at both. mailbox.md and
// proto/mailbox/README.md specify the opcodes, arguments and statuses. SMBPBI's base commands (smbpbi-facts.md, section
// 3) are rows here, executed by the parts of the firmware; those of the extension are in extension_commands.h.
//   BoardUnit board(device, PowerModel(power));
//   Firmware firmware(device, board, {.extension = mailbox::ExtensionVersion::kOne});
//   MailboxTarget target(0x4F, firmware);
#ifndef SIDEBAND_SECURE_MCU_FIRMWARE_FIRMWARE_H_
#define SIDEBAND_SECURE_MCU_FIRMWARE_FIRMWARE_H_

#include <cstdint>
#include <optional>

#include "proto/base/bytes.h"
#include "proto/mailbox/capability.h"
#include "proto/mailbox/extension.h"
#include "proto/mailbox/word.h"
#include "secure_mcu/firmware/async_requests.h"
#include "secure_mcu/firmware/board_unit.h"
#include "secure_mcu/firmware/command_handler.h"
#include "secure_mcu/firmware/complement.h"
#include "secure_mcu/firmware/device.h"
#include "secure_mcu/firmware/extension_commands.h"
#include "secure_mcu/firmware/memory_links.h"
#include "secure_mcu/firmware/performance_monitor.h"
#include "secure_mcu/firmware/scratch_memory.h"
#include "secure_mcu/firmware/system_info.h"

namespace sideband::mcu {

// SMBPBI's base commands. kRows has a row for each: which boards serve it, what announces it, and the part of the
// firmware that executes it. Not thread-safe.
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
    // The capability that announces the command wherever it is served, and can be lost; CapabilityDword has the
    // others.
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

// The capability that announces the command with its first argument, or whatever that is, among those that a fault
// can take away (BoardState::lost); nullopt for others, and for what is in BaseCommands::kRows.
std::optional<mailbox::Capability> PartAnnouncedBy(const mailbox::CommandWord& command);

// Serves one set of registers: a device of version 2 has two objects, whose clients do not affect each other. Not
// thread-safe.
class Firmware final : public CommandHandler {
 public:
  struct Options {
    Persona persona = Persona::kSideband;
    // The version of the snapshot extension that these registers serve; none: ERR_OPCODE for its commands.
    std::optional<mailbox::ExtensionVersion> extension;
    ComplementPolicy complement = {};
  };

  // Both must outlive it.
  Firmware(Device& device, BoardUnit& board, const Options& options);

  Reply Execute(const mailbox::CommandWord& command, uint32_t data, uint32_t extended_data) override;
  ByteSpan Window(uint8_t index) const override { return snapshots_ ? snapshots_->Window(index) : ByteSpan(); }
  bool WriteWindow(uint8_t index, ByteSpan bytes) override {
    return snapshots_ && snapshots_->WriteWindow(index, bytes);
  }
  bool EventPending() const override { return base_.EventPending(); }

 private:
  BaseCommands base_;
  std::optional<SnapshotCommands> snapshots_;
};

// The firmware behind both of a mailbox's sets of registers. (mailbox.md, "Version 2".)
// Version 1 of the extension is served at the shared registers, version 2 at registers of its own alone. Not
// thread-safe.
class FirmwarePair {
 public:
  // `device` must outlive it. Without a version, the device has base commands alone.
  FirmwarePair(Device& device, const PowerModel& power, Persona persona,
               std::optional<mailbox::ExtensionVersion> extension, const ComplementPolicy& complement = {},
               const BoardSpec& board = {});

  CommandHandler& shared() { return shared_; }
  // nullptr if the device has no registers of its own.
  CommandHandler* own() { return own_ ? &*own_ : nullptr; }
  // The board that both serve. Its physics go on with Tick, which is to be called at least every 100 ms.
  BoardUnit& board() { return board_; }
  void Tick() { board_.physics.Tick(); }

 private:
  BoardUnit board_;
  Firmware shared_;
  std::optional<Firmware> own_;
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_FIRMWARE_FIRMWARE_H_
