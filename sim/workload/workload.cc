// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/workload.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "proto/base/text.h"
#include "sim/wires/domain_clock.h"

namespace sideband::sim {
namespace {

constexpr size_t kPhaseKinds = 8;
constexpr uint64_t kPerMille = 1000;

const std::array<std::string, kPhaseKinds>& PhaseNames() {
  // In the order of PhaseKind.
  static const auto& names = *new std::array<std::string, kPhaseKinds>{"gemm", "attention", "copy",   "all_reduce",
                                                                       "idle", "load",      "assign", "update"};
  return names;
}

// Per mille of cycles, in the order of PhaseKind without idle. Chosen for their shape, not measured: a GEMM uses the
// tensor cores, attention waits more for memory, a copy hardly uses the SMs, an all-reduce is limited by the links. In
// k-means, load reads points through PCIe, assign computes distances, and update adds points up in memory.
struct EventRates {
  absl::string_view event;
  std::array<uint16_t, kPhaseKinds - 1> per_mille;
};
constexpr std::array<EventRates, 16> kRates = {{
    //                            gemm  attention  copy  all_reduce  load  assign  update
    {"sm_active_cycles", {{880, 820, 60, 240, 90, 910, 520}}},
    {"warps_eligible_cycles", {{610, 470, 25, 110, 40, 640, 210}}},
    {"tensor_active_cycles", {{720, 390, 0, 15, 0, 0, 0}}},
    {"fp32_active_cycles", {{90, 260, 5, 130, 10, 680, 190}}},
    {"int_active_cycles", {{160, 210, 30, 80, 60, 150, 280}}},
    {"l2_hit_cycles", {{410, 300, 40, 120, 50, 450, 210}}},
    {"l2_miss_cycles", {{70, 190, 310, 150, 240, 90, 270}}},
    {"dram_read_cycles", {{180, 430, 620, 260, 150, 240, 390}}},
    {"dram_write_cycles", {{60, 120, 590, 240, 560, 30, 310}}},
    {"copy_engine_active_cycles", {{10, 15, 900, 70, 820, 5, 10}}},
    {"nvlink_tx_cycles", {{5, 20, 140, 780, 5, 5, 20}}},
    {"nvlink_rx_cycles", {{5, 20, 130, 770, 5, 5, 20}}},
    {"pcie_tx_cycles", {{8, 10, 350, 30, 30, 5, 10}}},
    {"pcie_rx_cycles", {{12, 15, 420, 35, 760, 5, 10}}},
    {"memory_stall_cycles", {{140, 380, 75, 330, 120, 110, 470}}},
    {"instructions_issued_cycles", {{690, 540, 45, 190, 70, 720, 260}}},
}};

uint64_t Fnv1a(absl::string_view text, uint64_t hash) {
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

// FNV-1a's high bits depend little on the last letters; multiplications and shifts (as in SplitMix64) spread them.
uint64_t UnknownRate(PhaseKind kind, absl::string_view event) {
  uint64_t hash = Fnv1a(event, Fnv1a(PhaseKindName(kind), 0xcbf29ce484222325) * 0x100000001b3);
  hash = (hash ^ hash >> 30) * 0xbf58476d1ce4e5b9;
  hash = (hash ^ hash >> 27) * 0x94d049bb133111eb;
  return kRateOne / 64 + (hash >> 33);
}

constexpr uint64_t kMillion = 1'000'000;
constexpr uint64_t kVariation = kMillion / 10;

// Between 90 % and 110 % of `rate`, at most kRateOne. The product is below 2^53.
uint64_t Vary(uint64_t rate, uint64_t random) {
  const uint64_t factor = kMillion - kVariation + random % (2 * kVariation + 1);
  return std::min(kRateOne, rate * factor / kMillion);
}

bool IsVaried(const Workload::Options& options) {
  const auto has_bursts = [](const PhaseSpec& phase) { return phase.bursts.has_value(); };
  return options.vary_per_mille > 0 || std::ranges::any_of(options.phases, has_bursts);
}

absl::Status CheckTable(const Workload::Options& options) {
  const size_t phases = options.phases.size();
  const size_t wires = options.wire_events.size();
  size_t rows = phases;
  if (IsVaried(options)) rows *= Workload::kTurns + 2 * Workload::kRingPairs;
  if (wires <= Workload::kTableMax / rows) return absl::OkStatus();
  if (rows == phases) {
    return absl::InvalidArgumentError(
        absl::StrCat(phases, " phases x ", wires, " wires are more than ", Workload::kTableMax));
  }
  return absl::InvalidArgumentError(absl::StrCat(phases, " phases, bursty or varied, x ", wires,
                                                 " wires are more than ", Workload::kTableMax / (rows / phases)));
}

bool IsValid(const BurstLengths& lengths) {
  return lengths.low > 0 && lengths.low <= lengths.high && lengths.high <= Workload::kBurstCyclesMax;
}

absl::Status CheckVariation(const Workload::Options& options) {
  if (options.vary_per_mille > Workload::kVaryPerMilleMax) {
    return absl::InvalidArgumentError(absl::StrCat("phases vary by ", options.vary_per_mille, " per mille, at most ",
                                                   Workload::kVaryPerMilleMax, " are possible"));
  }
  for (const PhaseSpec& phase : options.phases) {
    if (!phase.bursts || (IsValid(phase.bursts->on) && IsValid(phase.bursts->off))) continue;
    return absl::InvalidArgumentError(absl::StrCat("bursts last from 1 cycle to ", Workload::kBurstCyclesMax));
  }
  return absl::OkStatus();
}

absl::Status CheckCycles(const Workload::Options& options) {
  // A turn of kTurns turns, each longer than without variation, stays below the limit.
  const uint64_t limit = Workload::kTurnCyclesMax / (IsVaried(options) ? 2 * Workload::kTurns : 1);
  uint64_t turn = 0;
  for (const PhaseSpec& phase : options.phases) {
    if (phase.cycles == 0) return absl::InvalidArgumentError("a phase needs a cycle at least");
    if (phase.cycles > limit - turn) {
      return absl::InvalidArgumentError(absl::StrCat("the phases have more than ", limit, " cycles together"));
    }
    turn += phase.cycles;
  }
  return absl::OkStatus();
}

absl::Status Check(const Workload::Options& options) {
  if (options.phases.empty()) return absl::InvalidArgumentError("a workload needs a phase");
  SIDEBAND_RETURN_IF_ERROR(CheckTable(options));
  SIDEBAND_RETURN_IF_ERROR(CheckVariation(options));
  return CheckCycles(options);
}

// Numbers that depend on a seed and their order alone.
class Draws {
 public:
  explicit Draws(uint64_t seed) : seed_(seed) {}
  uint64_t Next() { return Mix(seed_ + ++count_); }
  // From low to high, both included; the range is much smaller than 2^64.
  uint64_t Between(uint64_t low, uint64_t high) { return low + Next() % (high - low + 1); }

 private:
  const uint64_t seed_;
  uint64_t count_ = 0;
};

// Appends the patterns of all wires in one phase to `patterns`.
void AppendPatterns(PhaseKind kind, uint64_t phase_seed, std::span<const std::string> wire_events,
                    std::vector<Pattern>& patterns) {
  for (size_t wire = 0; wire < wire_events.size(); ++wire) {
    const uint64_t random = Mix(phase_seed + wire);
    const uint64_t rate = Vary(BaseRate(kind, wire_events[wire]), random >> 32);
    patterns.push_back({rate, static_cast<uint32_t>(random)});
  }
}

uint64_t PhaseSeed(uint64_t seed, size_t phase) { return Mix(Mix(seed) + phase + 1); }

// FNV-1a.
uint64_t NameSeed(const std::string& name) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

// A steady phase's rate, as it is in one burst. The product is below 2^53.
uint64_t BurstRate(uint64_t rate, bool is_on, uint64_t random) {
  const uint64_t quarter = kMillion / 4;
  const uint64_t factor = is_on ? quarter + random % (6 * quarter + 1) : random % (quarter + 1);
  return std::min(kRateOne, rate * factor / kMillion);
}

void AppendBurst(std::span<const Pattern> steady, std::span<const std::string> wire_events, bool is_on,
                 uint64_t burst_seed, std::vector<Pattern>& patterns) {
  for (size_t wire = 0; wire < steady.size(); ++wire) {
    const uint64_t rate = BurstRate(steady[wire].rate, is_on, Mix(burst_seed ^ NameSeed(wire_events[wire])) >> 32);
    patterns.push_back({rate, static_cast<uint32_t>(Mix(burst_seed + wire))});
  }
}

PatternRing MakeBursts(const BurstSpec& bursts, std::span<const Pattern> steady,
                       std::span<const std::string> wire_events, uint64_t ring_seed) {
  Draws draws(ring_seed);
  std::vector<uint64_t> cycles;
  std::vector<Pattern> patterns;
  for (size_t burst = 0; burst < 2 * Workload::kRingPairs; ++burst) {
    const bool is_on = burst % 2 == 0;
    const BurstLengths& lengths = is_on ? bursts.on : bursts.off;
    cycles.push_back(draws.Between(lengths.low, lengths.high));
    AppendBurst(steady, wire_events, is_on, draws.Next(), patterns);
  }
  return PatternRing(cycles, patterns);
}

uint64_t VaryCycles(uint64_t cycles, uint32_t per_mille, Draws& draws) {
  const auto most = static_cast<uint64_t>(static_cast<unsigned __int128>(cycles) * per_mille / 1000);
  return std::max<uint64_t>(1, draws.Between(cycles - most, cycles + most));
}

PatternRing MakeRing(const Workload::Options& options, size_t phase) {
  const PhaseSpec& spec = options.phases[phase];
  const uint64_t seed = PhaseSeed(options.seed, phase);
  std::vector<Pattern> steady;
  AppendPatterns(spec.kind, seed, options.wire_events, steady);
  if (spec.bursts) return MakeBursts(*spec.bursts, steady, options.wire_events, Mix(~seed));
  // Longer than the phase ever is.
  return PatternRing(std::vector<uint64_t>{2 * spec.cycles}, steady);
}

}  // namespace

absl::StatusOr<PhaseKind> ParsePhaseKind(absl::string_view name) {
  const auto& names = PhaseNames();
  const auto found = std::find(names.begin(), names.end(), name);
  if (found != names.end()) return static_cast<PhaseKind>(found - names.begin());
  return absl::InvalidArgumentError(absl::StrCat("unknown phase '", name, "'", DidYouMean(name, names)));
}

absl::string_view PhaseKindName(PhaseKind kind) { return PhaseNames()[static_cast<size_t>(kind)]; }

std::span<const std::string> StandardEvents() {
  static const auto& names = *[] {
    auto* list = new std::vector<std::string>;
    for (const EventRates& row : kRates) list->emplace_back(row.event);
    return list;
  }();
  return names;
}

uint64_t BaseRate(PhaseKind kind, absl::string_view event) {
  if (kind == PhaseKind::kIdle) return 0;
  const auto is_event = [event](const EventRates& row) { return row.event == event; };
  const auto found = std::find_if(kRates.begin(), kRates.end(), is_event);
  if (found == kRates.end()) return UnknownRate(kind, event);
  const auto column = static_cast<size_t>(kind) - (kind > PhaseKind::kIdle ? 1 : 0);
  return found->per_mille[column] * kRateOne / kPerMille;
}

PatternRing::PatternRing(std::span<const uint64_t> segment_cycles, std::span<const Pattern> patterns)
    : begins_(segment_cycles.size() + 1), table_(segment_cycles, patterns) {
  std::partial_sum(segment_cycles.begin(), segment_cycles.end(), begins_.begin() + 1);
}

void PatternRing::AddConsecutiveCounts(CycleRange range, WireId first, std::span<uint64_t> sums) const {
  table_.AddConsecutiveCounts(Locate(range.begin), Locate(range.end), first, sums);
}

bool PatternRing::Bit(WireId wire, uint64_t cycle) const {
  const TurnPosition position = Locate(cycle);
  return table_.pattern(wire, position.phase).Bit(position.cycle);
}

VariedTurns::VariedTurns(std::vector<PatternRing> rings, std::vector<TurnPiece> pieces, uint32_t wires)
    : rings_(std::move(rings)), pieces_(std::move(pieces)), wires_(wires), before_((pieces_.size() + 1) * wires_) {
  for (size_t i = 0; i < pieces_.size(); ++i) {
    const TurnPiece& piece = pieces_[i];
    const std::span<uint64_t> after(&before_[(i + 1) * wires_], wires_);
    std::copy_n(before_.begin() + static_cast<ptrdiff_t>(i * wires_), wires_, after.begin());
    rings_[piece.ring].AddConsecutiveCounts({piece.begin, piece.begin + piece.cycles}, 0, after);
  }
}

uint64_t VariedTurns::CountBefore(WireId wire, const TurnPosition& position) const {
  const PatternRing& ring = RingOf(position);
  const uint64_t begin = pieces_[position.phase].begin;
  return position.turns * Before(pieces_.size(), wire) + Before(position.phase, wire) +
         ring.CountBefore(wire, begin + position.cycle) - ring.CountBefore(wire, begin);
}

bool VariedTurns::Bit(WireId wire, const TurnPosition& position) const {
  return RingOf(position).Bit(wire, pieces_[position.phase].begin + position.cycle);
}

void VariedTurns::AddConsecutiveCounts(const TurnPosition& begin, const TurnPosition& end, WireId first,
                                       std::span<uint64_t> sums) const {
  const TurnPiece& from = pieces_[begin.phase];
  const TurnPiece& to = pieces_[end.phase];
  if (begin.turns == end.turns && begin.phase == end.phase) {
    RingOf(begin).AddConsecutiveCounts({from.begin + begin.cycle, from.begin + end.cycle}, first, sums);
    return;
  }
  // The rest of the first piece, the pieces between, and the beginning of the last one. Differences may wrap.
  RingOf(begin).AddConsecutiveCounts({from.begin + begin.cycle, from.begin + from.cycles}, first, sums);
  const uint64_t turns = end.turns - begin.turns;
  for (size_t i = 0; i < sums.size(); ++i) {
    const WireId wire = first + static_cast<WireId>(i);
    sums[i] += turns * Before(pieces_.size(), wire) + Before(end.phase, wire) - Before(begin.phase + 1, wire);
  }
  RingOf(end).AddConsecutiveCounts({to.begin, to.begin + end.cycle}, first, sums);
}

absl::StatusOr<Workload> Workload::Create(const Options& options) {
  SIDEBAND_RETURN_IF_ERROR(Check(options));
  Workload workload;
  workload.wire_count_ = static_cast<uint32_t>(options.wire_events.size());
  if (IsVaried(options)) {
    workload.DrawTurns(options);
    return workload;
  }
  std::vector<uint64_t> phase_cycles;
  std::vector<Pattern> patterns;
  patterns.reserve(options.phases.size() * options.wire_events.size());
  for (const PhaseSpec& phase : options.phases) {
    AppendPatterns(phase.kind, PhaseSeed(options.seed, phase_cycles.size()), options.wire_events, patterns);
    phase_cycles.push_back(phase.cycles);
    workload.phase_begins_.push_back(workload.phase_begins_.back() + phase.cycles);
  }
  workload.table_ = PatternTable(phase_cycles, patterns);
  return workload;
}

void Workload::DrawTurns(const Options& options) {
  std::vector<PatternRing> rings;
  for (size_t phase = 0; phase < options.phases.size(); ++phase) rings.push_back(MakeRing(options, phase));
  Draws draws(Mix(~Mix(options.seed)));
  std::vector<TurnPiece> pieces;
  for (size_t i = 0; i < kTurns * rings.size(); ++i) {
    const size_t phase = i % rings.size();
    const PhaseSpec& spec = options.phases[phase];
    const uint64_t cycles = VaryCycles(spec.cycles, options.vary_per_mille, draws);
    const uint64_t begin = spec.bursts ? draws.Between(0, rings[phase].cycles() - 1) : 0;
    pieces.push_back({phase, begin, cycles});
    phase_begins_.push_back(phase_begins_.back() + cycles);
  }
  varied_ = std::make_shared<const VariedTurns>(std::move(rings), std::move(pieces), wire_count_);
}

bool Workload::Bit(WireId wire, uint64_t cycle) const {
  const TurnPosition position = Locate(cycle);
  if (varied_) return varied_->Bit(wire, position);
  return table_.pattern(wire, position.phase).Bit(position.cycle);
}

void Workload::AddCounts(CycleRange own, std::span<const WireId> wires, std::span<uint64_t> sums) const {
  if (!varied_) return table_.AddCounts(Locate(own.begin), Locate(own.end), wires, sums);
  const Located located = Locate(own);
  for (size_t i = 0; i < wires.size(); ++i) {
    varied_->AddConsecutiveCounts(located.begin, located.end, wires[i], sums.subspan(i, 1));
  }
}

}  // namespace sideband::sim
