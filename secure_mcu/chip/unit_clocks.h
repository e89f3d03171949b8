// SPDX-License-Identifier: Apache-2.0
//
// The clocks by which a chip's units count, and how many edges each has made up to the chip's present. Each is computed
// once where the chip stops, however many units count by it.
//   UnitClocks clocks(/*wirings=*/2);
//   const size_t clock = clocks.Add(/*wiring=*/0, /*domain=*/1);
//   clocks.Attach(0, wires, /*now=*/0);
//   clocks.AdvanceTo(1000);
//   Count(clocks.edges(clock));
#ifndef SIDEBAND_SECURE_MCU_CHIP_UNIT_CLOCKS_H_
#define SIDEBAND_SECURE_MCU_CHIP_UNIT_CLOCKS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/wires/wire_source.h"

namespace sideband::mcu {

// Not thread-safe.
class UnitClocks {
 public:
  explicit UnitClocks(size_t wirings) : wires_(wirings) {}

  // The number of that clock; the same for the same clock.
  size_t Add(size_t wiring, uint32_t domain);
  // `wires` must outlive it, or until others are attached there. A clock without wires is the reference clock.
  void Attach(size_t wiring, const sim::WireSource& wires, uint64_t now);
  void AdvanceTo(uint64_t cycle);
  // Clocks may make other edges than they would have made, from now on.
  void Forget();

  // Those before the present cycle.
  uint64_t edges(size_t clock) const { return clocks_[clock].edges; }
  // The first reference cycle in (present, end] before which the clock has `edges` more edges; end if there is none.
  // Not a later one: when a threshold triggers must not depend on who else stops the chip.
  uint64_t FirstAfter(size_t clock, uint64_t edges, uint64_t end) const;

 private:
  struct Clock {
    size_t wiring;
    uint32_t domain;
    uint64_t edges = 0;  // before now_
    // A cycle that was asked for, which is often the one where the chip stops next.
    uint64_t asked = 0, edges_then = 0;
  };

  uint64_t EdgesBefore(const Clock& clock, uint64_t cycle) const;
  uint64_t Remembered(Clock& clock, uint64_t cycle) const;

  std::vector<const sim::WireSource*> wires_;
  mutable std::vector<Clock> clocks_;
  uint64_t now_ = 0;
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_CHIP_UNIT_CLOCKS_H_
