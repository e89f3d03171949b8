// SPDX-License-Identifier: Apache-2.0
//
// The chip of a drawn case, and its wires.
//   const auto chip = *Chip::Create(ConfigOf(test));
//   CaseWires wires(test, channel);
//   chip->Attach(0, wires.Window(0, 100));
#ifndef SIDEBAND_SECURE_MCU_CHIP_LAWS_CHIP_H_
#define SIDEBAND_SECURE_MCU_CHIP_LAWS_CHIP_H_

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "secure_mcu/chip/laws_case.h"
#include "secure_mcu/chip/pipeline_config.h"
#include "sim/wires/wire_source.h"

namespace sideband::mcu {

PipelineConfig ConfigOf(const LawsCase& test);

// What a channel's wires of one clock domain have counted before each cycle, kept to answer ranges at once, of which a
// window may be asked for. Asking beyond it fails the property.
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

// The wires of a channel as of some reference cycle: they hold what a chip may look back, and a stretch of cycles.
class WireWindow final : public sim::WireSource {
 public:
  struct Domain {
    DomainWires::CountsBefore counts;
    std::vector<uint64_t> before;  // per reference cycle
    std::vector<uint64_t> held;    // the same
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
  // Lives as long as this does at most.
  std::unique_ptr<WireWindow> Window(sim::CycleRange cycles) const {
    return std::make_unique<WireWindow>(domains_, cycles);
  }

 private:
  std::array<WireWindow::Domain, kDomains> domains_;
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_CHIP_LAWS_CHIP_H_
