// SPDX-License-Identifier: Apache-2.0
//
// An endless timeline: on each slice its tenants take turns of one quantum, with a gap between in which nobody is
// resident.
//   RoundRobinTimeline timeline(tenants, {{0, 1}, {2}}, {.quantum = 2'000'000, .gap = 20'000});
#ifndef SIDEBAND_SECURE_MCU_SERVE_ROUND_ROBIN_TIMELINE_H_
#define SIDEBAND_SECURE_MCU_SERVE_ROUND_ROBIN_TIMELINE_H_

#include <cstdint>
#include <vector>

#include "secure_mcu/chip/player.h"

namespace sideband::mcu {

class RoundRobinTimeline final : public Timeline {
 public:
  struct Turn {
    uint64_t quantum = 1;  // cycles, at least 1
    uint64_t gap = 0;      // cycles
  };

  // turns[slice] lists who takes turns there, as indices into `tenants`; a slice may have nobody.
  RoundRobinTimeline(std::vector<Tenant> tenants, std::vector<std::vector<size_t>> turns, Turn turn);

  std::optional<SwitchEvent> Peek() const override;
  void Pop() override;
  const std::vector<Tenant>& tenants() const override { return tenants_; }

 private:
  // The next switch of one slice. A slice of one tenant and no gap is entered once and never left.
  struct Slice {
    std::vector<size_t> tenants;
    size_t next_tenant = 0;
    uint64_t cycle = 0;
    bool leaving = false;
    bool settled = false;
  };

  // The slice whose switch is next; the lower number where two coincide. slices_.size() where none has any.
  size_t NextSlice() const;

  const std::vector<Tenant> tenants_;
  const Turn turn_;
  std::vector<Slice> slices_;
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_SERVE_ROUND_ROBIN_TIMELINE_H_
