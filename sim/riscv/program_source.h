// SPDX-License-Identifier: Apache-2.0
//
// The events of a machine as the wires of a slice, cycle by cycle; the machine's cycle is that of the reference clock.
//   ProgramSource source(std::move(machine));
//   chip->Attach(0, source);
//   while (!source.machine().halted()) {
//     source.Advance();
//     chip->AdvanceTo(source.now());
//   }
// Wires: EventWires (shape.h).
#ifndef SIDEBAND_SIM_RISCV_PROGRAM_SOURCE_H_
#define SIDEBAND_SIM_RISCV_PROGRAM_SOURCE_H_

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "sim/riscv/machine.h"
#include "sim/wires/packed_wires.h"
#include "sim/wires/wire_source.h"

namespace sideband::riscv {

// Not thread-safe.
class ProgramSource final : public sim::WireSource {
 public:
  static constexpr uint64_t kWindowCycles = uint64_t{1} << 14;

  // The machine must be at cycle 0.
  explicit ProgramSource(std::unique_ptr<Machine> machine, uint64_t window_cycles = kWindowCycles)
      : machine_(std::move(machine)), window_(machine_->wires().count(), window_cycles, sim::kHistoryCycles) {
    machine_->Record(&window_);
  }

  // Runs the machine to `cycle`, or as far as the window reaches, at least for a cycle. The caller has counted the
  // cycles below now(); up to sim::kHistoryCycles before it remain countable.
  void AdvanceTo(uint64_t cycle) { machine_->RunTo(std::min(cycle, WindowEnd())); }
  // The same, but at most to the next access of a core to its port: the next call performs it (machine.h).
  void AdvanceToAccess(uint64_t cycle) { machine_->RunToAccess(std::min(cycle, WindowEnd())); }
  // Runs the machine as far as the window reaches.
  void Advance() { AdvanceTo(~uint64_t{0}); }
  // The cycles below are countable. While a core accesses its port, the cycles below that access are, too.
  uint64_t now() const { return machine_->cycle(); }

  const Machine& machine() const { return *machine_; }

  void AddCounts(sim::CycleRange range, std::span<const sim::WireId> wires, std::span<uint64_t> sums) const override {
    window_.AddCounts(range, wires, sums);
  }
  // The wires of the newest cycles, for callers that look at single cycles.
  const sim::PackedWires& window() const { return window_; }

 private:
  // A full window slides first.
  uint64_t WindowEnd() {
    if (window_.range().size() == window_.capacity()) window_.Slide();
    return window_.range().begin + window_.capacity();
  }

  const std::unique_ptr<Machine> machine_;
  sim::PackedWires window_;
};

}  // namespace sideband::riscv

#endif  // SIDEBAND_SIM_RISCV_PROGRAM_SOURCE_H_
