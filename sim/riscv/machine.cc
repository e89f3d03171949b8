// SPDX-License-Identifier: Apache-2.0
#include "sim/riscv/machine.h"

#include <algorithm>
#include <bit>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "sim/riscv/core_loop.h"
#include "sim/riscv/program.h"

namespace sideband::riscv {
template Pause Core::Advance(CoreCaches& timing, uint64_t end);

CoreCaches::CoreCaches(const MachineShape& shape, uint32_t core)
    : line_shift_(std::countr_zero(shape.line_bytes)),
      fetch_shift_(line_shift_ - 2),
      first_line_(core * (shape.memory_bytes >> line_shift_)),
      memory_lines_(shape.memory_bytes >> line_shift_),
      hop_cycles_(shape.hop_cycles),
      l1i_(shape.l1i, shape.line_bytes),
      l1d_(shape.l1d, shape.line_bytes) {}

void CoreCaches::Record(sim::PackedWires* wires, sim::WireId first) {
  wires_ = wires;
  first_wire_ = first;
}

void CoreCaches::Set(CoreEvent event, sim::CycleRange run) {
  if (wires_ != nullptr) wires_->SetRun(first_wire_ + Index(event), run);
}

void CoreCaches::Request(uint64_t line, bool write, uint64_t cycle) {
  queue_[requests_++] = {.cycle = cycle + hop_cycles_, .line = first_line_ + line, .write = write};
}

bool CoreCaches::FetchLine(uint64_t line, uint64_t cycle) {
  // A program that runs off the memory's end: the core finds no instruction there, and nothing is fetched.
  if (line >= memory_lines_) return true;
  fetched_line_ = line;
  if (l1i_.Access(line, /*write=*/false).hit) return true;
  ++l1i_counts_.reads;
  ++l1i_counts_.read_misses;
  Set(CoreEvent::kL1iRead, {cycle, cycle + 1});
  Set(CoreEvent::kL1iReadMiss, {cycle, cycle + 1});
  Request(line, /*write=*/false, cycle);
  is_fetch_ = true;
  return false;
}

bool CoreCaches::MissData(uint64_t line, const Cache::Outcome& outcome, uint64_t cycle) {
  if (outcome.written_back) Request(*outcome.written_back, /*write=*/true, cycle);
  Request(line, /*write=*/false, cycle);
  is_fetch_ = false;
  return false;
}

void CoreCaches::SetDataWires(bool write, const Cache::Outcome& outcome, uint64_t cycle) {
  wires_->Set(first_wire_ + Index(write ? CoreEvent::kL1dWrite : CoreEvent::kL1dRead), cycle);
  if (outcome.hit) return;
  wires_->Set(first_wire_ + Index(write ? CoreEvent::kL1dWriteMiss : CoreEvent::kL1dReadMiss), cycle);
  if (outcome.written_back) wires_->Set(first_wire_ + Index(CoreEvent::kL1dWriteback), cycle);
}

std::optional<uint64_t> CoreCaches::Served(const SharedCache::Service& service) {
  if (++next_ < requests_) {
    // The core sends one request at a time.
    queue_[next_].cycle = std::max(queue_[next_].cycle, service.cycle + 1);
    return std::nullopt;
  }
  next_ = requests_ = 0;
  is_fetched_ = is_fetch_;
  return service.ready;
}

// The fetch of the first instruction may have been counted when its line was absent.
void CoreCaches::CountFetches(uint64_t begin, uint64_t end) {
  if (begin == end) return;
  if (is_fetched_) ++begin;
  is_fetched_ = false;
  l1i_counts_.reads += end - begin;
  Set(CoreEvent::kL1iRead, {begin, end});
}

void CoreCaches::Ran(uint64_t begin, uint64_t end) {
  CountFetches(begin, end);
  Set(CoreEvent::kInstructions, {begin, end});
}

bool CoreCaches::TakesPort() {
  const bool granted = port_granted_;
  port_granted_ = false;
  return granted;
}

namespace {

constexpr size_t kStackPointer = 2;
constexpr size_t kArgument = 10;
// Linux puts these bytes above the stack of a program without arguments: argc, and the ends of two lists.
constexpr uint64_t kStackTop = 32;

Core::Options OptionsOf(uint32_t index, const CoreProgram& program, LinuxCalls& calls) {
  return {.hart = index,
          .port = program.port,
          .environment = program.is_user ? &calls : nullptr,
          .instructions_max = program.instructions_max};
}

uint64_t TallyOf(const CacheCounts& counts, SliceEvent event) {
  switch (event) {
    case SliceEvent::kRead:
      return counts.reads;
    case SliceEvent::kReadMiss:
      return counts.read_misses;
    case SliceEvent::kWrite:
      return counts.writes;
    case SliceEvent::kWriteMiss:
      return counts.write_misses;
    case SliceEvent::kWriteback:
      return counts.writebacks;
  }
  return 0;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Machine>> Machine::Create(const MachineShape& shape,
                                                         const std::vector<CoreProgram>& programs) {
  SIDEBAND_RETURN_IF_ERROR(Validate(shape));
  if (programs.size() != shape.cores) {
    return absl::InvalidArgumentError(absl::StrCat(programs.size(), " programs for ", shape.cores, " cores"));
  }
  for (const CoreProgram& program : programs) {
    if (4 * program.words.size() + kStackTop <= shape.memory_bytes) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("a program of ", program.words.size(), " words does not fit memory_bytes"));
  }
  return std::unique_ptr<Machine>(new Machine(shape, programs));
}

Machine::Slot::Slot(const MachineShape& shape, uint32_t index, const CoreProgram& program)
    : memory(kProgramBase, shape.memory_bytes), core(memory, OptionsOf(index, program, calls)), caches(shape, index) {
  memory.Write(kProgramBase, program.words);
  core.set_x(kStackPointer, memory.end() - kStackTop);
  core.set_x(kArgument, program.argument);
}

Machine::Machine(const MachineShape& shape, const std::vector<CoreProgram>& programs)
    : shape_(shape), wires_(shape), l2_(shape) {
  for (uint32_t i = 0; i < shape.cores; ++i) slots_.push_back(std::make_unique<Slot>(shape, i, programs[i]));
}

void Machine::Record(sim::PackedWires* wires) {
  recorded_ = wires;
  l2_.Record(wires, wires_.slice(0));
  for (uint32_t i = 0; i < slots_.size(); ++i) {
    slots_[i]->caches.Record(wires, wires_.core(i));
    slots_[i]->recorded_cycles = cycle_;
  }
}

// A core waits for the L2 or for its port; all others are at the end or have halted.
std::optional<Machine::Turn> Machine::TurnOf(Slot& slot) const {
  if (slot.pause == Pause::kPort) return Turn{slot.core.cycle(), slot.core.cycle(), &slot};
  if (slot.pause != Pause::kMiss) return std::nullopt;
  const LineRequest& request = *slot.caches.request();
  return Turn{l2_.ServiceCycle(request), request.cycle, &slot};
}

std::optional<Machine::Turn> Machine::NextTurn(uint64_t end) const {
  std::optional<Turn> next;
  for (const auto& slot : slots_) {
    const std::optional<Turn> turn = TurnOf(*slot);
    if (!turn || turn->cycle >= end) continue;
    if (!next || std::tie(turn->cycle, turn->arrival) < std::tie(next->cycle, next->arrival)) next = turn;
  }
  return next;
}

void Machine::Serve(const Turn& turn, uint64_t end) {
  Slot& slot = *turn.slot;
  if (slot.pause == Pause::kPort) {
    ExtendWires(turn.cycle);
    slot.caches.GrantPort();
  } else {
    const std::optional<uint64_t> ready = slot.caches.Served(l2_.Serve(*slot.caches.request()));
    if (!ready) return;
    slot.core.StallUntil(*ready);
  }
  slot.pause = slot.core.Advance(slot.caches, end);
}

// Once before each access: the run that follows performs it.
bool Machine::StopsBefore(const Turn& turn) {
  if (turn.slot->pause != Pause::kPort) return false;
  is_access_due_ = !is_access_due_;
  return is_access_due_;
}

// Cores run ahead of each other only up to their next request, and requests are served in the order of their cycles:
// all that a core can do to another happens in that order.
void Machine::Run(uint64_t cycle, bool stops_at_access) {
  for (const auto& slot : slots_) {
    if (slot->pause == Pause::kEnd) slot->pause = slot->core.Advance(slot->caches, cycle);
  }
  is_access_due_ = is_access_due_ && stops_at_access;
  uint64_t reached = cycle;
  for (auto turn = NextTurn(cycle); turn; turn = NextTurn(cycle)) {
    if (stops_at_access && StopsBefore(*turn)) {
      reached = turn->cycle;
      break;
    }
    Serve(*turn, cycle);
  }
  cycle_ = std::max(cycle_, reached);
  ExtendWires(cycle_);
}

uint64_t Machine::CyclesOf(const Slot& slot, uint64_t end) const {
  return slot.core.halt() ? std::min(end, slot.core.cycle()) : end;
}

void Machine::ExtendWires(uint64_t cycle) {
  if (recorded_ == nullptr) return;
  for (uint32_t i = 0; i < slots_.size(); ++i) {
    Slot& slot = *slots_[i];
    const uint64_t cycles = CyclesOf(slot, cycle);
    recorded_->SetRun(wires_.core(i) + Index(CoreEvent::kCycles), {slot.recorded_cycles, cycles});
    slot.recorded_cycles = std::max(slot.recorded_cycles, cycles);
  }
  recorded_->ExtendTo(cycle);
}

bool Machine::halted() const {
  return std::all_of(slots_.begin(), slots_.end(), [](const auto& slot) { return slot->core.halt().has_value(); });
}

uint64_t Machine::tally(sim::WireId wire) const {
  if (wire >= wires_.slice(0)) {
    const sim::WireId own = wire - wires_.slice(0);
    return TallyOf(l2_.counts(own / kSliceEvents), static_cast<SliceEvent>(own % kSliceEvents));
  }
  const Slot& slot = *slots_[wire / kCoreEvents];
  switch (static_cast<CoreEvent>(wire % kCoreEvents)) {
    case CoreEvent::kCycles:
      return CyclesOf(slot, cycle_);
    case CoreEvent::kInstructions:
      return slot.core.instructions();
    case CoreEvent::kL1iRead:
      return slot.caches.l1i().reads;
    case CoreEvent::kL1iReadMiss:
      return slot.caches.l1i().read_misses;
    case CoreEvent::kL1dRead:
      return slot.caches.l1d().reads;
    case CoreEvent::kL1dReadMiss:
      return slot.caches.l1d().read_misses;
    case CoreEvent::kL1dWrite:
      return slot.caches.l1d().writes;
    case CoreEvent::kL1dWriteMiss:
      return slot.caches.l1d().write_misses;
    case CoreEvent::kL1dWriteback:
      return slot.caches.l1d().writebacks;
  }
  return 0;
}

uint64_t Machine::Sum(CoreEvent event) const {
  uint64_t sum = 0;
  for (uint32_t core = 0; core < shape_.cores; ++core) sum += tally(wires_.core(core) + Index(event));
  return sum;
}

uint64_t Machine::Sum(SliceEvent event) const {
  uint64_t sum = 0;
  for (uint32_t slice = 0; slice < shape_.l2_slices; ++slice) sum += tally(wires_.slice(slice) + Index(event));
  return sum;
}

}  // namespace sideband::riscv
