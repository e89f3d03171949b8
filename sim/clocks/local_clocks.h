// SPDX-License-Identifier: Apache-2.0
//
// The clocks of a source's domains. A local edge belongs to the first reference cycle whose edge is at or after it
// (docs/decisions/0006).
//   LocalClocks clocks({nullptr, std::make_shared<const DomainClock>(*DomainClock::Create({.hz = 700'000'000}))});
//   const uint64_t cycles = clocks.CyclesBefore(/*domain=*/1, /*cycle=*/1'000'000);   // 700'000
#ifndef SIDEBAND_SIM_CLOCKS_LOCAL_CLOCKS_H_
#define SIDEBAND_SIM_CLOCKS_LOCAL_CLOCKS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "sim/clocks/domain_clock.h"

namespace sideband::sim {

// Immutable but for Step. Thread-compatible.
class LocalClocks {
 public:
  LocalClocks() = default;
  // By domain. A null pointer, and a domain beyond them, has the reference clock, as domain 0 always does.
  explicit LocalClocks(std::vector<std::shared_ptr<const DomainClock>> clocks) : clocks_(std::move(clocks)) {}

  // At least 1.
  size_t domains() const { return clocks_.empty() ? 1 : clocks_.size(); }
  // Those of the domain that belong to reference cycles below `cycle`.
  uint64_t CyclesBefore(size_t domain, uint64_t cycle) const {
    if (domain == 0 || domain >= clocks_.size() || clocks_[domain] == nullptr) return cycle;
    return clocks_[domain]->EdgesBefore(InstantAtCycle(cycle) + 1);
  }
  // Like DomainClock::Step, of a domain that has a clock. Others that share the clock keep it as it was.
  void Step(size_t domain, Instant at, uint64_t hz) {
    auto stepped = std::make_shared<DomainClock>(*clocks_[domain]);
    stepped->Step(at, hz);
    clocks_[domain] = std::move(stepped);
  }

 private:
  std::vector<std::shared_ptr<const DomainClock>> clocks_;
};

}  // namespace sideband::sim

#endif  // SIDEBAND_SIM_CLOCKS_LOCAL_CLOCKS_H_
