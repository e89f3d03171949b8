// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/pipeline/counter_gate.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "proto/mailbox/counting.h"
#include "sim/wires/clocked_source.h"

namespace sideband::mcu {
namespace {

// Above all groups are wires that are no numbers, such as the clock of a sim::ClockedSource.
constexpr bool IsGated(sim::WireId number) {
  return number >= InGroup(0, 0) && number < InGroup(0, mailbox::kGateGroupsMax);
}
constexpr sim::WireId WireOf(sim::WireId number) {
  if (!IsGated(number)) return number;
  const sim::WireId wire = number % kGatedWiresMax;
  return wire == kGatedClockWire ? sim::ClockedSource::kClockWire : wire;
}
constexpr std::optional<uint8_t> GroupOf(sim::WireId number) {
  if (!IsGated(number)) return std::nullopt;
  return static_cast<uint8_t>(number / kGatedWiresMax - 1);
}

// The length of a run of consecutive wires of one group from which on it is counted as such.
constexpr size_t kRunWires = 4;

// The length of the first run of consecutive wires of one group, at least 1.
size_t RunLength(std::span<const sim::WireId> wires) {
  size_t length = 1;
  const auto follows = [&] {
    return wires[length] == wires[length - 1] + 1 && GroupOf(wires[length]) == GroupOf(wires.front()) &&
           WireOf(wires[length]) != sim::ClockedSource::kClockWire;
  };
  while (length < wires.size() && follows()) ++length;
  return length;
}

size_t Runs(std::span<const sim::WireId> wires) {
  size_t runs = 0;
  for (; !wires.empty(); wires = wires.subspan(RunLength(wires))) ++runs;
  return runs;
}

bool IsOpen(uint64_t open, std::optional<uint8_t> group) { return !group || (open >> *group & 1) != 0; }

}  // namespace

CounterGate::CounterGate(std::vector<GateGroup> groups, HostControl host)
    : groups_(std::move(groups)), host_(host), gce_(host_.value) {}

void CounterGate::Enter() {
  if (in_guest_ || bound_.vm == nullptr) return;
  if (bound_.vm->host_store) bound_.vm->host_value = gce_;
  if (bound_.vm->guest_load) gce_ = bound_.vm->guest_value;
  in_guest_ = true;
}

void CounterGate::Exit() {
  if (!in_guest_) return;
  if (bound_.vm->guest_store) bound_.vm->guest_value = gce_;
  if (bound_.vm->host_load) gce_ = bound_.vm->host_value;
  in_guest_ = false;
}

void CounterGate::Bind(const GateBinding& to) {
  if (to.vm != bound_.vm || to.vm == nullptr) gce_ = host_.value;
  if (bound_.context != nullptr && bound_.context->store) bound_.context->value = cce_;
  cce_ = to.context != nullptr && to.context->load ? to.context->value : GateValue();
  bound_ = to;
}

const GateMatch& CounterGate::Match() const { return in_guest_ ? bound_.vm->match : host_.match; }

uint64_t CounterGate::Eligible() const {
  uint64_t eligible = 0;
  for (size_t g = 0; g < groups_.size(); ++g) {
    const GateGroup& group = groups_[g];
    const bool in_mode = in_guest_ ? group.in_guest : group.in_host;
    if (group.valid && in_mode && Match().Includes(group.identifier)) eligible |= uint64_t{1} << g;
  }
  return eligible;
}

uint64_t CounterGate::Open() const {
  uint64_t enabled = gce_.Enabled();
  if (in_guest_) enabled = bound_.vm->pinned | (enabled & cce_.Enabled() & bound_.vm->allowed);
  return Eligible() & enabled;
}

void GatedWires::Set(uint64_t cycle, State state, uint64_t now) {
  const auto is_past = [&](const Change& next) { return next.cycle + sim::kHistoryCycles <= now; };
  while (changes_.size() > 1 && is_past(changes_[1])) changes_.pop_front();
  if (!changes_.empty() && changes_.back().state == state) return;
  changes_.push_back({cycle, state});
  ++version_;
}

// Calls visit(piece, state) for the parts of the range with one state each.
template <typename Visitor>
void GatedWires::ForEachPiece(sim::CycleRange range, const Visitor& visit) const {
  auto next = std::ranges::upper_bound(changes_, range.begin, {}, &Change::cycle);
  while (range.begin < range.end) {
    const State state = next == changes_.begin() ? State() : std::prev(next)->state;
    const uint64_t end = next == changes_.end() ? range.end : std::min(range.end, next->cycle);
    if (end > range.begin) visit(sim::CycleRange{range.begin, end}, state);
    range.begin = end;
    if (next != changes_.end()) ++next;
  }
}

const GatedWires::Modes& GatedWires::ModesOf(sim::CycleRange range) const {
  if (modes_.range == range && modes_.version == version_) return modes_;
  modes_ = {.range = range, .version = version_};
  ForEachPiece(range, [&](sim::CycleRange, const State& state) {
    const size_t mode = state.is_host ? 1 : 0;
    if (modes_.occurs[mode] && modes_.open[mode] != state.open) modes_.is_even = false;
    modes_.occurs[mode] = true;
    modes_.open[mode] = state.open;
  });
  return modes_;
}

// The wires whose groups are open, and the places of their sums.
class GatedWires::Batch {
 public:
  Batch(uint64_t open, std::span<const sim::WireId> wires) {
    for (size_t i = 0; i < wires.size(); ++i) {
      if (!IsOpen(open, GroupOf(wires[i]))) continue;
      wires_.push_back(WireOf(wires[i]));
      places_.push_back(i);
    }
    counts_.resize(wires_.size());
  }

  std::span<const sim::WireId> wires() const { return {wires_.data(), wires_.size()}; }
  std::span<uint64_t> counts() { return {counts_.data(), counts_.size()}; }
  void AddTo(std::span<uint64_t> sums) const {
    for (size_t i = 0; i < places_.size(); ++i) sums[places_[i]] += counts_[i];
  }

 private:
  absl::InlinedVector<sim::WireId, kUlcCountersMax> wires_;
  absl::InlinedVector<size_t, kUlcCountersMax> places_;
  absl::InlinedVector<uint64_t, kUlcCountersMax> counts_;
};

// In one go for each mode, where the source can; false if nothing was added.
bool GatedWires::AddByMode(sim::CycleRange range, std::span<const sim::WireId> wires, std::span<uint64_t> sums) const {
  const Modes& modes = ModesOf(range);
  if (!modes.is_even) return false;
  for (const bool is_host : {false, true}) {
    if (!modes.occurs[is_host ? 1 : 0]) continue;
    Batch batch(modes.open[is_host ? 1 : 0], wires);
    // A source can for both modes or for none.
    if (!source().AddModeCounts(range, is_host, batch.wires(), batch.counts())) return false;
    batch.AddTo(sums);
  }
  return true;
}

// Adds the wires as consecutive ones, if they are mostly that; false if nothing was added.
bool GatedWires::AddByRuns(sim::CycleRange range, std::span<const sim::WireId> wires, std::span<uint64_t> sums) const {
  if (Runs(wires) * kRunWires > wires.size()) return false;
  while (!wires.empty()) {
    const size_t size = RunLength(wires);
    AddConsecutiveCounts(range, wires.front(), sums.first(size));
    wires = wires.subspan(size);
    sums = sums.subspan(size);
  }
  return true;
}

void GatedWires::AddCounts(sim::CycleRange range, std::span<const sim::WireId> wires, std::span<uint64_t> sums) const {
  if (AddByRuns(range, wires, sums) || AddByMode(range, wires, sums)) return;
  ForEachPiece(range, [&](sim::CycleRange piece, const State& state) {
    Batch batch(state.open, wires);
    if (batch.wires().empty()) return;
    source().AddCounts(piece, batch.wires(), batch.counts());
    batch.AddTo(sums);
  });
}

bool GatedWires::AddConsecutiveByMode(sim::CycleRange range, sim::WireId first, std::span<uint64_t> sums) const {
  const Modes& modes = ModesOf(range);
  if (!modes.is_even) return false;
  for (const bool is_host : {false, true}) {
    const size_t mode = is_host ? 1 : 0;
    if (!modes.occurs[mode] || !IsOpen(modes.open[mode], GroupOf(first))) continue;
    if (!source().AddConsecutiveModeCounts(range, is_host, WireOf(first), sums)) return false;
  }
  return true;
}

void GatedWires::AddConsecutiveCounts(sim::CycleRange range, sim::WireId first, std::span<uint64_t> sums) const {
  const std::optional<uint8_t> group = GroupOf(first);
  if (!group) return source().AddConsecutiveCounts(range, first, sums);
  if (AddConsecutiveByMode(range, first, sums)) return;
  ForEachPiece(range, [&](sim::CycleRange piece, const State& state) {
    if (IsOpen(state.open, group)) source().AddConsecutiveCounts(piece, WireOf(first), sums);
  });
}

}  // namespace sideband::mcu
