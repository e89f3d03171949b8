// SPDX-License-Identifier: Apache-2.0
//
// The wires of an emulated device, the units that count them, and the timeline of the slices, made from a chip file
// with synthetic workloads, a recorded waveform or programs.
//   SIDEBAND_ASSIGN_OR_RETURN(const Wiring wiring, MakeWiring(file));
#ifndef SIDEBAND_SECURE_MCU_DEVICE_WIRING_H_
#define SIDEBAND_SECURE_MCU_DEVICE_WIRING_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "absl/numeric/int128.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "secure_mcu/chip/pipeline_config.h"
#include "secure_mcu/chip/player.h"
#include "secure_mcu/chip_file/chip_file.h"
#include "secure_mcu/chip_file/chip_spec.h"
#include "secure_mcu/chip_file/event_table.h"
#include "secure_mcu/chip_file/unit_plan.h"
#include "secure_mcu/device/slice_program.h"
#include "secure_mcu/firmware/device.h"
#include "sim/waveform/schedule.h"
#include "sim/wires/domain_clock.h"
#include "sim/wires/wire_source.h"

namespace sideband::mcu {

struct Wiring {
  EventTable events;
  std::vector<CcuSpec> ccus;
  std::vector<std::shared_ptr<sim::WireSource>> slices;  // one per slice; a waveform is shared by all
  std::shared_ptr<sim::WireSource> device;               // wires of the device-scope units
  std::vector<std::shared_ptr<SliceProgram>> programs;   // what drives the wires of `slices`; empty: no programs
  // Makes the timeline of residencies once the tenants have their memory blocks. Tenants are a VM without a context,
  // then its contexts, VM by VM in the chip file's order.
  std::function<std::unique_ptr<Timeline>(std::vector<Tenant>)> make_timeline;
  // Steps the clock of a domain of all wires after an instant, as LocalClocks::Step; null: the clocks cannot be
  // stepped.
  std::function<void(uint32_t domain, sim::Instant at, uint64_t hz)> step_clock;
  HostPlan host;                        // when the hypervisor runs
  std::vector<SliceSet> tenant_slices;  // per tenant, the slices of its turns
};

// By what the chip file has.
absl::StatusOr<Wiring> MakeWiring(const ChipFile& file);

absl::StatusOr<Wiring> MakeSyntheticWiring(const ChipFile& file);
absl::StatusOr<Wiring> MakeWaveformWiring(const ChipFile& file);
absl::StatusOr<Wiring> MakeProgramWiring(const ChipFile& file);

// Whole cycles of `duration`, which must not be negative and must be below 292 years.
inline uint64_t CyclesOf(absl::Duration duration, uint64_t clock_hz) {
  const auto ns = static_cast<uint64_t>(std::max<int64_t>(0, absl::ToInt64Nanoseconds(duration)));
  return absl::Uint128Low64(absl::uint128(ns) * clock_hz / 1'000'000'000);
}

// The same, but at least 1.
inline uint64_t CyclesAtLeastOne(absl::Duration duration, uint64_t clock_hz) {
  return std::max<uint64_t>(1, CyclesOf(duration, clock_hz));
}

// The slices on which each VM and each context of a chip file has its turns, one set per tenant, numbered as above: a
// VM without a context, with the slices of all its contexts, then its contexts. The slices are those of the chip file
// or those of a recorded schedule; every VM and context of the schedule must be in the file.
std::vector<SliceSet> SlicesOfContexts(const ChipFile& file);
std::vector<SliceSet> SlicesOfSchedule(const ChipFile& file, const std::vector<sim::Residency>& schedule);

// An endless timeline: on each slice the tenants take turns of one quantum, separated by a gap without a resident.
// Tenants may be removed and added.
class RoundRobinTimeline final : public Timeline {
 public:
  struct Turn {
    uint64_t quantum = 1;  // cycles, at least 1
    uint64_t gap = 0;      // cycles
  };

  // turns[slice] lists the tenants that take turns on the slice, as indices into `tenants`; the list may be empty.
  RoundRobinTimeline(std::vector<Tenant> tenants, std::vector<std::vector<size_t>> turns, Turn turn);

  std::optional<SwitchEvent> Peek() const override;
  void Pop() override;
  const std::vector<Tenant>& tenants() const override { return tenants_; }

  // All switches before `cycle` must have been popped.
  void Remove(size_t tenant, uint64_t cycle) override;
  void Add(size_t tenant, uint64_t cycle) override;

 private:
  struct Slice {
    std::vector<size_t> present;     // in the order of their turns
    size_t next = 0;                 // the next turn, as an index into `present`
    std::optional<size_t> resident;  // a tenant
    uint64_t cycle = 0;              // of the next switch
  };

  bool Leaves(const Slice& slice) const;
  bool HasSwitch(const Slice& slice) const;
  // The slice with the next switch; the lowest of several at the same cycle. slices_.size() if no slice has a switch.
  size_t NextSlice() const;

  const std::vector<Tenant> tenants_;
  const Turn turn_;
  std::vector<Slice> slices_;
  std::map<size_t, size_t> slice_of_;  // by tenant
};

// The wiring of a chip whose units are in its chip file, whatever drives their wires: the contexts of each slice take
// turns. `slices` has the source of each slice, with the wires of `plan`.
Wiring WireUnits(const ChipFile& file, UnitPlan plan, std::vector<std::shared_ptr<sim::WireSource>> slices,
                 std::shared_ptr<sim::WireSource> device);

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_DEVICE_WIRING_H_
