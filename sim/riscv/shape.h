// SPDX-License-Identifier: Apache-2.0
//
// The shape of a machine: its cores, caches and latencies; its events, and the wires that carry them. A wire is 1 in
// each cycle in which its event happens.
//   MachineShape shape{.cores = 2, .l1d = {.bytes = 8 << 10, .ways = 2}};
//   SIDEBAND_RETURN_IF_ERROR(Validate(shape));
//   const EventWires wires(shape);
//   const sim::WireId misses = wires.core(/*core=*/0) + Index(CoreEvent::kL1dReadMiss);
//   wires.Name(misses);   // "core0.l1d_readmiss"
// (registers.md, "Experiments": cycles, instructions; read, readmiss, write, writemiss, writeback of each cache)
#ifndef SIDEBAND_SIM_RISCV_SHAPE_H_
#define SIDEBAND_SIM_RISCV_SHAPE_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "sim/wires/wire_source.h"

namespace sideband::riscv {

struct CacheShape {
  uint32_t bytes;
  uint32_t ways;

  bool operator==(const CacheShape&) const = default;
};

struct MachineShape {
  static constexpr uint32_t kCoresMax = 8;
  static constexpr uint32_t kSlicesMax = 16;

  uint32_t cores = 1;                            // 1 to kCoresMax
  uint64_t memory_bytes = uint64_t{16} << 20;    // of each core; a power of two, 64 KiB to 1 GiB
  uint32_t line_bytes = 64;                      // of every cache; a power of two, 16 to 256
  CacheShape l1i{.bytes = 16 << 10, .ways = 4};  // of each core
  CacheShape l1d{.bytes = 16 << 10, .ways = 4};  // of each core
  CacheShape l2{.bytes = 256 << 10, .ways = 8};  // all slices together
  uint32_t l2_slices = 2;                        // a power of two, 1 to kSlicesMax; line n is in slice n mod l2_slices
  // Latencies in cycles, each 1 to 10,000; machine.h says what they delay.
  uint32_t hop_cycles = 1;      // from a core to a slice
  uint32_t l2_cycles = 10;      // a slice's answer
  uint32_t memory_cycles = 60;  // the memory's answer, in addition

  bool operator==(const MachineShape&) const = default;
};

// INVALID_ARGUMENT "NAME must be …" for a value out of its range, or for a cache whose sets are not a power of two.
// Caches are at most 64 MiB and have 1 to 32 ways.
absl::Status Validate(const MachineShape& shape);

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

#endif  // SIDEBAND_SIM_RISCV_SHAPE_H_
