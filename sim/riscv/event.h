// SPDX-License-Identifier: Apache-2.0
//
// The events of a machine, and the wires that carry them: a wire is 1 in each cycle in which its event happens.
//   const EventWires wires(shape);
//   const sim::WireId misses = wires.core(/*core=*/0) + Index(CoreEvent::kL1dReadMiss);
//   wires.Name(misses);   // "core0.l1d_readmiss"
// (registers.md, "Experiments": cycles, instructions; read, readmiss, write, writemiss, writeback of each cache)
#ifndef SIDEBAND_SIM_RISCV_EVENT_H_
#define SIDEBAND_SIM_RISCV_EVENT_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "sim/riscv/shape.h"
#include "sim/wires/wire_source.h"

namespace sideband::riscv {

enum class CoreEvent : uint8_t {
  kCycles,        // until the core halts
  kInstructions,  // retired
  kL1iRead,       // an instruction is fetched
  kL1iReadMiss,
  kL1dRead,
  kL1dReadMiss,
  kL1dWrite,
  kL1dWriteMiss,
  kL1dWriteback,
};
inline constexpr uint32_t kCoreEvents = 9;

enum class SliceEvent : uint8_t { kRead, kReadMiss, kWrite, kWriteMiss, kWriteback };
inline constexpr uint32_t kSliceEvents = 5;

constexpr uint32_t Index(CoreEvent event) { return static_cast<uint32_t>(event); }
constexpr uint32_t Index(SliceEvent event) { return static_cast<uint32_t>(event); }
absl::string_view NameOf(CoreEvent event);   // "l1d_readmiss"
absl::string_view NameOf(SliceEvent event);  // "l2_readmiss"

// The order of a machine's wires: core by core, then slice by slice.
class EventWires {
 public:
  explicit EventWires(const MachineShape& shape) : cores_(shape.cores), slices_(shape.l2_slices) {}

  // The first wire of a core, or of a slice of the L2; the others follow in the order of their events.
  sim::WireId core(uint32_t core) const { return core * kCoreEvents; }
  sim::WireId slice(uint32_t slice) const { return cores_ * kCoreEvents + slice * kSliceEvents; }
  uint32_t count() const { return cores_ * kCoreEvents + slices_ * kSliceEvents; }

  // "core0.l1d_readmiss", "slice1.l2_write". `wire` must be below count().
  std::string Name(sim::WireId wire) const;

 private:
  const uint32_t cores_;
  const uint32_t slices_;
};

}  // namespace sideband::riscv

#endif  // SIDEBAND_SIM_RISCV_EVENT_H_
