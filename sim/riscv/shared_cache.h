// SPDX-License-Identifier: Apache-2.0
//
// The L2 in slices, each of which serves one request a cycle. A line is in the slice of its number modulo the slices.
//   SharedCache l2(shape);
//   const LineRequest request{.cycle = 100, .line = 7, .write = false};
//   const uint64_t ready = l2.Serve(request).ready;
#ifndef SIDEBAND_SIM_RISCV_SHARED_CACHE_H_
#define SIDEBAND_SIM_RISCV_SHARED_CACHE_H_

#include <cstdint>
#include <vector>

#include "sim/riscv/cache.h"
#include "sim/riscv/shape.h"
#include "sim/wires/packed_wires.h"

namespace sideband::riscv {

// A line that a core's caches read, or write back.
struct LineRequest {
  uint64_t cycle = 0;  // of its arrival at the slice
  uint64_t line = 0;
  bool write = false;
};

// Not thread-safe.
class SharedCache {
 public:
  struct Service {
    uint64_t cycle;  // in which the slice has served the request: that of its events
    uint64_t ready;  // the first cycle in which the core has a line that it reads
  };

  // `shape` must be valid.
  explicit SharedCache(const MachineShape& shape);

  // The events of slices are set in `wires` from now on; nullptr: in none. Slice 0's wires begin with `first`.
  void Record(sim::PackedWires* wires, sim::WireId first);

  // The cycle in which Serve would serve the request: the slice may be busy at its arrival.
  uint64_t ServiceCycle(const LineRequest& request) const;
  // Requests of a slice must be served in the order of their arrival.
  Service Serve(const LineRequest& request);

  const CacheCounts& counts(uint32_t slice) const { return slices_[slice].counts; }

 private:
  struct Slice {
    Cache cache;
    CacheCounts counts;
    uint64_t free = 0;  // the first cycle in which it can serve again
  };

  size_t SliceOf(uint64_t line) const { return line & (slices_.size() - 1); }
  void SetWires(size_t slice, uint64_t cycle, bool write, const Cache::Outcome& outcome);

  const int slice_shift_;
  const uint32_t l2_cycles_;
  const uint32_t memory_cycles_;
  std::vector<Slice> slices_;
  sim::PackedWires* wires_ = nullptr;
  sim::WireId first_wire_ = 0;
};

}  // namespace sideband::riscv

#endif  // SIDEBAND_SIM_RISCV_SHARED_CACHE_H_
