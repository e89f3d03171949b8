// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/workload.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"

namespace sideband::sim {
namespace {

constexpr uint64_t kMillion = 1'000'000;
constexpr uint64_t kVariation = kMillion / 10;

// The output function of SplitMix64: maps consecutive numbers to numbers that look independent.
uint64_t Mix(uint64_t value) {
  value += 0x9e3779b97f4a7c15;
  value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9;
  value = (value ^ value >> 27) * 0x94d049bb133111eb;
  return value ^ value >> 31;
}

// Between 90 % and 110 % of `rate`, at most kRateOne. The product is below 2^53.
uint64_t Vary(uint64_t rate, uint64_t random) {
  const uint64_t factor = kMillion - kVariation + random % (2 * kVariation + 1);
  return std::min(kRateOne, rate * factor / kMillion);
}

absl::Status Check(const Workload::Options& options) {
  if (options.phases.empty()) return absl::InvalidArgumentError("a workload needs a phase");
  if (options.wire_events.size() > Workload::kTableMax / options.phases.size()) {
    return absl::InvalidArgumentError(absl::StrCat(options.phases.size(), " phases x ", options.wire_events.size(),
                                                   " wires are more than ", Workload::kTableMax));
  }
  uint64_t turn = 0;
  for (const PhaseSpec& phase : options.phases) {
    if (phase.cycles == 0) return absl::InvalidArgumentError("a phase needs a cycle at least");
    if (phase.cycles > Workload::kTurnCyclesMax - turn) {
      return absl::InvalidArgumentError(
          absl::StrCat("the phases have more than ", Workload::kTurnCyclesMax, " cycles together"));
    }
    turn += phase.cycles;
  }
  return absl::OkStatus();
}

// Appends the patterns of all wires in one phase to `patterns`.
void AppendPatterns(PhaseKind kind, uint64_t phase_seed, std::span<const std::string> wire_events,
                    std::vector<Pattern>& patterns) {
  for (size_t wire = 0; wire < wire_events.size(); ++wire) {
    const uint64_t random = Mix(phase_seed + wire);
    const uint64_t rate = Vary(BaseRate(kind, wire_events[wire]), random >> 32);
    patterns.push_back({rate, static_cast<uint32_t>(random)});
  }
}

}  // namespace

absl::StatusOr<Workload> Workload::Create(const Options& options) {
  SIDEBAND_RETURN_IF_ERROR(Check(options));
  Workload workload;
  workload.wire_count_ = static_cast<uint32_t>(options.wire_events.size());
  std::vector<uint64_t> phase_cycles;
  std::vector<Pattern> patterns;
  patterns.reserve(options.phases.size() * options.wire_events.size());
  for (const PhaseSpec& phase : options.phases) {
    const uint64_t phase_seed = Mix(Mix(options.seed) + workload.phase_begins_.size());
    AppendPatterns(phase.kind, phase_seed, options.wire_events, patterns);
    phase_cycles.push_back(phase.cycles);
    workload.phase_begins_.push_back(workload.phase_begins_.back() + phase.cycles);
  }
  workload.table_ = PatternTable(phase_cycles, patterns);
  return workload;
}

TurnPosition Workload::Locate(uint64_t cycle) const {
  const uint64_t turns = cycle / turn_cycles();
  const uint64_t in_turn = cycle - turns * turn_cycles();
  const auto next = std::upper_bound(phase_begins_.begin(), phase_begins_.end(), in_turn);
  const auto phase = static_cast<size_t>(next - phase_begins_.begin()) - 1;
  return {turns, phase, in_turn - phase_begins_[phase]};
}

bool Workload::Bit(WireId wire, uint64_t cycle) const {
  const TurnPosition position = Locate(cycle);
  const Pattern found = table_.pattern(wire, position.phase);
  // The fraction of n·r + o: its low 32 bits, which are exact although the product may wrap. The wire is 1 if adding r
  // carries into the integer part.
  const uint64_t fraction = (position.cycle * found.rate + found.offset) & (kRateOne - 1);
  return fraction + found.rate >= kRateOne;
}

void Workload::AddCounts(CycleRange own, std::span<const WireId> wires, std::span<uint64_t> sums) const {
  table_.AddCounts(Locate(own.begin), Locate(own.end), wires, sums);
}

}  // namespace sideband::sim
