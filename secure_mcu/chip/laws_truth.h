// SPDX-License-Identifier: Apache-2.0
//
// What the memory blocks of a case must hold, counted one cycle after the other from its wires and from who was where.
// Knows nothing of how the pipeline counts.
//   LawsTruth truth(test);
//   truth.Switch(/*slice=*/0, /*tenant=*/1);
//   truth.CountTo(100);
//   truth.Block(BlockOf(1));
#ifndef SIDEBAND_SECURE_MCU_CHIP_LAWS_TRUTH_H_
#define SIDEBAND_SECURE_MCU_CHIP_LAWS_TRUTH_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "secure_mcu/chip/laws_case.h"

namespace sideband::mcu {

using EventCounts = std::vector<uint64_t>;

class LawsTruth {
 public:
  explicit LawsTruth(const LawsCase& test);

  // Counts the cycles of every clock up to the reference cycle.
  void CountTo(uint64_t cycle);
  // And those of other clocks that are held already of the reference cycle that comes next.
  void CountWithinCycle();
  void Switch(uint32_t slice, std::optional<uint32_t> tenant);
  // The tenant, who is nowhere, starts anew at 0.
  void Renew(uint32_t tenant) { settled_[BlockOf(tenant)].assign(test_.events, 0); }

  std::optional<uint32_t> resident(uint32_t slice) const { return stays_[slice].tenant; }
  bool IsResident(uint32_t tenant) const;  // a VM is where any of its contexts is

  // Since the block's last renewal.
  EventCounts Block(size_t block) const;
  // What a VM has counted without a context, and the device-scope units, in all generations.
  EventCounts WithoutContext(uint32_t vm) const;
  EventCounts Device() const { return Of(stays_[test_.device()]); }

 private:
  // Who is on a channel, and what each of its inputs has added up to since he came.
  struct Stay {
    uint32_t channel;
    std::optional<uint32_t> tenant;
    std::vector<uint64_t> sums;
    std::vector<uint64_t> passed;  // per domain, the next cycle to look at
  };

  void CountDomain(Stay& stay, uint32_t domain, uint64_t end);
  void AddCycle(Stay& stay, uint32_t domain, uint64_t cycle);
  bool Counts(const Stay& stay) const { return stay.channel == test_.device() || stay.tenant.has_value(); }
  EventCounts Of(const Stay& stay) const;
  bool Touches(const Stay& stay, size_t block) const;
  uint64_t Before(uint32_t domain, uint64_t cycle) const { return before_[domain][cycle]; }

  const LawsCase& test_;
  std::vector<std::vector<uint64_t>> before_;   // per domain and reference cycle
  std::vector<std::vector<CaseInput>> inputs_;  // per channel
  std::vector<std::vector<uint32_t>> domains_;  // of the inputs
  uint64_t now_ = 0;
  std::vector<Stay> stays_;                   // per channel
  std::vector<EventCounts> settled_;          // per block, of stays that are over
  std::vector<EventCounts> without_context_;  // per VM, the same
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_CHIP_LAWS_TRUTH_H_
