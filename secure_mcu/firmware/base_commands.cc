// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/firmware/base_commands.h"

#include <utility>

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

BaseCommands::BaseCommands(Device& device, PowerModel power, Persona persona)
    : identity_(device.identity(), persona),
      system_(device),
      sensors_(device, std::move(power)),
      registers_(scratch_),
      monitor_(device),
      requests_(device, sensors_, monitor_, scratch_) {}

Reply BaseCommands::Execute(const mailbox::CommandWord& command, uint32_t data) {
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
    case Opcode::kGetMiscFlags:
      return system_.GetFlags(arg1);
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
  return {.data = CapabilityDword(dword, {.identity_items = identity_.served(),
                                          .utilization = requests_.HasUtilization(),
                                          .memory_capacity = requests_.HasMemoryCapacity(),
                                          .performance_monitoring = monitor_.HasAny()})};
}

}  // namespace sideband::mcu
