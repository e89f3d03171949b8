// SPDX-License-Identifier: Apache-2.0
//
// The first-level caches of a core, and what they cost it: the timing of Core::Advance. A core waits for each miss; it
// has at most two requests to the L2 at a time, the line that it reads and a modified one that has to leave for it.
//   CoreCaches caches(shape, /*core=*/0);
//   Pause pause = core.Advance(caches, end);
//   while (pause == Pause::kMiss) {
//     if (const auto ready = caches.Served(l2.Serve(*caches.request()))) {
//       core.StallUntil(*ready);
//       pause = core.Advance(caches, end);
//     }
//   }
// An instruction is fetched in the first cycle that is its own. If its line is absent, the L2 gets the request
// hop_cycles later, and the instruction is executed once the line is there, else in the same cycle. It is executed, and
// retired, in one cycle; in that cycle it reads or writes the L1D. If the line is absent, the L2 gets a modified line's
// write-back hop_cycles later, then, at least a cycle after that, the request for the line. The next instruction is
// fetched once the line is there.
//
// A fetch of the line that was fetched last is a hit, without a look at the cache: nothing can have replaced it.
#ifndef SIDEBAND_SIM_RISCV_CORE_CACHES_H_
#define SIDEBAND_SIM_RISCV_CORE_CACHES_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "sim/riscv/cache.h"
#include "sim/riscv/core.h"
#include "sim/riscv/event.h"
#include "sim/riscv/shape.h"
#include "sim/riscv/shared_cache.h"
#include "sim/wires/packed_wires.h"

namespace sideband::riscv {

// Not thread-safe.
class CoreCaches {
 public:
  // `shape` must be valid. The core's memory is the physical memory from core × memory_bytes on, so cores share no
  // line.
  CoreCaches(const MachineShape& shape, uint32_t core);

  // The core's events are set in `wires` from now on; nullptr: in none. Its wires begin with `first`.
  void Record(sim::PackedWires* wires, sim::WireId first);

  // What the core waits for; nullptr if for nothing.
  const LineRequest* request() const { return next_ < requests_ ? &queue_[next_] : nullptr; }
  // request() was served. Returns the cycle in which the core continues, or nullopt if there is another request.
  std::optional<uint64_t> Served(const SharedCache::Service& service);

  // From now on an access to the port waits for its turn (Pause::kPort), until GrantPort; then one access has it.
  void GrantPort() { port_granted_ = true; }

  const CacheCounts& l1i() const { return l1i_counts_; }
  const CacheCounts& l1d() const { return l1d_counts_; }

  // The timing of Core::Advance; see core_loop.h.
  bool Fetch(size_t index, uint64_t cycle) {
    const uint64_t line = index >> fetch_shift_;
    return line == fetched_line_ || FetchLine(line, cycle);
  }
  bool Load(uint64_t offset, uint64_t cycle) { return AccessData(offset, /*write=*/false, cycle); }
  bool Store(uint64_t offset, uint64_t cycle) { return AccessData(offset, /*write=*/true, cycle); }
  void Ran(uint64_t begin, uint64_t end);
  void Trapped(uint64_t cycle) { CountFetches(cycle, cycle + 1); }
  void Interrupted() { is_fetched_ = false; }
  bool TakesPort();

 private:
  static constexpr uint64_t kNone = ~uint64_t{0};

  bool FetchLine(uint64_t line, uint64_t cycle);
  bool AccessData(uint64_t offset, bool write, uint64_t cycle) {
    const Cache::Outcome outcome = l1d_.Access(offset >> line_shift_, write);
    l1d_counts_.Add(write, outcome);
    if (wires_ != nullptr) SetDataWires(write, outcome, cycle);
    return outcome.hit || MissData(offset >> line_shift_, outcome, cycle);
  }
  bool MissData(uint64_t line, const Cache::Outcome& outcome, uint64_t cycle);
  void SetDataWires(bool write, const Cache::Outcome& outcome, uint64_t cycle);
  void CountFetches(uint64_t begin, uint64_t end);
  void Set(CoreEvent event, sim::CycleRange run);
  void Request(uint64_t line, bool write, uint64_t cycle);

  // Constant after construction.
  const int line_shift_;
  const int fetch_shift_;      // instructions in a line, as a power of two
  const uint64_t first_line_;  // the number of the core's first line in physical memory
  const uint64_t memory_lines_;
  const uint32_t hop_cycles_;

  Cache l1i_;
  Cache l1d_;
  CacheCounts l1i_counts_;
  CacheCounts l1d_counts_;
  uint64_t fetched_line_ = kNone;
  bool is_fetched_ = false;  // the next instruction was fetched before its line came
  bool port_granted_ = false;

  std::array<LineRequest, 2> queue_{};
  size_t next_ = 0;
  size_t requests_ = 0;
  bool is_fetch_ = false;  // the requests are those of a fetch

  sim::PackedWires* wires_ = nullptr;
  sim::WireId first_wire_ = 0;
};

}  // namespace sideband::riscv

#endif  // SIDEBAND_SIM_RISCV_CORE_CACHES_H_
