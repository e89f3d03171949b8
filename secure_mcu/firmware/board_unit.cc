// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/firmware/board_unit.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "proto/mailbox/catalog.h"
#include "secure_mcu/firmware/board_state.h"
#include "secure_mcu/firmware/complement.h"

namespace sideband::mcu {
namespace {

using mailbox::MailboxStatus;
using mailbox::MaskOf;
using mailbox::PowerSource;
using mailbox::TempSensor;
using mailbox::ThermParam;
using mailbox::ThrottleReason;
using mailbox::Violation;

constexpr uint32_t kHardwareReasons =
    MaskOf(ThrottleReason::kHardwareSlowdown) | MaskOf(ThrottleReason::kHardwareThermal);
constexpr uint32_t kSoftwareReasons =
    MaskOf(ThrottleReason::kSoftwarePowerCap) | MaskOf(ThrottleReason::kSoftwareThermal);

struct ViolationRow {
  Violation violation;
  uint32_t reasons;
};
constexpr ViolationRow kViolations[] = {
    {Violation::kHardware, kHardwareReasons},
    {Violation::kSoftware, kSoftwareReasons},
    {Violation::kSoftwarePower, MaskOf(ThrottleReason::kSoftwarePowerCap)},
    {Violation::kSoftwareThermal, MaskOf(ThrottleReason::kSoftwareThermal)},
};
static_assert(std::size(kViolations) == mailbox::kViolationCount);

uint64_t LevelBelow(const WorkloadClock& clock) {
  const auto now = std::ranges::find(clock.levels, clock.hz);
  return now == clock.levels.begin() ? *now : *std::prev(now);
}

uint64_t LevelAbove(const WorkloadClock& clock) {
  const auto above = std::ranges::upper_bound(clock.levels, clock.hz);
  return above == clock.levels.end() ? clock.hz : *above;
}

using Counts = std::vector<uint64_t>;
using Uses = absl::FunctionRef<bool(size_t)>;

// The device's block, without private VMs.
std::optional<Counts> OwnCounts(Device& device, Uses uses) {
  const auto counters = device.DeviceCounters();
  Counts counts(counters.begin(), counters.end());
  const auto block = device.BlockCounters(mailbox::kHypervisorVm, mailbox::kNoContext);
  if (!block) return counts;
  for (const RotatedCount& rotated : block->rotated) {
    if (rotated.is_unknown() && uses(rotated.event)) return std::nullopt;
    // The counter may be of another channel, with newer commits than the block.
    counts[rotated.event] = std::max(counts[rotated.event], rotated.estimate);
  }
  return counts;
}

// Adds a block to the counts. Returns false if it lacks a count that is used.
bool Add(Device& device, uint16_t vm, uint16_t context, Uses uses, Counts& counts) {
  const auto block = device.BlockCounters(vm, context);
  if (!block) return true;
  for (size_t event = 0; event < counts.size(); ++event) {
    const RotatedCount* const rotated = block->FindRotated(static_cast<uint16_t>(event));
    if (rotated != nullptr && rotated->is_unknown() && uses(event)) return false;
    counts[event] += block->CountOf(static_cast<uint16_t>(event));
  }
  return true;
}

std::optional<Counts> SumOfOpenBlocks(Device& device, Uses uses) {
  Counts counts(device.DeviceCounters().size());
  for (const mailbox::VmInfo& vm : device.catalog().vms) {
    // A private VM's activity is no more the board's than a confidential one's: the device's block would lack it, too.
    if (vm.confidential || vm.is_private) continue;
    if (!Add(device, vm.id, mailbox::kNoContext, uses, counts)) return std::nullopt;
  }
  for (const mailbox::HostBlockInfo& host : device.catalog().host_blocks) {
    if (!Add(device, mailbox::kHypervisorVm, host.slice, uses, counts)) return std::nullopt;
  }
  return counts;
}

// Saturates: the parameters of a chip file can produce values beyond the range of T.
template <typename T>
T Rounded(double value) {
  constexpr auto kLow = static_cast<double>(std::numeric_limits<T>::min());
  constexpr auto kHigh = static_cast<double>(std::numeric_limits<T>::max());
  if (value <= kLow) return std::numeric_limits<T>::min();
  if (value >= kHigh) return std::numeric_limits<T>::max();
  return static_cast<T>(std::round(value));
}

uint32_t Fixed(double degrees) { return static_cast<uint32_t>(Rounded<int32_t>(degrees * 256)); }

bool IsDefined(TempSensor sensor) {
  return std::ranges::find(mailbox::kTempSensors, sensor, &mailbox::TempRow::sensor) != std::end(mailbox::kTempSensors);
}

Reply Lacking(bool is_defined) { return Fail(is_defined ? MailboxStatus::kErrNotSupported : MailboxStatus::kErrArg1); }

double DegreesOf(const BoardRails& rails, TempSensor sensor, const BoardSpec& spec) {
  if (sensor == TempSensor::kMemory) return rails.memory->temperature_c();
  const double gpu_c = rails.total.temperature_c();
  return sensor == TempSensor::kTLimit ? spec.thermal->slowdown_c - gpu_c : gpu_c;
}

double ThresholdOf(const ThermalLimits& limits, ThermParam param) {
  switch (param) {
    case ThermParam::kTarget:
      return limits.target_c;
    case ThermParam::kSlowdown:
      return limits.slowdown_c;
    case ThermParam::kShutdown:
      return limits.shutdown_c;
    case ThermParam::kMemorySlowdown:
      return limits.memory_slowdown_c;
    case ThermParam::kSoftwareSlowdown:
      return limits.software_slowdown_c;
    case ThermParam::kTargetTLimit:
      return limits.slowdown_c - limits.target_c;
    case ThermParam::kSlowdownTLimit:
      return 0;
    case ThermParam::kShutdownTLimit:
      return limits.slowdown_c - limits.shutdown_c;
    case ThermParam::kMemorySlowdownTLimit:
      return limits.slowdown_c - limits.memory_slowdown_c;
    case ThermParam::kSoftwareSlowdownTLimit:
      return limits.slowdown_c - limits.software_slowdown_c;
  }
  return 0;
}

bool IsOfMemory(ThermParam param) {
  return param == ThermParam::kMemorySlowdown || param == ThermParam::kMemorySlowdownTLimit;
}

}  // namespace

PowerModel::PowerModel(Config config)
    : config_(std::move(config)),
      power_mw_(config_.idle_mw),
      temperature_c_(config_.ambient_c + config_.idle_mw / 1000 * config_.c_per_watt) {}

double PowerModel::EnergyPj(std::span<const uint64_t> counters) const {
  double energy = 0;
  for (size_t i = 0; i < std::min(counters.size(), config_.event_pj.size()); ++i) {
    energy += static_cast<double>(counters[i]) * config_.event_pj[i];
  }
  return energy;
}

double PowerModel::EnergyMj(std::span<const uint64_t> counters, uint64_t reference_time_ns) const {
  // Both terms are in millijoules: 1 mW for 10^9 ns, and 10^9 pJ.
  return config_.idle_mw * static_cast<double>(reference_time_ns) / 1e9 + EnergyPj(counters) / 1e9;
}

bool PowerModel::Update(std::span<const uint64_t> counters, uint64_t reference_time_ns) {
  if (!IsDue(reference_time_ns)) return false;
  const double elapsed_ns = static_cast<double>(reference_time_ns - time_ns_);
  const double energy_pj = EnergyPj(counters);
  power_mw_ = config_.idle_mw + (energy_pj - energy_pj_) / elapsed_ns;  // 1 pJ/ns is 1 mW
  energy_pj_ = energy_pj;
  time_ns_ = reference_time_ns;
  // The temperature approaches its steady state exponentially.
  const double settled_c = config_.ambient_c + power_mw_ / 1000 * config_.c_per_watt;
  temperature_c_ = settled_c + (temperature_c_ - settled_c) * std::exp(-elapsed_ns / 1e9 / config_.time_constant_s);
  return true;
}

BoardPhysics::BoardPhysics(Device& device, const PowerModel::Config& power, const BoardSpec& spec, BoardState& state)
    : device_(device),
      spec_(spec),
      state_(state),
      open_(MakeRails(device, power, spec)),
      whole_(MakeRails(device, power, spec)) {}

BoardRails BoardPhysics::MakeRails(const Device& device, const PowerModel::Config& power, const BoardSpec& spec) {
  BoardRails rails{.total = PowerModel(power), .memory = std::nullopt};
  if (!spec.memory) return rails;
  PowerModel::Config memory = power;
  memory.idle_mw = spec.memory->idle_mw;
  memory.c_per_watt = spec.memory->c_per_watt;
  const auto& events = device.catalog().events;
  for (size_t event = 0; event < memory.event_pj.size(); ++event) {
    const bool is_of_memory = std::ranges::find(spec.memory->events, events[event].name) != spec.memory->events.end();
    if (!is_of_memory) memory.event_pj[event] = 0;
  }
  rails.memory.emplace(std::move(memory));
  return rails;
}

std::optional<std::vector<uint64_t>> BoardPhysics::Counts(Complement rule) {
  if (IsWithheld(rule, device_.catalog())) return std::nullopt;
  const auto uses = [this](size_t event) { return open_.total.Uses(event); };
  return rule == Complement::kAllow ? WholeCounts(device_, uses) : OpenCounts(device_, uses);
}

const BoardRails* BoardPhysics::Rails(Complement rule) {
  const auto counts = Counts(rule);
  if (!counts) return nullptr;
  BoardRails& rails = rule == Complement::kAllow ? whole_ : open_;
  const uint64_t now_ns = device_.ReferenceTimeNs();
  rails.total.Update(*counts, now_ns);
  if (rails.memory) rails.memory->Update(*counts, now_ns);
  return &rails;
}

// The module's limit holds for the board, too, less what the module takes beyond it.
double BoardPhysics::PowerLimitMw() const {
  if (!spec_.power_limit) return std::numeric_limits<double>::infinity();
  const double board_mw = InForceMw(*spec_.power_limit, state_.power_limit);
  const auto module = ModuleLimits(spec_);
  if (!module) return board_mw;
  return std::min(board_mw, InForceMw(*module, state_.module_limit) - *spec_.module_overhead_mw);
}

// The power that the workload would take by another clock; idling takes the same.
double BoardPhysics::PowerMwAt(uint64_t hz, const WorkloadClock& clock) const {
  const double idle_mw = whole_.total.config().idle_mw;
  const double ratio = static_cast<double>(hz) / static_cast<double>(clock.hz);
  return idle_mw + (whole_.total.power_mw() - idle_mw) * ratio;
}

uint32_t BoardPhysics::ThermalReasons() const {
  if (!spec_.thermal) return 0;
  const double gpu_c = whole_.total.temperature_c();
  const bool memory_is_hot = whole_.memory && whole_.memory->temperature_c() >= spec_.thermal->memory_slowdown_c;
  const bool is_hot = gpu_c >= spec_.thermal->slowdown_c || memory_is_hot;
  const bool is_warm = gpu_c >= spec_.thermal->software_slowdown_c;
  return (is_hot ? kHardwareReasons : 0) | (is_warm ? MaskOf(ThrottleReason::kSoftwareThermal) : 0);
}

// At once the lowest level for the hardware's reasons, else a step down or up. A clock that is low for its power stays
// low while the next level up would take too much, and so has a reason.
BoardPhysics::Decision BoardPhysics::Decide(const WorkloadClock& clock) const {
  const uint32_t thermal = ThermalReasons();
  const uint32_t power_cap = MaskOf(ThrottleReason::kSoftwarePowerCap);
  const double limit_mw = PowerLimitMw();
  const bool is_over = whole_.total.power_mw() > limit_mw;
  if ((thermal & kHardwareReasons) != 0) return {thermal | (is_over ? power_cap : 0), clock.levels.front()};
  if (is_over) return {thermal | power_cap, LevelBelow(clock)};
  const uint64_t above = LevelAbove(clock);
  const uint32_t held = PowerMwAt(above, clock) > limit_mw ? power_cap : 0;
  if (thermal != 0) return {thermal | held, LevelBelow(clock)};
  return {held, held != 0 ? clock.hz : above};
}

void BoardPhysics::AddViolations(uint32_t reasons, uint64_t elapsed_ns) {
  for (const ViolationRow& row : kViolations) {
    if ((reasons & row.reasons) != 0) state_.violation_ns[static_cast<size_t>(row.violation)] += elapsed_ns;
  }
}

void BoardPhysics::Tick() {
  const uint64_t now_ns = device_.ReferenceTimeNs(), elapsed_ns = now_ns - controlled_ns_;
  if (elapsed_ns < whole_.total.config().window_ns) return;
  controlled_ns_ = now_ns;
  AddViolations(state_.throttle_reasons, elapsed_ns);
  // A reader later finds both as they are now.
  const bool has_counts = Rails(Complement::kAllow) != nullptr;
  Rails(Complement::kExclude);
  const auto clock = device_.GetWorkloadClock();
  if (!has_counts || !clock) return;
  const Decision decision = Decide(*clock);
  state_.throttle_reasons = decision.reasons;
  device_.SetWorkloadClock(decision.hz);
}

std::optional<std::vector<uint64_t>> OpenCounts(Device& device, Uses uses) {
  const mailbox::Catalog& catalog = device.catalog();
  if (!HasHadConfidentialVm(catalog)) return OwnCounts(device, uses);
  auto counts = DeviceBlockIsOpen(catalog) ? OwnCounts(device, uses) : SumOfOpenBlocks(device, uses);
  if (!counts) return std::nullopt;
  for (size_t event = 0; event < counts->size(); ++event) {
    if (catalog.events[event].scope == mailbox::EventScope::kDevice) (*counts)[event] = 0;
  }
  return counts;
}

std::optional<std::vector<uint64_t>> WholeCounts(Device& device, Uses uses) {
  auto counts = OwnCounts(device, uses);
  if (!counts) return std::nullopt;
  for (const mailbox::VmInfo& vm : device.catalog().vms) {
    if (vm.is_private && !Add(device, vm.id, mailbox::kNoContext, uses, *counts)) return std::nullopt;
  }
  return counts;
}

bool Sensors::HasTemperature(TempSensor sensor) const {
  switch (sensor) {
    case TempSensor::kGpu0:
      return true;
    case TempSensor::kMemory:
      return board_.spec.memory.has_value();
    case TempSensor::kTLimit:
      return board_.spec.thermal.has_value();
    case TempSensor::kGpu1:
    case TempSensor::kBoard:
    case TempSensor::kPowerSupply:
      break;
  }
  return false;
}

Reply Sensors::GetTemperature(uint8_t number, bool with_fraction) {
  const auto sensor = static_cast<TempSensor>(number);
  if (!HasTemperature(sensor)) return Lacking(IsDefined(sensor));
  const BoardRails* const rails = board_.physics.Rails(complement_.temperature);
  if (rails == nullptr) return Fail(MailboxStatus::kErrNotAvailable);
  const uint32_t fixed = Fixed(DegreesOf(*rails, sensor, board_.spec));
  // GET_TEMP has the format of GET_EXT_TEMP, s24.8, without its fraction.
  return {.data = with_fraction ? fixed : fixed & ~uint32_t{0xFF}};
}

Reply Sensors::GetThermParam(uint8_t param) const {
  if (param >= std::size(mailbox::kThermParams)) return Fail(MailboxStatus::kErrArg1);
  const auto& limits = board_.spec.thermal;
  const bool has_sensor = !IsOfMemory(static_cast<ThermParam>(param)) || board_.spec.memory;
  if (!limits || !has_sensor) return Fail(MailboxStatus::kErrNotSupported);
  return {.data = Fixed(ThresholdOf(*limits, static_cast<ThermParam>(param)))};
}

bool Sensors::HasPower(PowerSource source) const {
  switch (source) {
    case PowerSource::kTotal:
      return true;
    case PowerSource::kMemory:
      return board_.spec.memory.has_value();
    case PowerSource::kModule:
      return board_.spec.module_overhead_mw.has_value();
    case PowerSource::kSmbpbi:
      break;  // its meaning is not public
  }
  return false;
}

Reply Sensors::GetPower(uint8_t number) {
  const auto source = static_cast<PowerSource>(number);
  if (!HasPower(source)) return Lacking(number < std::size(mailbox::kPowerSources));
  const BoardRails* const rails = board_.physics.Rails(complement_.power);
  if (rails == nullptr) return Fail(MailboxStatus::kErrNotAvailable);
  const PowerModel& rail = source == PowerSource::kMemory ? *rails->memory : rails->total;
  const double beyond_mw = source == PowerSource::kModule ? ModuleOverheadMw() : 0;
  return {.data = Rounded<uint32_t>(rail.power_mw() + beyond_mw)};
}

Reply Sensors::GetEnergy(uint8_t number) {
  const auto source = static_cast<PowerSource>(number);
  const bool is_module = source == PowerSource::kModule;
  if (source != PowerSource::kTotal && !is_module) return Fail(MailboxStatus::kErrArg1);
  if (!HasPower(source)) return Fail(MailboxStatus::kErrNotSupported);
  const auto energy_mj = ExactEnergyMj();
  if (!energy_mj) return Fail(MailboxStatus::kErrNotAvailable);
  const double seconds = static_cast<double>(device_.ReferenceTimeNs()) / 1e9;
  const auto rounded = Rounded<uint64_t>(*energy_mj + (is_module ? ModuleOverheadMw() * seconds : 0));
  return {.data = static_cast<uint32_t>(rounded), .extended_data = static_cast<uint32_t>(rounded >> 32)};
}

std::optional<double> Sensors::ExactEnergyMj() {
  const auto counts = board_.physics.Counts(complement_.energy);
  if (!counts) return std::nullopt;
  const BoardRails* const rails = board_.physics.Rails(complement_.energy);
  return rails->total.EnergyMj(*counts, device_.ReferenceTimeNs());
}

std::optional<uint64_t> Sensors::EnergyMj() {
  const auto energy_mj = ExactEnergyMj();
  if (!energy_mj) return std::nullopt;
  return Rounded<uint64_t>(*energy_mj);
}

}  // namespace sideband::mcu
