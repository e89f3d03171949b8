// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/chip/chip_parts.h"

#include <algorithm>
#include <utility>

#include "absl/numeric/int128.h"
#include "proto/mailbox/snapshot.h"

namespace sideband::mcu {
void BookmarkRings::Serve(BlockId block, uint64_t served_ns, std::span<const uint64_t> counters) {
  const auto asked = pending_.extract(block);
  if (std::ranges::count(kept_, block, &KeptBookmark::block) >= static_cast<ptrdiff_t>(mailbox::kBookmarksKept)) {
    kept_.erase(std::ranges::find(kept_, block, &KeptBookmark::block));
  }
  kept_.push_back({.number = ++served_,
                   .block = block,
                   .asked = asked.mapped(),
                   .served_ns = served_ns,
                   .counters = {counters.begin(), counters.end()}});
}

void BookmarkRings::Forget(BlockId block) {
  pending_.erase(block);
  std::erase_if(kept_, [block](const KeptBookmark& kept) { return kept.block == block; });
}

void HostBlocks::Create(MemoryBlocks& memory, uint32_t slices, HostTime time) {
  time_ = time;
  for (uint32_t slice = 0; slice < slices; ++slice) {
    blocks_.push_back(memory.Create(mailbox::kHypervisorVm, static_cast<uint16_t>(slice)));
    memory.SetActive(blocks_.back(), counts_idle());
  }
}

std::optional<Binding> HostBlocks::DestinationOf(uint8_t slice, const std::optional<Binding>& bound) const {
  if (bound || !counts_idle()) return bound;
  return Binding{.vm = of(slice), .context = {}};
}

bool HostBlocks::HasResident(const std::optional<Binding>& bound) const {
  return bound && std::ranges::find(blocks_, bound->vm) == blocks_.end();
}

void HostBlocks::ShowState(uint8_t slice, const std::optional<Binding>& bound, MemoryBlocks& memory) const {
  if (counts_idle()) memory.SetActive(of(slice), !bound);
}

bool Residents::IsOnSlice(BlockId block) const {
  return std::ranges::any_of(bound_, [block](const std::optional<Binding>& bound) {
    return bound && (bound->vm == block || bound->context == block);
  });
}

void Residents::ShowState(const std::optional<Binding>& binding, MemoryBlocks& memory) const {
  if (!binding) return;
  memory.SetActive(binding->vm, IsOnSlice(binding->vm));
  if (binding->context) memory.SetActive(*binding->context, IsOnSlice(*binding->context));
}

void Residents::ShowState(uint8_t slice, const std::optional<Binding>& from, MemoryBlocks& memory) const {
  ShowState(from, memory);
  ShowState(bound_[slice], memory);
  hosts_.ShowState(slice, bound_[slice], memory);
}

RecordMover::RecordMover(Latencies latencies, std::vector<CounterCollectionUnit>& ccus, Route route)
    : latencies_(latencies),
      ccus_(ccus),
      route_(std::move(route)),
      buffer_(latencies.buffer_depth),
      unit_ready_(ccus.size()) {}

void RecordMover::FindSenders() {
  ready_.clear();
  resting_.clear();
  for (size_t unit = 0; unit < ccus_.size(); ++unit) {
    if (!ccus_[unit].HasRecord()) continue;
    if (unit_ready_[unit] > now_) {
      resting_.push_back(unit);
    } else {
      ready_.push_back(unit);
    }
  }
  std::sort(resting_.begin(), resting_.end(), [this](size_t a, size_t b) { return unit_ready_[a] < unit_ready_[b]; });
}

void RecordMover::Wake() {
  while (!resting_.empty() && unit_ready_[resting_.front()] <= now_) {
    const size_t unit = resting_.front();
    resting_.pop_front();
    ready_.insert(std::lower_bound(ready_.begin(), ready_.end(), unit), unit);
  }
}

void RecordMover::Send(size_t unit) {
  buffer_.Push(ccus_[unit].PopRecord());
  unit_ready_[unit] = now_ + latencies_.record_cycles;
  // All rest for the same time, so the first to rest is the first to be ready.
  if (ccus_[unit].HasRecord()) resting_.push_back(unit);
}

void RecordMover::Step() {
  ++now_;
  if (!buffer_.empty() && now_ >= route_ready_) {
    route_(buffer_.Pop());
    route_ready_ = now_ + latencies_.route_cycles;
  }
  Wake();
  while (!ready_.empty() && !buffer_.full()) {
    auto next = std::lower_bound(ready_.begin(), ready_.end(), first_unit_);
    if (next == ready_.end()) next = ready_.begin();
    const size_t unit = *next;
    ready_.erase(next);
    Send(unit);
  }
  // A full buffer drops nothing: the units keep their records.
  stall_cycles_ += ready_.size();
  // The first unit rotates, so that a full buffer does not always stall the same units.
  if (++first_unit_ == ccus_.size()) first_unit_ = 0;
}

void RecordMover::RunFor(uint64_t cycles) {
  const uint64_t end = now_ + cycles;
  FindSenders();
  // An idle pipeline skips to the end.
  while (now_ < end && !Idle()) Step();
  now_ = end;
}

void RecordMover::RunUntil(const std::function<bool()>& done) {
  FindSenders();
  while (!done() && !Idle()) Step();
}

void GatedSlice::Attach(const sim::WireSource& source) {
  source_ = &source;
  for (size_t domain = 0; domain < gated_.size(); ++domain) gated_[domain].Attach(source, domain);
}

void GatedSlice::Set(uint64_t cycle, GatedWires::State state, uint64_t now) {
  if (source_ == nullptr) return;
  gated_[0].Set(cycle, state, now);
  for (size_t domain = 1; domain < gated_.size(); ++domain) {
    const auto own = [&](uint64_t of) { return std::max(passed_[domain], source_->CyclesBefore(domain, of)); };
    gated_[domain].Set(own(cycle), state, own(now));
  }
}

void GatedSlice::PassWithinCycle(uint64_t now) {
  for (size_t domain = 1; source_ != nullptr && domain < passed_.size(); ++domain) {
    passed_[domain] = std::max(passed_[domain], source_->CyclesHeld(domain, now));
  }
}

SliceGates::SliceGates(uint32_t slices, const std::vector<GateGroup>& groups, uint32_t domains) {
  if (groups.empty()) return;
  gates_.assign(slices, CounterGate(groups));
  selected_.assign(slices, ~uint64_t{0});
  wires_.assign(slices, GatedSlice(domains));
}

const sim::WireSource& SliceGates::Attach(uint8_t slice, const sim::WireSource& wires, uint64_t now) {
  if (empty()) return wires;
  wires_[slice].Attach(wires);
  Show(slice, now);
  return wires_[slice];
}

void SliceGates::Enter(uint8_t slice, uint64_t cycle, uint64_t now) {
  if (empty()) return;
  gates_[slice].Enter();
  ShowFrom(slice, cycle, now);
}

void SliceGates::Exit(uint8_t slice, uint64_t cycle, uint64_t now) {
  if (empty()) return;
  gates_[slice].Exit();
  ShowFrom(slice, cycle, now);
}

void SliceGates::Bind(uint8_t slice, const GateBinding& to, uint64_t now) {
  if (empty()) return;
  gates_[slice].Bind(to);
  Show(slice, now);
}

void SliceGates::Select(uint8_t slice, uint64_t groups) {
  if (!empty()) selected_[slice] = groups;
}

void SliceGates::ShowFrom(uint8_t slice, uint64_t cycle, uint64_t now) {
  if (empty()) return;
  const uint64_t open = gates_[slice].Open() & selected_[slice];
  wires_[slice].Set(cycle, {.open = open, .is_host = !gates_[slice].in_guest()}, now);
}

void SliceGates::PassWithinCycle(uint8_t slice, uint64_t now) {
  if (!empty()) wires_[slice].PassWithinCycle(now);
}

size_t UnitClocks::Add(size_t wiring, uint32_t domain) {
  const auto is_same = [&](const Clock& clock) { return clock.wiring == wiring && clock.domain == domain; };
  const auto found = std::ranges::find_if(clocks_, is_same);
  if (found != clocks_.end()) return static_cast<size_t>(found - clocks_.begin());
  clocks_.push_back({.wiring = wiring, .domain = domain});
  return clocks_.size() - 1;
}

void UnitClocks::Attach(size_t wiring, const sim::WireSource& wires, uint64_t now) {
  wires_[wiring] = &wires;
  now_ = now;
  for (Clock& clock : clocks_) {
    if (clock.wiring == wiring) clock.edges = clock.edges_then = EdgesBefore(clock, clock.asked = now);
  }
}

void UnitClocks::AdvanceTo(uint64_t cycle) {
  now_ = cycle;
  for (Clock& clock : clocks_) clock.edges = Remembered(clock, cycle);
}

void UnitClocks::Forget() {
  for (Clock& clock : clocks_) {
    clock.asked = now_;
    clock.edges_then = clock.edges;
  }
}

uint64_t UnitClocks::EdgesBefore(const Clock& clock, uint64_t cycle) const {
  const sim::WireSource* const wires = wires_[clock.wiring];
  return clock.domain == 0 || wires == nullptr ? cycle : wires->CyclesBefore(clock.domain, cycle);
}

uint64_t UnitClocks::Remembered(Clock& clock, uint64_t cycle) const {
  if (clock.asked != cycle) {
    clock.asked = cycle;
    clock.edges_then = EdgesBefore(clock, cycle);
  }
  return clock.edges_then;
}

uint64_t UnitClocks::FirstAfter(size_t number, uint64_t edges, uint64_t end) const {
  Clock& clock = clocks_[number];
  if (clock.domain == 0) return std::min(end, now_ + edges);
  const uint64_t target = clock.edges + edges;
  uint64_t low = now_, low_edges = clock.edges, high = end, high_edges = Remembered(clock, end);
  if (high_edges < target) return end;
  // Steps of a steady clock's own length meet the cycle at once; halves bound the search for any other clock.
  for (bool halve = false; high - low > 1; halve = !halve) {
    const auto share = absl::Uint128Low64(absl::uint128(high - low) * (target - low_edges) / (high_edges - low_edges));
    const uint64_t probe = halve ? low + (high - low) / 2 : std::clamp(low + share, low + 1, high - 1);
    const uint64_t then = EdgesBefore(clock, probe);
    if (then >= target) {
      high = probe;
      high_edges = then;
    } else {
      low = probe;
      low_edges = then;
    }
  }
  return high;
}

}  // namespace sideband::mcu
