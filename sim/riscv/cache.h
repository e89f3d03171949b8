// SPDX-License-Identifier: Apache-2.0
//
// The tags of set-associative caches: write-back, write-allocate, least recently used first out. They have no data,
// which are in the cores' memories. The L2 is in slices, each of which serves one request a cycle; a line is in the
// slice of its number modulo the slices.
//   Cache cache({.bytes = 16 << 10, .ways = 4}, /*line_bytes=*/64);
//   CacheCounts counts;
//   const Cache::Outcome outcome = cache.Access(address / 64, /*write=*/true);
//   counts.Add(/*write=*/true, outcome);
//   SharedCache l2(shape);
//   const LineRequest request{.cycle = 100, .line = 7, .write = false};
//   const uint64_t ready = l2.Serve(request).ready;
#ifndef SIDEBAND_SIM_RISCV_CACHE_H_
#define SIDEBAND_SIM_RISCV_CACHE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "sim/riscv/shape.h"
#include "sim/wires/packed_wires.h"

namespace sideband::riscv {

// Not thread-safe.
class Cache {
 public:
  struct Outcome {
    bool hit = false;
    std::optional<uint64_t> written_back;  // the modified line that had to leave for this one
  };

  // Like Validate (shape.h) accepts it.
  Cache(const CacheShape& shape, uint32_t line_bytes);

  // Reads or writes a line, given by its number, below 2^61. A line that was absent is present afterwards.
  Outcome Access(uint64_t line, bool write) {
    uint64_t* const set = ways_.data() + (line & set_mask_) * way_count_;
    // The newest line of its set is first, and stays there.
    if ((set[0] & ~kModified) == (line << kLineShift | kPresent)) {
      set[0] |= write ? kModified : 0;
      return {.hit = true};
    }
    return AccessOther(set, line, write);
  }

  bool Contains(uint64_t line) const;

 private:
  static constexpr uint64_t kPresent = 1;
  static constexpr uint64_t kModified = 2;
  static constexpr int kLineShift = 2;

  Outcome AccessOther(uint64_t* set, uint64_t line, bool write);

  const size_t way_count_;
  const uint64_t set_mask_;
  std::vector<uint64_t> ways_;  // set by set, in each the newest first: line << kLineShift, and the two bits
};

// Events of a cache, in the reference's terms.
struct CacheCounts {
  uint64_t reads = 0;  // with the misses
  uint64_t read_misses = 0;
  uint64_t writes = 0;  // with the misses
  uint64_t write_misses = 0;
  uint64_t writebacks = 0;  // modified lines that left the cache

  void Add(bool write, const Cache::Outcome& outcome) {
    (write ? writes : reads) += 1;
    (write ? write_misses : read_misses) += outcome.hit ? 0 : 1;
    writebacks += outcome.written_back ? 1 : 0;
  }
  bool operator==(const CacheCounts&) const = default;
};

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

#endif  // SIDEBAND_SIM_RISCV_CACHE_H_
