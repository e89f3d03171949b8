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

using mailbox::MaskOf;
using mailbox::ThrottleReason;
using mailbox::Violation;

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

namespace {

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

}  // namespace

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

// What the workload would take by another clock; idling takes the same.
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

namespace {

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

}  // namespace

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

}  // namespace sideband::mcu
