// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/firmware/base_commands.h"

#include "secure_mcu/firmware/served_opcodes.h"

namespace sideband::mcu {
namespace {

using mailbox::MailboxStatus;
using mailbox::Opcode;

// NULL ignores its arguments; every other command without a second argument refuses one.
bool RefusesArg2(const mailbox::CommandWord& command) {
  if (command.arg2 == 0 || command.opcode == Opcode::kNull) return false;
  const mailbox::OpcodeRow* const row = mailbox::FindOpcode(command.opcode);
  return row != nullptr && !row->takes_arg2;
}

}  // namespace

BaseCommands::BaseCommands(Device& device, BoardUnit& board, Persona persona, const ComplementPolicy& complement)
    : device_(device),
      board_(board),
      identity_(device.identity(), persona),
      system_(device, board, complement.clocks),
      sensors_(device, board, complement),
      registers_(scratch_, board.state),
      monitor_(device, complement, LinkBandwidth(board.spec)),
      limits_(device, board.spec, board.state, scratch_, complement.clocks),
      requests_(device, sensors_, monitor_, scratch_, limits_),
      memory_errors_(board.spec, board.state),
      links_(board.spec, board.state),
      flags_(board.spec, board.state),
      hints_(device, board.spec),
      driver_events_(scratch_, board.state.driver),
      bundles_(scratch_,
               [this](const mailbox::CommandWord& command, uint32_t data) { return Execute(command, data); }) {}

Reply BaseCommands::Execute(const mailbox::CommandWord& command, uint32_t data) {
  if (!IsServed(command.opcode, board_.spec, device_.GetWorkloadClock().has_value())) {
    return Fail(MailboxStatus::kErrOpcode);
  }
  if (IsLost(command)) return Fail(MailboxStatus::kErrNotSupported);
  const Reply reply = Route(command, data);
  // An error of the first argument comes first. None of these commands changes anything.
  const bool is_refused = reply.status == MailboxStatus::kSuccess && RefusesArg2(command);
  return is_refused ? Fail(MailboxStatus::kErrArg2) : reply;
}

Reply BaseCommands::Route(const mailbox::CommandWord& command, uint32_t data) {
  const uint8_t arg1 = command.arg1, arg2 = command.arg2;
  switch (command.opcode) {
    case Opcode::kNull:
      return {};
    case Opcode::kGetCapabilities:
      return GetCapabilities(arg1);
    case Opcode::kGetTemp:
      return sensors_.GetTemperature(arg1, /*with_fraction=*/false);
    case Opcode::kGetExtTemp:
      return sensors_.GetTemperature(arg1, /*with_fraction=*/true);
    case Opcode::kGetPower:
      return sensors_.GetPower(arg1);
    case Opcode::kGetEccV2:
      return memory_errors_.GetEcc(EccGeneration::kV2, arg1, arg2);
    case Opcode::kGetEccV3:
      return memory_errors_.GetEcc(EccGeneration::kV3, arg1, arg2);
    case Opcode::kGetEccV4:
      return memory_errors_.GetEcc(EccGeneration::kV4, arg1, arg2);
    case Opcode::kGetEccV5:
      return memory_errors_.GetEcc(EccGeneration::kV5, arg1, arg2);
    case Opcode::kGetEccV6:
      return memory_errors_.GetEcc(EccGeneration::kV6, arg1, arg2);
    case Opcode::kGetRowRemap:
      return memory_errors_.GetRowRemap(arg1, arg2);
    case Opcode::kGetRetiredPages:
      return memory_errors_.GetRetiredPages(arg1);
    case Opcode::kGetPowerConnector:
      return flags_.GetPowerConnector(arg1);
    case Opcode::kAccessWriteProtect:
      return flags_.AccessWriteProtect(arg1, arg2);
    case Opcode::kGetNvlinkInfo:
      return links_.GetNvlink(arg1, arg2);
    case Opcode::kGetPcieLink:
      return links_.GetPcie(arg1, arg2);
    case Opcode::kGetSysId:
      return identity_.Get(arg1, arg2);
    case Opcode::kScratchRead:
      return scratch_.Read(arg1);
    case Opcode::kScratchWrite:
      return scratch_.Write(arg1, arg2, data);
    case Opcode::kScratchCopy:
      return scratch_.Copy(arg1, arg2, data);
    case Opcode::kAsyncRequest:
      return requests_.Execute(arg1, arg2);
    case Opcode::kRegisterAccess:
      return registers_.Access(arg1, arg2, data);
    case Opcode::kGetThermParam:
      return sensors_.GetThermParam(arg1);
    case Opcode::kGetMiscFlags:
      return system_.GetFlags(arg1);
    case Opcode::kLaunchBundle:
      return bundles_.Launch(arg1, arg2);
    case Opcode::kGetDriverEvent:
      return driver_events_.Get(arg1, arg2, data);
    case Opcode::kGetPowerHint:
      return hints_.Get(arg1, arg2);
    case Opcode::kGetClock:
      return system_.GetClock(arg1, arg2);
    case Opcode::kGetEnergy:
      return sensors_.GetEnergy(arg1);
    case Opcode::kGetSystemInfo:
      return system_.GetVersion(arg1, arg2);
    case Opcode::kPerformanceMonitoring:
      return monitor_.Execute(arg1, arg2, data);
    case Opcode::kDiscover:
    case Opcode::kCatalog:
    case Opcode::kLatch:
    case Opcode::kRead:
    case Opcode::kAck:
    case Opcode::kSeal:
    case Opcode::kTrigger:
    case Opcode::kPeek:
    case Opcode::kConfig:
    case Opcode::kRotate:
    case Opcode::kUpload:
      break;  // snapshot_commands.h
  }
  return Fail(MailboxStatus::kErrOpcode);
}

Reply BaseCommands::GetCapabilities(uint8_t dword) const {
  if (dword >= mailbox::kCapabilityDwords) return Fail(MailboxStatus::kErrArg1);
  return {.data = CapabilityDword(dword,
                                  {.identity_items = identity_.served(),
                                   .utilization = requests_.HasUtilization(),
                                   .memory_capacity = requests_.HasMemoryCapacity(),
                                   .performance_monitoring = monitor_.HasAny(),
                                   .workload_clock = device_.GetWorkloadClock().has_value()},
                                  board_)};
}

bool BaseCommands::IsLost(const mailbox::CommandWord& command) const {
  if (board_.state.lost.empty()) return false;
  const auto capability = AnnouncedBy(command);
  return capability && board_.state.lost.contains(*capability);
}

}  // namespace sideband::mcu
