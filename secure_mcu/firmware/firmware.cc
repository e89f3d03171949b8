// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/firmware/firmware.h"

#include <algorithm>
#include <bit>
#include <iterator>

#include "proto/mailbox/board_items.h"
#include "proto/mailbox/services.h"
#include "secure_mcu/firmware/command_handler.h"
#include "secure_mcu/firmware/scratch_memory.h"

namespace sideband::mcu {
namespace {

using mailbox::AsyncType;
using mailbox::Capability;
using mailbox::ClockItem;
using mailbox::ExtensionVersion;
using mailbox::MailboxStatus;
using mailbox::Opcode;
using mailbox::PowerSource;

// NULL ignores its arguments; every other command without a second argument refuses one.
bool RefusesArg2(const mailbox::CommandWord& command) {
  if (command.arg2 == 0 || command.opcode == Opcode::kNull) return false;
  const mailbox::OpcodeRow* const row = mailbox::FindOpcode(command.opcode);
  return row != nullptr && !row->takes_arg2;
}

// Numeric fields; facts sheet, 3.2.
constexpr uint32_t kTemperatureIsS24p8 = 8 << 8;
constexpr uint32_t kScratchPagesCode = std::countr_zero(ScratchMemory::kPages) - 1;
constexpr uint32_t kScratchPagesField = kScratchPagesCode << 2;

constexpr uint32_t kIdentityItems = 0x7FFF;  // items with a bit in dword 1

struct Served {
  const Features& features;
  const BoardSpec& board;

  constexpr bool HasEcc(EccGeneration generation) const { return board.ecc == generation; }
  constexpr bool HasModuleLimit() const { return board.power_limit && board.module_overhead_mw; }
  constexpr bool HasMemoryThreshold() const { return board.thermal && board.memory; }
};

struct CapabilityRow {
  Capability capability;
  bool (*is_served)(const Served& served);
};

constexpr bool Always(const Served& /*served*/) { return true; }
constexpr bool HasThermal(const Served& served) { return served.board.thermal.has_value(); }
constexpr bool HasMemoryThreshold(const Served& served) { return served.HasMemoryThreshold(); }
constexpr bool HasMemorySensor(const Served& served) { return served.board.memory.has_value(); }
constexpr bool HasModule(const Served& served) { return served.board.module_overhead_mw.has_value(); }
constexpr bool HasModuleLimit(const Served& served) { return served.HasModuleLimit(); }
constexpr bool HasClock(const Served& served) { return served.features.workload_clock; }
constexpr bool HasNvlink(const Served& served) { return served.board.nvlink.has_value(); }
constexpr bool HasRemapping(const Served& served) { return served.board.row_remapping; }
constexpr bool HasDriverEvents(const Served& served) { return served.board.driver_events; }
template <EccGeneration generation>
constexpr bool HasEcc(const Served& served) {
  return served.HasEcc(generation);
}

// Dword 2: kNoDriver is clear, since a driver is available, and so is kSmallScratchPages, since pages have 1024 bytes.
constexpr CapabilityRow kServed[] = {
    {Capability::kTempGpu0, Always},
    {Capability::kTempMemory, HasMemorySensor},
    {Capability::kTLimit, HasThermal},
    {Capability::kEnergyModule, HasModule},
    {Capability::kGetModuleLimit, HasModuleLimit},
    {Capability::kSetModuleLimit, HasModuleLimit},
    {Capability::kModuleLimitInfo, HasModuleLimit},
    {Capability::kPowerTotal, Always},
    {Capability::kTargetTLimit, HasThermal},
    {Capability::kSlowdownTLimit, HasThermal},
    {Capability::kShutdownTLimit, HasThermal},
    {Capability::kMemoryTLimit, HasMemoryThreshold},
    {Capability::kSwSlowdownTLimit, HasThermal},
    {Capability::kThermTarget, HasThermal},
    {Capability::kThermSlowdown, HasThermal},
    {Capability::kThermShutdown, HasThermal},
    {Capability::kThermMemory, HasMemoryThreshold},
    {Capability::kThermSwSlowdown, HasThermal},
    {Capability::kPowerMemory, HasMemorySensor},
    {Capability::kPowerModule, HasModule},
    {Capability::kAccessWpMode, [](const Served& served) { return served.board.write_protection; }},
    {Capability::kEccState, [](const Served& served) { return served.board.ecc.has_value(); }},
    {Capability::kResetRequired, Always},
    {Capability::kNvlinkErrors, HasNvlink},
    {Capability::kMigState, Always},
    {Capability::kThrottleReason, HasClock},
    {Capability::kFanV1, HasThermal},
    {Capability::kPowerLimit, [](const Served& served) { return served.board.power_limit.has_value(); }},
    {Capability::kDrainAndReset, Always},
    {Capability::kNvlinkStateV2, HasNvlink},
    {Capability::kNvlinkSublinkWidth, HasNvlink},
    {Capability::kEnergy, Always},
    {Capability::kRemapPending, HasRemapping},
    {Capability::kRemapHistogram, HasRemapping},
    {Capability::kNvlinkTrainingError, HasNvlink},
    {Capability::kNvlinkRuntimeError, HasNvlink},
    {Capability::kPcieTargetSpeed, [](const Served& served) { return served.board.pcie.has_value(); }},
    {Capability::kPState, HasClock},
    {Capability::kNvlinkAvailability, HasNvlink},
    {Capability::kHwViolation, HasClock},
    {Capability::kSwViolation, HasClock},
    {Capability::kSwPowerViolation, HasClock},
    {Capability::kSwThermalViolation, HasClock},
    {Capability::kUtilisation, [](const Served& served) { return served.features.utilization; }},
    {Capability::kDriverVersion, Always},
    {Capability::kPerformanceMonitoring, [](const Served& served) { return served.features.performance_monitoring; }},
    {Capability::kDriverEventsByNumber, HasDriverEvents},
    {Capability::kMemoryCapacity, [](const Served& served) { return served.features.memory_capacity; }},
    {Capability::kSramThreshold, HasEcc<EccGeneration::kV6>},
};

uint32_t NumericFields(uint8_t dword, uint32_t identity_items) {
  switch (dword) {
    case 0:
      return kTemperatureIsS24p8;
    case 1:
      return identity_items & kIdentityItems;
    case 2:
      return kScratchPagesField;
    default:
      return 0;
  }
}

// The capability of a sensor, by its number in a table of sensors.
template <typename Row, size_t kRows>
std::optional<Capability> CapabilityIn(const Row (&rows)[kRows], uint8_t number) {
  for (const auto& [item, name, word, capability] : rows) {
    if (static_cast<uint8_t>(item) == number) return capability;
  }
  return std::nullopt;
}

// The argument of another command that a capability announces; of those that a fault can take away.
struct CommandRow {
  Opcode opcode;
  std::optional<uint8_t> arg1;  // any
  Capability capability;
};

constexpr uint8_t Number(auto value) { return static_cast<uint8_t>(value); }

constexpr CommandRow kCommands[] = {
    {Opcode::kGetEnergy, Number(PowerSource::kTotal), Capability::kEnergy},
    {Opcode::kGetEnergy, Number(PowerSource::kModule), Capability::kEnergyModule},
    {Opcode::kGetClock, Number(ClockItem::kPState), Capability::kPState},
    {Opcode::kGetClock, Number(ClockItem::kSupportedReasons), Capability::kThrottleReason},
    {Opcode::kGetClock, Number(ClockItem::kCurrentReasons), Capability::kThrottleReason},
    {Opcode::kPerformanceMonitoring, std::nullopt, Capability::kPerformanceMonitoring},
    {Opcode::kAsyncRequest, Number(AsyncType::kGetPowerLimit), Capability::kPowerLimit},
    {Opcode::kAsyncRequest, Number(AsyncType::kSetPowerLimit), Capability::kPowerLimit},
    {Opcode::kAsyncRequest, Number(AsyncType::kPowerLimitInfo), Capability::kPowerLimit},
    {Opcode::kAsyncRequest, Number(AsyncType::kEnergy), Capability::kEnergy},
    {Opcode::kAsyncRequest, Number(AsyncType::kViolations), Capability::kHwViolation},
    {Opcode::kAsyncRequest, Number(AsyncType::kUtilization), Capability::kUtilisation},
    {Opcode::kAsyncRequest, Number(AsyncType::kMemoryCapacity), Capability::kMemoryCapacity},
};

std::optional<ExtensionVersion> OfSharedRegisters(std::optional<ExtensionVersion> extension) {
  return extension == ExtensionVersion::kOne ? extension : std::nullopt;
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

uint32_t CapabilityDword(uint8_t dword, const Features& features, const BoardUnit& board) {
  const Served served{features, board.spec};
  uint32_t bits = NumericFields(dword, features.identity_items);
  for (const CapabilityRow& row : kServed) {
    const bool is_announced = row.is_served(served) && !board.state.lost.contains(row.capability);
    if (mailbox::DwordOf(row.capability) == dword && is_announced) bits |= MaskOf(row.capability);
  }
  return bits;
}

std::optional<Capability> PartAnnouncedBy(const mailbox::CommandWord& command) {
  if (command.opcode == Opcode::kGetTemp || command.opcode == Opcode::kGetExtTemp) {
    return CapabilityIn(mailbox::kTempSensors, command.arg1);
  }
  if (command.opcode == Opcode::kGetPower) return CapabilityIn(mailbox::kPowerSources, command.arg1);
  if (command.opcode == Opcode::kGetThermParam) return CapabilityIn(mailbox::kThermParams, command.arg1);
  for (const CommandRow& row : kCommands) {
    if (row.opcode == command.opcode && row.arg1.value_or(command.arg1) == command.arg1) return row.capability;
  }
  return std::nullopt;
}

Firmware::Firmware(Device& device, BoardUnit& board, const Options& options)
    : base_(device, board, options.persona, options.complement) {
  if (options.extension) snapshots_.emplace(device, *options.extension);
}

CommandHandler::Reply Firmware::Execute(const mailbox::CommandWord& command, uint32_t data, uint32_t extended_data) {
  if (!mailbox::IsExtension(command.opcode)) return base_.Execute(command, data);
  return snapshots_ ? snapshots_->Execute(command, data, extended_data) : Fail(mailbox::MailboxStatus::kErrOpcode);
}

FirmwarePair::FirmwarePair(Device& device, const PowerModel& power, Persona persona,
                           std::optional<ExtensionVersion> extension, const ComplementPolicy& complement,
                           const BoardSpec& board)
    : board_(device, power, board),
      shared_(device, board_,
              {.persona = persona, .extension = OfSharedRegisters(extension), .complement = complement}) {
  if (extension != ExtensionVersion::kTwo) return;
  own_.emplace(device, board_, Firmware::Options{.persona = persona, .extension = extension, .complement = complement});
}

}  // namespace sideband::mcu
