// SPDX-License-Identifier: Apache-2.0
//
// The wiring of a chip whose units are in its chip file, whatever drives their wires: the contexts of each slice take
// turns.
//   return WireUnits(file, std::move(plan), std::move(slices), std::move(device));
#ifndef SIDEBAND_SECURE_MCU_DEVICE_UNIT_WIRING_H_
#define SIDEBAND_SECURE_MCU_DEVICE_UNIT_WIRING_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "secure_mcu/chip/player.h"
#include "secure_mcu/chip_file/unit_plan.h"
#include "secure_mcu/device/wiring.h"

namespace sideband::mcu {

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

// `slices` has the source of each slice, with the wires of `plan`.
Wiring WireUnits(const ChipFile& file, UnitPlan plan, std::vector<std::shared_ptr<sim::WireSource>> slices,
                 std::shared_ptr<sim::WireSource> device);

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_DEVICE_UNIT_WIRING_H_
