// SPDX-License-Identifier: Apache-2.0
//
// The chip of a drawn case, and its wires.
//   const auto chip = *Chip::Create(ConfigOf(test));
//   CaseWires wires(test, channel);
//   const auto window = wires.Window({0, 100});
//   chip->Attach(0, *window);
#ifndef SIDEBAND_SECURE_MCU_LAWS_LAWS_CHIP_H_
#define SIDEBAND_SECURE_MCU_LAWS_LAWS_CHIP_H_

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "secure_mcu/chip/pipeline_config.h"
#include "secure_mcu/laws/laws_case.h"
#include "sim/wires/wire_source.h"

namespace sideband::mcu {

PipelineConfig ConfigOf(const LawsCase& test);

// Cumulative counts of a channel's wires in one clock domain, from which ranges are computed at once. A query outside
// the window set by Show fails the property.
class DomainWires final : public sim::WireSource {
 public:
  using CountsBefore = std::vector<std::vector<uint32_t>>;  // per wire and cycle

  void AddCounts(sim::CycleRange range, std::span<const sim::WireId> wires, std::span<uint64_t> sums) const override;
  void Show(const CountsBefore* counts, sim::CycleRange held) {
    counts_ = counts;
    held_ = held;
  }

 private:
  const CountsBefore* counts_ = nullptr;
  sim::CycleRange held_{0, 0};
};

// The wires of a channel at some reference cycle. They hold the history that a chip may read, and a range of cycles.
class WireWindow final : public sim::WireSource {
 public:
  struct Domain {
    DomainWires::CountsBefore counts;
    std::vector<uint64_t> before;  // cycles of the domain before each reference cycle
    std::vector<uint64_t> held;    // cycles of the domain held at each reference cycle
  };
  WireWindow(const std::array<Domain, kDomains>& domains, sim::CycleRange cycles);

  void AddCounts(sim::CycleRange range, std::span<const sim::WireId> wires, std::span<uint64_t> sums) const override {
    wires_[0].AddCounts(range, wires, sums);
  }
  const sim::WireSource& domain(size_t index) const override;
  uint64_t CyclesBefore(size_t domain, uint64_t cycle) const override;
  uint64_t CyclesHeld(size_t domain, uint64_t reference_end) const override;

 private:
  const std::array<Domain, kDomains>& domains_;
  const sim::CycleRange cycles_;
  std::array<DomainWires, kDomains> wires_;
};

class CaseWires {
 public:
  CaseWires(const LawsCase& test, uint32_t channel);
  // Must not outlive this object.
  std::unique_ptr<WireWindow> Window(sim::CycleRange cycles) const {
    return std::make_unique<WireWindow>(domains_, cycles);
  }

 private:
  std::array<WireWindow::Domain, kDomains> domains_;
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_LAWS_LAWS_CHIP_H_
