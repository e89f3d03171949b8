// SPDX-License-Identifier: Apache-2.0
//
// Cores with caches of their own, which share an L2 in slices; and their events as the wires of a slice.
//   SIDEBAND_ASSIGN_OR_RETURN(const auto machine, Machine::Create({.cores = 2}, {{.words = words}, {.words = words}}));
//   machine->RunTo(1'000'000);
//   const uint64_t misses = machine->tally(machine->wires().core(0) + Index(CoreEvent::kL1dReadMiss));
//
// Cores share nothing but the L2: each has a memory of its own, [kProgramBase, kProgramBase + memory_bytes), which is
// the physical memory from core × memory_bytes on. There is nothing to be kept coherent. The result depends on nothing
// but the arguments; RunTo(a) and RunTo(b) have the same effect as RunTo(b).
//
// Cycles. A core in order executes an instruction a cycle, and waits for each miss (CoreCaches). A slice serves a
// request a cycle, in the order of arrival; requests of one cycle in the order of the cores. A line that is read is
// with the core l2_cycles after its service, or l2_cycles + memory_cycles if the slice had it not. A write-back takes
// its slice's cycle, and no more. A wire has at most one event in a cycle, therefore.
//
// In every cycle the misses of the L1s and the reads of the L2 differ by what is on its way: at most one line for each
// core, and as many write-backs. Once all cores have halted they are equal: the reads of all slices are the read misses
// of all L1s and the write misses of all L1Ds; their writes are the write-backs of all L1Ds.
//
// The cycles of a ProgramSource are those of the reference clock. Its wires are those of EventWires (shape.h).
//   ProgramSource source(std::move(another_machine));
//   chip->Attach(0, source);
//   while (!source.machine().halted()) {
//     source.Advance();
//     chip->AdvanceTo(source.now());
//   }
#ifndef SIDEBAND_SIM_RISCV_MACHINE_H_
#define SIDEBAND_SIM_RISCV_MACHINE_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "sim/riscv/cache.h"
#include "sim/riscv/core.h"
#include "sim/riscv/csr.h"
#include "sim/riscv/program.h"
#include "sim/riscv/shape.h"
#include "sim/wires/packed_wires.h"
#include "sim/wires/wire_source.h"

namespace sideband::riscv {

// The first-level caches of a core, and what they cost it: the timing of Core::Advance. A core waits for each miss; it
// has at most two requests to the L2 at a time, the line that it reads and a modified one that has to leave for it.
// An instruction is fetched in the first cycle that is its own. If its line is absent, the L2 gets the request
// hop_cycles later, and the instruction is executed once the line is there, else in the same cycle. It is executed, and
// retired, in one cycle; in that cycle it reads or writes the L1D. If the line is absent, the L2 gets a modified line's
// write-back hop_cycles later, then, at least a cycle after that, the request for the line. The next instruction is
// fetched once the line is there.
//
// A fetch of the line that was fetched last is a hit, without a look at the cache: nothing can have replaced it. Not
// thread-safe.
class CoreCaches {
 public:
  // `shape` must be valid. The core's memory is the physical memory from core × memory_bytes on, so cores share no
  // line.
  CoreCaches(const MachineShape& shape, uint32_t core);

  // The core's events are set in `wires` from now on; nullptr: in none. Its wires begin with `first`.
  void Record(sim::PackedWires* wires, sim::WireId first);

  // The request that the core waits for; nullptr if it does not wait.
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

// The program of a core.
struct CoreProgram {
  std::vector<uint32_t> words;  // at kProgramBase, where the core starts
  uint64_t argument = 0;        // register a0; of a kernel the iterations
  // A user program, with the system calls of LinuxCalls; else a program at machine level with traps of its own.
  bool is_user = true;
  CsrPort* port = nullptr;  // must outlive the machine
  uint64_t instructions_max = ~uint64_t{0};
};

// Not thread-safe.
class Machine {
 public:
  // INVALID_ARGUMENT if the shape is not valid, if there is not one program per core, or if one does not fit its core's
  // memory. The stack pointer of each core is at the end of its memory.
  static absl::StatusOr<std::unique_ptr<Machine>> Create(const MachineShape& shape,
                                                         const std::vector<CoreProgram>& programs);
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  // Sets each event in `wires` from now on; nullptr: in none, which is faster. They must have wires().count() wires,
  // contain cycle(), where their window ends, and live until the next Record. RunTo extends the window, whose capacity
  // the caller heeds.
  void Record(sim::PackedWires* wires);

  // Runs all cores until cycle() is `cycle`: every event below it has happened, and none from it on. Before an access
  // to a core's port the window of the recorded wires is extended to the cycle of that access.
  void RunTo(uint64_t cycle) { Run(cycle, /*stops_at_access=*/false); }
  // Like RunTo, but stops before each access to a port: cycle() is then the cycle of that access, and the next call
  // that goes beyond it performs it. Cores that do not wait may be ahead of cycle() then, and their tallies with them.
  void RunToAccess(uint64_t cycle) { Run(cycle, /*stops_at_access=*/true); }
  uint64_t cycle() const { return cycle_; }
  // Whether all cores have halted.
  bool halted() const;

  const MachineShape& shape() const { return shape_; }
  const EventWires& wires() const { return wires_; }
  const Core& core(uint32_t core) const { return slots_[core]->core; }
  const Memory& memory(uint32_t core) const { return slots_[core]->memory; }
  // The bytes that a user program has written.
  const std::string& output(uint32_t core) const { return slots_[core]->calls.output(); }

  // How often the event of the wire has happened, below cycle(). The machine's own count, independent of any wires.
  uint64_t tally(sim::WireId wire) const;
  // The sum of an event over the cores, or over the slices.
  uint64_t Sum(CoreEvent event) const;
  uint64_t Sum(SliceEvent event) const;

 private:
  struct Slot {
    Slot(const MachineShape& shape, uint32_t index, const CoreProgram& program);

    Memory memory;
    LinuxCalls calls;
    Core core;
    CoreCaches caches;
    Pause pause = Pause::kEnd;
    uint64_t recorded_cycles = 0;  // of the wire kCycles
  };
  // The place of a core that waits for the L2 or for its port in the order of service.
  struct Turn {
    uint64_t cycle;
    uint64_t arrival;
    Slot* slot;
  };

  Machine(const MachineShape& shape, const std::vector<CoreProgram>& programs);

  std::optional<Turn> TurnOf(Slot& slot) const;
  std::optional<Turn> NextTurn(uint64_t end) const;
  void Serve(const Turn& turn, uint64_t end);
  bool StopsBefore(const Turn& turn);
  void Run(uint64_t cycle, bool stops_at_access);
  void ExtendWires(uint64_t cycle);
  uint64_t CyclesOf(const Slot& slot, uint64_t end) const;

  const MachineShape shape_;
  const EventWires wires_;
  SharedCache l2_;
  std::vector<std::unique_ptr<Slot>> slots_;
  sim::PackedWires* recorded_ = nullptr;
  uint64_t cycle_ = 0;
  bool is_access_due_ = false;  // the last run has stopped before an access
};

// The events of a machine as wires, cycle by cycle. Not thread-safe.
class ProgramSource final : public sim::WireSource {
 public:
  static constexpr uint64_t kWindowCycles = uint64_t{1} << 14;

  // The machine must be at cycle 0.
  explicit ProgramSource(std::unique_ptr<Machine> machine, uint64_t window_cycles = kWindowCycles)
      : machine_(std::move(machine)), window_(machine_->wires().count(), window_cycles, sim::kHistoryCycles) {
    machine_->Record(&window_);
  }

  // Runs the machine to `cycle`, or as far as the window reaches, at least for a cycle. The caller has counted the
  // cycles below now(); up to sim::kHistoryCycles before it remain countable.
  void AdvanceTo(uint64_t cycle) { machine_->RunTo(std::min(cycle, WindowEnd())); }
  // The same, but at most to the next access of a core to its port: the next call performs it.
  void AdvanceToAccess(uint64_t cycle) { machine_->RunToAccess(std::min(cycle, WindowEnd())); }
  // Runs the machine as far as the window reaches.
  void Advance() { AdvanceTo(~uint64_t{0}); }
  // The cycles below are countable. While a core accesses its port, the cycles below that access are, too.
  uint64_t now() const { return machine_->cycle(); }

  const Machine& machine() const { return *machine_; }

  void AddCounts(sim::CycleRange range, std::span<const sim::WireId> wires, std::span<uint64_t> sums) const override {
    window_.AddCounts(range, wires, sums);
  }
  // The wires of the newest cycles, for callers that look at single cycles.
  const sim::PackedWires& window() const { return window_; }

 private:
  // A full window slides first.
  uint64_t WindowEnd() {
    if (window_.range().size() == window_.capacity()) window_.Slide();
    return window_.range().begin + window_.capacity();
  }

  const std::unique_ptr<Machine> machine_;
  sim::PackedWires window_;
};

}  // namespace sideband::riscv

#endif  // SIDEBAND_SIM_RISCV_MACHINE_H_
