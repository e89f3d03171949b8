// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/pattern_table.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>
#include <vector>

// The loops are written once, with the compiler's vectors of eight numbers, and inlined into one function per
// instruction set; the compiler splits the vectors as required.
#define SIDEBAND_INLINE __attribute__((always_inline)) inline

namespace sideband::sim {
namespace {

typedef uint64_t Vector __attribute__((vector_size(kPatternBlock * sizeof(uint64_t))));

constexpr uint64_t kFraction = 0xffffffff;

// By reference: there is no common calling convention for vectors wider than those of the instruction set.
SIDEBAND_INLINE void Load(const uint64_t* from, Vector& to) { std::memcpy(&to, from, sizeof(to)); }

// Spelled out: compilers emit a single instruction for it, but several for the conversion of a shorter vector.
SIDEBAND_INLINE void Load(const uint32_t* from, Vector& to) {
  to = Vector{from[0], from[1], from[2], from[3], from[4], from[5], from[6], from[7]};
}

SIDEBAND_INLINE void AddTo(uint64_t* sums, const Vector& more) {
  Vector sum;
  Load(sums, sum);
  sum += more;
  std::memcpy(sums, &sum, sizeof(sum));
}

// Adds to sums[0, count) what count_block(i, counts) sets: the counts of a block of wires from i on. Of what remains
// behind whole blocks, the block that ends with the last wire is counted, without the wires of the one before it.
template <typename CountBlock>
SIDEBAND_INLINE void ForBlocks(uint64_t* sums, size_t count, const CountBlock& count_block) {
  Vector counts;
  size_t i = 0;
  for (; i + kPatternBlock <= count; i += kPatternBlock) {
    count_block(i, counts);
    AddTo(sums + i, counts);
  }
  if (i == count) return;
  if (i == 0) {
    count_block(0, counts);
    for (size_t lane = 0; lane < count; ++lane) sums[lane] += counts[lane];
    return;
  }
  const size_t last = count - kPatternBlock;
  count_block(last, counts);
  const Vector lanes = {0, 1, 2, 3, 4, 5, 6, 7};
  counts &= lanes + last >= i;
  AddTo(sums + last, counts);
}

// The fraction at `begin` is exact although the product wraps; the sum with the rest of the range fits 64 bits.
template <typename Word>
struct Within {
  PhaseColumns<Word> columns;
  uint64_t begin;
  uint64_t length;

  SIDEBAND_INLINE void operator()(size_t i, Vector& counts) const {
    Vector rate, offset;
    Load(columns.rates + i, rate);
    Load(columns.offsets + i, offset);
    const Vector fraction = (rate * begin + offset) & kFraction;
    counts = (rate * length + fraction) >> 32;
  }
};

// Edges are copied: sums may alias what a reference refers to, which would be read again for each block.
struct Across {
  PhaseEdge begin;
  PhaseEdge end;
  const uint32_t* turn_counts;
  uint64_t turns;

  // Cycle and rate are below 2^32, so their product and an offset fit 64 bits.
  static SIDEBAND_INLINE void CountBefore(const PhaseEdge& edge, size_t i, Vector& count) {
    Vector rate, offset;
    Load(edge.before + i, count);
    Load(edge.columns.rates + i, rate);
    Load(edge.columns.offsets + i, offset);
    count += (rate * edge.cycle + offset) >> 32;
  }

  SIDEBAND_INLINE void operator()(size_t i, Vector& counts) const {
    Vector turn, before_begin, before_end;
    Load(turn_counts + i, turn);
    CountBefore(begin, i, before_begin);
    CountBefore(end, i, before_end);
    counts = turn * turns + before_end - before_begin;
  }
};

// Defines the three functions for one instruction set, in a struct of that name.
#define SIDEBAND_PATTERN_KERNELS(Name, attribute)                                                                   \
  struct Name {                                                                                                     \
    attribute static void Within32(PhaseColumns<uint32_t> columns, uint64_t begin, uint64_t length, uint64_t* sums, \
                                   size_t count) {                                                                  \
      ForBlocks(sums, count, Within<uint32_t>{columns, begin, length});                                             \
    }                                                                                                               \
    attribute static void Within64(PhaseColumns<uint64_t> columns, uint64_t begin, uint64_t length, uint64_t* sums, \
                                   size_t count) {                                                                  \
      ForBlocks(sums, count, Within<uint64_t>{columns, begin, length});                                             \
    }                                                                                                               \
    attribute static void Across32(const PhaseEdge& begin, const PhaseEdge& end, const uint32_t* turn_counts,       \
                                   uint64_t turns, uint64_t* sums, size_t count) {                                  \
      ForBlocks(sums, count, Across{begin, end, turn_counts, turns});                                               \
    }                                                                                                               \
    static PatternKernels All() { return {Within32, Within64, Across32}; }                                          \
  }

SIDEBAND_PATTERN_KERNELS(Baseline, );
#if defined(__x86_64__)
SIDEBAND_PATTERN_KERNELS(Avx2, __attribute__((target("avx2"))));
SIDEBAND_PATTERN_KERNELS(Avx512, __attribute__((target("avx512f,avx512dq"))));
#endif

}  // namespace

std::span<const PatternKernels> SupportedPatternKernels() {
  static const auto& kernels = *[] {
    auto* list = new std::vector<PatternKernels>{Baseline::All()};
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) list->push_back(Avx2::All());
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq")) list->push_back(Avx512::All());
#endif
    return list;
  }();
  return kernels;
}

const PatternKernels& FastestPatternKernels() {
  static const PatternKernels& fastest = SupportedPatternKernels().back();
  return fastest;
}

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
