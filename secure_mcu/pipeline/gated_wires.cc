// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/pipeline/gated_wires.h"

#include <algorithm>
#include <array>
#include <optional>

#include "sim/wires/clocked_source.h"

namespace sideband::mcu {
namespace {

// Above all groups are wires that are no numbers, such as the clock of a sim::ClockedSource.
constexpr bool IsGated(sim::WireId number) { return number >= InGroup(0, 0) && number < InGroup(0, kGateGroupsMax); }
constexpr sim::WireId WireOf(sim::WireId number) {
  if (!IsGated(number)) return number;
  const sim::WireId wire = number % kGatedWiresMax;
  return wire == kGatedClockWire ? sim::ClockedSource::kClockWire : wire;
}
constexpr std::optional<uint8_t> GroupOf(sim::WireId number) {
  if (!IsGated(number)) return std::nullopt;
  return static_cast<uint8_t>(number / kGatedWiresMax - 1);
}

bool IsOpen(uint64_t open, std::optional<uint8_t> group) { return !group || (open >> *group & 1) != 0; }

}  // namespace

void GatedWires::Set(uint64_t cycle, uint64_t open, uint64_t now) {
  const auto is_past = [&](const Change& next) { return next.cycle + sim::kHistoryCycles <= now; };
  while (changes_.size() > 1 && is_past(changes_[1])) changes_.pop_front();
  if (changes_.empty() || changes_.back().open != open) changes_.push_back({cycle, open});
}

// Calls visit(piece, open) for the parts of the range with one bitmap each.
template <typename Visitor>
void GatedWires::ForEachPiece(sim::CycleRange range, const Visitor& visit) const {
  auto next = std::ranges::upper_bound(changes_, range.begin, {}, &Change::cycle);
  while (range.begin < range.end) {
    const uint64_t open = next == changes_.begin() ? 0 : std::prev(next)->open;
    const uint64_t end = next == changes_.end() ? range.end : std::min(range.end, next->cycle);
    if (end > range.begin) visit(sim::CycleRange{range.begin, end}, open);
    range.begin = end;
    if (next != changes_.end()) ++next;
  }
}

// Calls visit(piece) for the longest parts of the range in which the group is open.
template <typename Visitor>
void GatedWires::ForEachOpenPiece(sim::CycleRange range, uint8_t group, const Visitor& visit) const {
  sim::CycleRange piece{range.begin, range.begin};
  ForEachPiece(range, [&](sim::CycleRange part, uint64_t open) {
    if (!IsOpen(open, group)) return;
    if (piece.end != part.begin) {
      if (piece.size() > 0) visit(piece);
      piece.begin = part.begin;
    }
    piece.end = part.end;
  });
  if (piece.size() > 0) visit(piece);
}

void GatedWires::AddCounts(sim::CycleRange range, std::span<const sim::WireId> wires, std::span<uint64_t> sums) const {
  std::array<sim::WireId, 64> open_wires;
  std::array<uint64_t, 64> counts;
  std::array<size_t, 64> places;
  ForEachPiece(range, [&](sim::CycleRange piece, uint64_t open) {
    for (size_t i = 0; i < wires.size();) {
      size_t count = 0;
      for (; i < wires.size() && count < open_wires.size(); ++i) {
        if (!IsOpen(open, GroupOf(wires[i]))) continue;
        open_wires[count] = WireOf(wires[i]);
        places[count++] = i;
      }
      std::fill_n(counts.begin(), count, 0);
      source().AddCounts(piece, {open_wires.data(), count}, {counts.data(), count});
      for (size_t k = 0; k < count; ++k) sums[places[k]] += counts[k];
    }
  });
}

void GatedWires::AddConsecutiveCounts(sim::CycleRange range, sim::WireId first, std::span<uint64_t> sums) const {
  const std::optional<uint8_t> group = GroupOf(first);
  if (!group) return source().AddConsecutiveCounts(range, first, sums);
  ForEachOpenPiece(range, *group,
                   [&](sim::CycleRange piece) { source().AddConsecutiveCounts(piece, WireOf(first), sums); });
}

}  // namespace sideband::mcu
