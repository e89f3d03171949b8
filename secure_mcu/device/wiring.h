// SPDX-License-Identifier: Apache-2.0
//
// The wires of an emulated device, the units that count them, and the timeline of the slices, made from a chip file
// with synthetic workloads, a recorded waveform or programs.
//   SIDEBAND_ASSIGN_OR_RETURN(const Wiring wiring, MakeWiring(file));
//   const SlicePrograms programs(wiring.programs, *chip);
//   programs.AdvanceTo(1'000'000, [&](uint64_t cycle) { player.PlayTo(cycle); });
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
#include "secure_mcu/chip/chip.h"
#include "secure_mcu/chip/pipeline_config.h"
#include "secure_mcu/chip/player.h"
#include "secure_mcu/chip_file/chip_file.h"
#include "secure_mcu/chip_file/event_table.h"
#include "secure_mcu/chip_file/unit_plan.h"
#include "secure_mcu/firmware/device.h"
#include "sim/riscv/csr.h"
#include "sim/riscv/machine.h"
#include "sim/riscv/program.h"
#include "sim/waveform/schedule.h"
#include "sim/wires/domain_clock.h"
#include "sim/wires/wire_source.h"

namespace sideband::mcu {

// The client of a slice as a port of cores, which have it as their CSRs hpcc, hpcm and hpcr (registers.md, "The reading
// core"). User level is a user, machine level a supervisor. The chip must be at the cycle of each access. Not
// thread-safe.
class HpcCsrPort final : public riscv::CsrPort {
 public:
  explicit HpcCsrPort(uint8_t slice) : slice_(slice) {}

  // Before the first access. `chip` must outlive the port's last access.
  void Connect(Chip& chip) { chip_ = &chip; }

  std::optional<uint64_t> Read(uint16_t csr, riscv::Privilege level, uint64_t cycle) override;
  // false: a user's trigger without useren.
  bool Write(uint16_t csr, uint64_t value, riscv::Privilege level, uint64_t cycle) override;

 private:
  const uint8_t slice_;
  Chip* chip_ = nullptr;
};

// The program of a slice: a machine whose events are the slice's wires. It does not follow the slice's residents: as a
// waveform does, it goes on through switches and gaps. Not thread-safe.
class SliceProgram {
 public:
  // INVALID_ARGUMENT if the words do not fit the memory of a core. Every core runs the same words; hart numbers tell
  // them apart.
  static absl::StatusOr<std::shared_ptr<SliceProgram>> Create(uint8_t slice, const ProgramFileSpec& spec,
                                                              const riscv::Program& program);

  void Connect(Chip& chip) { port_->Connect(chip); }
  // Its wires are those of sim/riscv/shape.h. This object must outlive the last call that advances it.
  const std::shared_ptr<riscv::ProgramSource>& source() const { return source_; }
  const riscv::Machine& machine() const { return source_->machine(); }

 private:
  SliceProgram(std::unique_ptr<HpcCsrPort> port, std::unique_ptr<riscv::Machine> machine);

  const std::unique_ptr<HpcCsrPort> port_;  // of all cores
  const std::shared_ptr<riscv::ProgramSource> source_;
};

// Advances the programs of a chip together with the chip, so that an access at cycle t finds the chip at cycle t, on
// every slice. Not thread-safe.
class SlicePrograms {
 public:
  // One program per slice, or none. `chip` must outlive it.
  SlicePrograms(std::vector<std::shared_ptr<SliceProgram>> programs, Chip& chip);

  // Brings the chip to `cycle`, by calls of `play` with ascending cycles. play(t) must switch what is due up to t, and
  // count the cycles below t. The result does not depend on the steps of the caller.
  void AdvanceTo(uint64_t cycle, const std::function<void(uint64_t)>& play) const;

 private:
  const std::vector<std::shared_ptr<SliceProgram>> programs_;
  Chip& chip_;
};

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
  std::string warning;                  // one line on a trace whose repetition takes much of a processor; or empty
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
