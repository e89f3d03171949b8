// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/firmware/base_commands.h"

#include <algorithm>
#include <iterator>

namespace sideband::mcu {
namespace {

using mailbox::Capability;
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

const BaseCommands::Row BaseCommands::kRows[] = {
    {Opcode::kNull, Always, std::nullopt, [](Self&, const Call&) { return Reply{}; }},
    {Opcode::kGetCapabilities, Always, std::nullopt, [](Self& s, const Call& c) { return s.GetCapabilities(c.arg1); }},
    {Opcode::kGetTemp, Always, std::nullopt,
     [](Self& s, const Call& c) { return s.sensors_.GetTemperature(c.arg1, /*with_fraction=*/false); }},
    {Opcode::kGetExtTemp, Always, std::nullopt,
     [](Self& s, const Call& c) { return s.sensors_.GetTemperature(c.arg1, /*with_fraction=*/true); }},
    {Opcode::kGetPower, Always, std::nullopt, [](Self& s, const Call& c) { return s.sensors_.GetPower(c.arg1); }},
    {Opcode::kGetSysId, Always, std::nullopt, [](Self& s, const Call& c) { return s.identity_.Get(c.arg1, c.arg2); }},
    {Opcode::kGetEccV2, HasEcc<EccGeneration::kV2>, Capability::kEccV2, GetEcc<EccGeneration::kV2>},
    {Opcode::kGetEccV3, HasEcc<EccGeneration::kV3>, Capability::kEccV3, GetEcc<EccGeneration::kV3>},
    {Opcode::kScratchRead, Always, std::nullopt, [](Self& s, const Call& c) { return s.scratch_.Read(c.arg1); }},
    {Opcode::kScratchWrite, Always, std::nullopt,
     [](Self& s, const Call& c) { return s.scratch_.Write(c.arg1, c.arg2, c.data); }},
    {Opcode::kScratchCopy, Always, std::nullopt,
     [](Self& s, const Call& c) { return s.scratch_.Copy(c.arg1, c.arg2, c.data); }},
    {Opcode::kAsyncRequest, Always, std::nullopt,
     [](Self& s, const Call& c) { return s.requests_.Execute(c.arg1, c.arg2); }},
    {Opcode::kRegisterAccess, Always, std::nullopt,
     [](Self& s, const Call& c) { return s.registers_.Access(c.arg1, c.arg2, c.data); }},
    {Opcode::kGetPowerConnector, [](const Self& s) { return s.board_.spec.power_connector; }, std::nullopt,
     [](Self& s, const Call& c) { return s.flags_.GetPowerConnector(c.arg1); }},
    {Opcode::kGetRetiredPages, [](const Self& s) { return s.board_.spec.page_retirement; }, Capability::kRetiredPages,
     [](Self& s, const Call& c) { return s.memory_errors_.GetRetiredPages(c.arg1); }},
    {Opcode::kGetEccV4, HasEcc<EccGeneration::kV4>, Capability::kEccV4, GetEcc<EccGeneration::kV4>},
    {Opcode::kGetThermParam, [](const Self& s) { return s.board_.spec.thermal.has_value(); }, std::nullopt,
     [](Self& s, const Call& c) { return s.sensors_.GetThermParam(c.arg1); }},
    {Opcode::kGetEccV5, HasEcc<EccGeneration::kV5>, Capability::kEccV5, GetEcc<EccGeneration::kV5>},
    {Opcode::kAccessWriteProtect, [](const Self& s) { return s.board_.spec.write_protection; }, std::nullopt,
     [](Self& s, const Call& c) { return s.flags_.AccessWriteProtect(c.arg1, c.arg2); }},
    {Opcode::kGetMiscFlags, Always, std::nullopt, [](Self& s, const Call& c) { return s.system_.GetFlags(c.arg1); }},
    {Opcode::kGetNvlinkInfo, [](const Self& s) { return s.board_.spec.nvlink.has_value(); }, Capability::kNvlinkStateV1,
     [](Self& s, const Call& c) { return s.links_.GetNvlink(c.arg1, c.arg2); }},
    {Opcode::kGetClock, Always, Capability::kClocks,
     [](Self& s, const Call& c) { return s.system_.GetClock(c.arg1, c.arg2); }},
    {Opcode::kLaunchBundle, [](const Self& s) { return s.board_.spec.bundles; }, Capability::kBundling,
     [](Self& s, const Call& c) { return s.bundles_.Launch(c.arg1, c.arg2); }},
    {Opcode::kGetDriverEvent, [](const Self& s) { return s.board_.spec.driver_events; }, Capability::kDriverEvents,
     [](Self& s, const Call& c) { return s.driver_events_.Get(c.arg1, c.arg2, c.data); }},
    {Opcode::kGetEccV6, HasEcc<EccGeneration::kV6>, Capability::kEccV6, GetEcc<EccGeneration::kV6>},
    {Opcode::kGetRowRemap, [](const Self& s) { return s.board_.spec.row_remapping; }, Capability::kRowRemap,
     [](Self& s, const Call& c) { return s.memory_errors_.GetRowRemap(c.arg1, c.arg2); }},
    {Opcode::kGetPcieLink, [](const Self& s) { return s.board_.spec.pcie.has_value(); }, Capability::kPcieLink,
     [](Self& s, const Call& c) { return s.links_.GetPcie(c.arg1, c.arg2); }},
    {Opcode::kGetEnergy, Always, std::nullopt, [](Self& s, const Call& c) { return s.sensors_.GetEnergy(c.arg1); }},
    {Opcode::kGetPowerHint, [](const Self& s) { return s.HasWorkloadClock(); }, Capability::kPowerHint,
     [](Self& s, const Call& c) { return s.hints_.Get(c.arg1, c.arg2); }},
    {Opcode::kGetSystemInfo, Always, std::nullopt,
     [](Self& s, const Call& c) { return s.system_.GetVersion(c.arg1, c.arg2); }},
    {Opcode::kPerformanceMonitoring, Always, std::nullopt,
     [](Self& s, const Call& c) { return s.monitor_.Execute(c.arg1, c.arg2, c.data); }},
};

template <EccGeneration generation>
bool BaseCommands::HasEcc(const BaseCommands& self) {
  return self.board_.spec.ecc == generation;
}

template <EccGeneration generation>
Reply BaseCommands::GetEcc(BaseCommands& self, const Call& call) {
  return self.memory_errors_.GetEcc(generation, call.arg1, call.arg2);
}

const BaseCommands::Row* BaseCommands::FindServed(Opcode opcode) const {
  const auto* const row =
      std::find_if(std::begin(kRows), std::end(kRows), [&](const Row& row) { return row.opcode == opcode; });
  return row != std::end(kRows) && row->is_served(*this) ? row : nullptr;
}

Reply BaseCommands::Execute(const mailbox::CommandWord& command, uint32_t data) {
  const Row* const row = FindServed(command.opcode);
  if (row == nullptr) return Fail(MailboxStatus::kErrOpcode);
  if (IsLost(*row, command)) return Fail(MailboxStatus::kErrNotSupported);
  const Reply reply = row->execute(*this, {command.arg1, command.arg2, data});
  // An error of the first argument comes first. None of these commands changes anything.
  const bool is_refused = reply.status == MailboxStatus::kSuccess && RefusesArg2(command);
  return is_refused ? Fail(MailboxStatus::kErrArg2) : reply;
}

Reply BaseCommands::GetCapabilities(uint8_t dword) const {
  if (dword >= mailbox::kCapabilityDwords) return Fail(MailboxStatus::kErrArg1);
  uint32_t bits = CapabilityDword(dword,
                                  {.identity_items = identity_.served(),
                                   .utilization = requests_.HasUtilization(),
                                   .memory_capacity = requests_.HasMemoryCapacity(),
                                   .performance_monitoring = monitor_.HasAny(),
                                   .workload_clock = HasWorkloadClock()},
                                  board_);
  for (const Row& row : kRows) {
    const bool is_announced = row.capability && row.is_served(*this) && !board_.state.lost.contains(*row.capability);
    if (is_announced && mailbox::DwordOf(*row.capability) == dword) bits |= MaskOf(*row.capability);
  }
  return {.data = bits};
}

bool BaseCommands::IsLost(const Row& row, const mailbox::CommandWord& command) const {
  if (board_.state.lost.empty()) return false;
  const auto part = PartAnnouncedBy(command);
  const auto capability = part ? part : row.capability;
  return capability && board_.state.lost.contains(*capability);
}

}  // namespace sideband::mcu
