// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/pattern_table.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "sim/workload/pattern_kernels.h"

namespace sideband::sim {
namespace {

constexpr uint64_t kNarrowMax = std::numeric_limits<uint32_t>::max();
// The limit of PatternKernels::within32 and within64.
constexpr uint64_t kWithinMax = uint64_t{1} << 31;

bool FitNarrow(std::span<const uint64_t> phase_cycles, std::span<const Pattern> patterns) {
  const auto fits = [](const Pattern& pattern) { return pattern.rate <= kNarrowMax; };
  return std::accumulate(phase_cycles.begin(), phase_cycles.end(), uint64_t{0}) <= kNarrowMax &&
         std::all_of(patterns.begin(), patterns.end(), fits);
}

bool InOnePhase(const TurnPosition& begin, const TurnPosition& end) {
  return begin.turns == end.turns && begin.phase == end.phase;
}

}  // namespace

TurnPosition LocateCycle(std::span<const uint64_t> begins, uint64_t cycle) {
  const uint64_t turns = cycle / begins.back();
  const uint64_t in_turn = cycle - turns * begins.back();
  const auto next = std::upper_bound(begins.begin(), begins.end(), in_turn);
  const auto phase = static_cast<size_t>(next - begins.begin()) - 1;
  return {turns, phase, in_turn - begins[phase]};
}

PatternTable::PatternTable(std::span<const uint64_t> phase_cycles, std::span<const Pattern> patterns)
    : wire_count_(phase_cycles.empty() ? 0 : patterns.size() / phase_cycles.size()) {
  if (FitNarrow(phase_cycles, patterns)) {
    columns_ = MakeColumns<uint32_t>(phase_cycles, patterns);
  } else {
    columns_ = MakeColumns<uint64_t>(phase_cycles, patterns);
  }
}

template <typename Word>
PatternTable::Columns<Word> PatternTable::MakeColumns(std::span<const uint64_t> phase_cycles,
                                                      std::span<const Pattern> patterns) const {
  // The kernels read whole blocks.
  const size_t size = patterns.size() + kPatternBlock;
  Columns<Word> columns{std::vector<Word>(size), std::vector<uint32_t>(size), std::vector<Word>(size),
                        std::vector<Word>(wire_count_ + kPatternBlock)};
  for (size_t i = 0; i < patterns.size(); ++i) {
    Word& turn_count = columns.turn_counts[i % wire_count_];
    columns.rates[i] = static_cast<Word>(patterns[i].rate);
    columns.offsets[i] = patterns[i].offset;
    columns.before[i] = turn_count;
    turn_count += static_cast<Word>(patterns[i].Ones(phase_cycles[i / wire_count_]));
  }
  return columns;
}

Pattern PatternTable::pattern(WireId wire, size_t phase) const {
  const size_t i = phase * wire_count_ + wire;
  return std::visit([i](const auto& columns) { return Pattern{columns.rates[i], columns.offsets[i]}; }, columns_);
}

uint64_t PatternTable::CountBefore(WireId wire, const TurnPosition& position) const {
  const size_t i = position.phase * wire_count_ + wire;
  return std::visit(
      [&](const auto& columns) {
        return position.turns * columns.turn_counts[wire] + columns.before[i] +
               Pattern{columns.rates[i], columns.offsets[i]}.Ones(position.cycle);
      },
      columns_);
}

void PatternTable::AddCounts(const TurnPosition& begin, const TurnPosition& end, std::span<const WireId> wires,
                             std::span<uint64_t> sums) const {
  for (size_t i = 0; i < wires.size(); ++i) sums[i] += CountBefore(wires[i], end) - CountBefore(wires[i], begin);
}

void PatternTable::AddConsecutiveCounts(const TurnPosition& begin, const TurnPosition& end, WireId first,
                                        std::span<uint64_t> sums) const {
  if (AddFast(begin, end, first, sums)) return;
  for (uint64_t& sum : sums) {
    sum += CountBefore(first, end) - CountBefore(first, begin);
    ++first;
  }
}

// Returns false if no kernel applies.
bool PatternTable::AddFast(const TurnPosition& begin, const TurnPosition& end, WireId first,
                           std::span<uint64_t> sums) const {
  if (InOnePhase(begin, end) && end.cycle - begin.cycle <= kWithinMax) {
    AddWithin(begin.phase * wire_count_ + first, begin.cycle, end.cycle - begin.cycle, sums);
    return true;
  }
  const auto* const narrow = std::get_if<Narrow>(&columns_);
  if (narrow != nullptr) AddAcross(*narrow, begin, end, first, sums);
  return narrow != nullptr;
}

void PatternTable::AddWithin(size_t column, uint64_t begin, uint64_t length, std::span<uint64_t> sums) const {
  const PatternKernels& kernels = FastestPatternKernels();
  if (const auto* const narrow = std::get_if<Narrow>(&columns_)) {
    kernels.within32({narrow->rates.data() + column, narrow->offsets.data() + column}, begin, length, sums.data(),
                     sums.size());
  } else {
    const Wide& wide = std::get<Wide>(columns_);
    kernels.within64({wide.rates.data() + column, wide.offsets.data() + column}, begin, length, sums.data(),
                     sums.size());
  }
}

void PatternTable::AddAcross(const Narrow& columns, const TurnPosition& begin, const TurnPosition& end, WireId first,
                             std::span<uint64_t> sums) const {
  const auto edge = [&](const TurnPosition& position) {
    const size_t column = position.phase * wire_count_ + first;
    return PhaseEdge{{columns.rates.data() + column, columns.offsets.data() + column},
                     columns.before.data() + column,
                     position.cycle};
  };
  FastestPatternKernels().across32(edge(begin), edge(end), columns.turn_counts.data() + first, end.turns - begin.turns,
                                   sums.data(), sums.size());
}

}  // namespace sideband::sim
