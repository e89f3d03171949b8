// SPDX-License-Identifier: Apache-2.0
//
// The gates of a chip's slices, and the wires behind them (virtual-counters.md, "Mechanism").
//   SliceGates gates(/*slices=*/2, groups, /*domains=*/1);
//   const sim::WireSource& counted = gates.Attach(0, wires, now);    // what the slice's units count from now on
//   gates.Bind(0, {.vm = &control}, now);
//   gates.Enter(0, /*cycle=*/now + 100, now);
//
// A change at a cycle of the reference clock holds for the cycles from that one on, and for those of the other clocks
// that belong to them; every unit sees it in the same cycle of its clock. Exits and entries may be told ahead, in
// ascending order, as far as the wires reach.
#ifndef SIDEBAND_SECURE_MCU_CHIP_SLICE_GATES_H_
#define SIDEBAND_SECURE_MCU_CHIP_SLICE_GATES_H_

#include <cstdint>
#include <vector>

#include "secure_mcu/pipeline/counter_gate.h"
#include "secure_mcu/pipeline/gated_wires.h"

namespace sideband::mcu {

// A slice's wires behind its gate, in every clock domain. Not thread-safe.
class GatedSlice final : public sim::WireSource {
 public:
  explicit GatedSlice(uint32_t domains) : gated_(domains), passed_(domains) {}

  void Attach(const sim::WireSource& source);
  // The state of the gate from reference cycle `cycle` on, which may be told ahead; the cycles below `now` are counted.
  void Set(uint64_t cycle, GatedWires::State state, uint64_t now);
  // The cycles of other clocks that the source holds beyond those of reference cycle `now` are counted: a change at
  // `now` does not concern them any more.
  void PassWithinCycle(uint64_t now);

  void AddCounts(sim::CycleRange range, std::span<const sim::WireId> wires, std::span<uint64_t> sums) const override {
    gated_[0].AddCounts(range, wires, sums);
  }
  void AddConsecutiveCounts(sim::CycleRange range, sim::WireId first, std::span<uint64_t> sums) const override {
    gated_[0].AddConsecutiveCounts(range, first, sums);
  }
  const sim::WireSource& domain(size_t index) const override { return gated_[index]; }
  uint64_t CyclesBefore(size_t domain, uint64_t cycle) const override { return source_->CyclesBefore(domain, cycle); }
  uint64_t CyclesHeld(size_t domain, uint64_t end) const override { return source_->CyclesHeld(domain, end); }

 private:
  const sim::WireSource* source_ = nullptr;
  std::vector<GatedWires> gated_;  // per domain
  std::vector<uint64_t> passed_;   // per domain: cycles below are counted
};

// Not thread-safe.
class SliceGates {
 public:
  // Without groups nothing is gated, and no other call has an effect.
  SliceGates(uint32_t slices, const std::vector<GateGroup>& groups, uint32_t domains);

  bool empty() const { return gates_.empty(); }
  CounterGate& gate(uint8_t slice) { return gates_[slice]; }
  const std::vector<CounterGate>& gates() const { return gates_; }

  // The wires must live until the next call for the slice, and so must the result's owner.
  const sim::WireSource& Attach(uint8_t slice, const sim::WireSource& wires, uint64_t now);
  // As those of CounterGate.
  void Enter(uint8_t slice, uint64_t cycle, uint64_t now);
  void Exit(uint8_t slice, uint64_t cycle, uint64_t now);
  void Bind(uint8_t slice, const GateBinding& to, uint64_t now);
  // Groups whose bit is 0 are closed from the next change on, whatever else: the resident's selection has none of their
  // events. Initially none.
  void Select(uint8_t slice, uint64_t groups);
  // After a change of a gate's groups, controls or values.
  void Show(uint8_t slice, uint64_t now) { ShowFrom(slice, now, now); }
  void PassWithinCycle(uint8_t slice, uint64_t now);

 private:
  void ShowFrom(uint8_t slice, uint64_t cycle, uint64_t now);

  // Per slice; none without groups.
  std::vector<CounterGate> gates_;
  std::vector<uint64_t> selected_;
  std::vector<GatedSlice> wires_;
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_CHIP_SLICE_GATES_H_
