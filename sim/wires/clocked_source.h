// SPDX-License-Identifier: Apache-2.0
//
// A source with one more wire, which is 1 in every cycle of the reference clock: it counts time.
//   const ClockedSource wires(slice);
//   wires.AddCounts({1000, 1511}, {{ClockedSource::kClockWire}}, sums);   // sums[0] += 511
#ifndef SIDEBAND_SIM_WIRES_CLOCKED_SOURCE_H_
#define SIDEBAND_SIM_WIRES_CLOCKED_SOURCE_H_

#include <memory>
#include <span>
#include <utility>

#include "absl/strings/string_view.h"
#include "sim/wires/wire_source.h"

namespace sideband::sim {

// It is as thread-safe as the source.
class ClockedSource final : public WireSource {
 public:
  // Not a wire of any other source. Counted alone, never together with other wires.
  static constexpr WireId kClockWire = ~WireId{0};

  explicit ClockedSource(std::shared_ptr<WireSource> source) : source_(std::move(source)) {}

  void AddCounts(CycleRange range, std::span<const WireId> wires, std::span<uint64_t> sums) const override {
    if (wires.size() == 1 && wires[0] == kClockWire) {
      sums[0] += range.size();
    } else {
      source_->domain(0).AddCounts(range, wires, sums);
    }
  }
  void AddConsecutiveCounts(CycleRange range, WireId first, std::span<uint64_t> sums) const override {
    if (first == kClockWire) {
      AddCounts(range, {&first, 1}, sums);
    } else {
      source_->domain(0).AddConsecutiveCounts(range, first, sums);
    }
  }
  const WireSource& domain(size_t index) const override { return index == 0 ? *this : source_->domain(index); }
  uint64_t CyclesBefore(size_t domain, uint64_t cycle) const override { return source_->CyclesBefore(domain, cycle); }
  uint64_t CyclesHeld(size_t domain, uint64_t end) const override { return source_->CyclesHeld(domain, end); }
  void SwitchIn(absl::string_view vm, absl::string_view context, uint64_t cycle) override {
    source_->SwitchIn(vm, context, cycle);
  }
  bool AddModeCounts(CycleRange range, bool is_host, std::span<const WireId> wires,
                     std::span<uint64_t> sums) const override {
    const bool is_clock = wires.size() == 1 && wires[0] == kClockWire;
    return !is_clock && source_->domain(0).AddModeCounts(range, is_host, wires, sums);
  }
  bool AddConsecutiveModeCounts(CycleRange range, bool is_host, WireId first, std::span<uint64_t> sums) const override {
    return first != kClockWire && source_->domain(0).AddConsecutiveModeCounts(range, is_host, first, sums);
  }
  void SwitchMode(bool is_host, uint64_t cycle, uint64_t now) override { source_->SwitchMode(is_host, cycle, now); }
  void SwitchOut(uint64_t cycle) override { source_->SwitchOut(cycle); }

 private:
  const std::shared_ptr<WireSource> source_;
};

}  // namespace sideband::sim

#endif  // SIDEBAND_SIM_WIRES_CLOCKED_SOURCE_H_
