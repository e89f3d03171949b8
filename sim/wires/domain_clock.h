// SPDX-License-Identifier: Apache-2.0
//
// A clock of the accelerator: how many edges it has made before an instant of the reference clock, and when it makes
// each, both in closed form and in integers (clocks.md, "How it maps on our parts"). LocalClocks are the clocks of a
// source's domains.
//   const auto clock = *DomainClock::Create({.hz = 700'000'000, .offset_ppb = 37'000});   // of a reference of 1 GHz
//   const uint64_t edges = clock.EdgesBefore(InstantAtCycle(1'000'000) + 1);      // at or before reference cycle 10^6
//   const Instant last = clock.InstantOf(edges - 1);
//   LocalClocks clocks({nullptr, std::make_shared<const DomainClock>(*DomainClock::Create({.hz = 700'000'000}))});
//   const uint64_t cycles = clocks.CyclesBefore(/*domain=*/1, /*cycle=*/1'000'000);   // 700'000
//
// Definition. The clock's phase grows by hz · (10^9 + offset + wander) / (10^9 · reference_hz) local cycles in each
// reference cycle, from its initial phase at instant 0 on; edge k is at the first instant at which it is k + 1 or more.
// A step changes hz; while a gate is closed the phase stands still. A clock with levels is stepped as it runs (Step).
// The wander is a walk in parts per billion with equal steps up or down, drawn from the seed, that returns to 0 and
// repeats after kWanderSegments segments.
#ifndef SIDEBAND_SIM_WIRES_DOMAIN_CLOCK_H_
#define SIDEBAND_SIM_WIRES_DOMAIN_CLOCK_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/numeric/int128.h"
#include "absl/status/statusor.h"

namespace sideband::sim {

// In units of 2^-16 reference cycles, from the device's start. Instant 0 is a reference cycle before reference edge 0.
using Instant = absl::int128;
inline constexpr int kInstantBits = 16;

// When `cycle` edges of the reference clock have been made, the last of them just now.
constexpr Instant InstantAtCycle(uint64_t cycle) { return Instant(cycle) << kInstantBits; }
// The first reference cycle at or after the instant, which must not be negative.
constexpr uint64_t CycleAtOrAfter(Instant instant) {
  return static_cast<uint64_t>((instant + ((1 << kInstantBits) - 1)) >> kInstantBits);
}

// The output function of SplitMix64: maps consecutive numbers to numbers that look independent. Clocks,
// monitors and workloads draw with it from a seed and a count.
constexpr uint64_t Mix(uint64_t value) {
  value += 0x9e3779b97f4a7c15;
  value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9;
  value = (value ^ value >> 27) * 0x94d049bb133111eb;
  return value ^ value >> 31;
}

struct ClockStep {
  Instant at;
  uint64_t hz;  // from then on
};

// The clock makes no edge after `from` and up to `to`.
struct ClockGate {
  Instant from, to;
};

struct DomainClockSpec {
  uint64_t reference_hz = 1'000'000'000;  // 1000 to 10^11
  uint64_t hz = 1'000'000'000;            // the same
  int64_t offset_ppb = 0;                 // of this clock
  uint64_t tolerance_ppb = 0;             // declared: the largest offset of any clock of its kind
  uint32_t wander_ppb_per_s = 0;          // by which its frequency changes at most
  uint64_t seed = 0;                      // of the wander
  uint32_t phase = 0;                     // at instant 0, in units of 2^-32 local cycles
  std::vector<ClockStep> steps;           // ascending, after instant 0
  std::vector<ClockGate> gates;           // ascending, without overlap, none empty
  // Further frequencies that Step may set. A clock with levels has neither steps nor gates.
  std::vector<uint64_t> levels;
  bool announces = true;  // the domain's monitors tell of steps and gates
};

// The limits that the clock keeps at any time. Periods are in units of 2^-16 reference cycles.
struct ClockLimits {
  uint64_t shortest = 0;  // local period, rounded down
  uint64_t longest = 0;   // rounded up; 0: it may be gated
  // Between steps and gates there is a steady clock from whose edges those of this one are never further apart, in
  // units of 2^-16 reference cycles.
  uint32_t wander = 0;
  bool announces = true;  // or it never changes
  bool operator==(const ClockLimits&) const = default;
};

// Copyable. Instants are below 2^80, thus 2^64 reference cycles. Immutable but for Step. Thread-compatible.
class DomainClock {
 public:
  static constexpr size_t kWanderSegments = 64;
  static constexpr uint32_t kWanderMax = 100'000;           // wander_ppb_per_s
  static constexpr uint64_t kTolerancePpbMax = 10'000'000;  // one percent
  // Calls of Step that are remembered. What was before the oldest of them is no longer known.
  static constexpr size_t kStepsKept = 4096;

  // INVALID_ARGUMENT: the message names the value that is out of its range, or out of order.
  static absl::StatusOr<DomainClock> Create(const DomainClockSpec& spec);

  // The edges before the instant; none is before instant 1.
  uint64_t EdgesBefore(Instant instant) const;
  // The instant of an edge, below 2^80.
  Instant InstantOf(uint64_t edge) const;
  // The first edge at or after the instant.
  uint64_t EdgeAtOrAfter(Instant instant) const { return EdgesBefore(instant); }

  // Sets the frequency after an instant, which is later than all earlier ones: hz or one of the levels.
  void Step(Instant at, uint64_t hz);
  // The instant of the last change; 0 if there was none.
  Instant last_change() const { return changes_.empty() ? Instant(0) : changes_.back(); }

  // Whether the clock was stepped, or a gate opened or closed, after the first instant, and not after the second.
  bool ChangedBetween(Instant after, Instant until) const;

  const ClockLimits& limits() const { return limits_; }
  // The longest local period while no gate is closed, as ClockLimits::longest.
  uint64_t slowest() const { return slowest_; }
  uint64_t nominal_hz() const { return nominal_hz_; }

 private:
  // A time of one frequency. Own time is the time since instant 0 as the clock's oscillator would tell it, in units of
  // 2^-16 · 10^-9 reference cycles.
  struct Piece {
    Instant begin;
    uint64_t hz;          // 0: gated; without the common factor
    absl::uint128 own;    // time at the begin
    uint64_t edges;       // until then, the begin included
    absl::uint128 phase;  // then, of divisor_
  };

  DomainClock() = default;

  void DrawWander(const DomainClockSpec& spec);
  void AddPieces(const DomainClockSpec& spec);
  void AddPiece(Instant begin, uint64_t hz);
  absl::Status FindLimits(const DomainClockSpec& spec);
  absl::uint128 WanderRange() const;
  absl::uint128 OwnTime(Instant instant) const;
  Instant InstantAt(absl::uint128 own) const;

  uint64_t nominal_hz_ = 0;
  absl::uint128 divisor_ = 1;  // phase of a local cycle
  uint64_t common_hz_ = 1;     // divides all frequencies
  // The walk, which repeats: the clock's own time per instant, in each segment, and before each and after the last.
  uint64_t segment_ = 1;  // instants
  uint32_t wander_step_ = 0;
  std::vector<uint64_t> rates_;
  std::vector<absl::uint128> own_before_;
  std::vector<Piece> pieces_;
  std::vector<Instant> changes_;
  uint64_t slowest_ = 0;
  ClockLimits limits_;
};

// The clocks of a source's domains. A local edge belongs to the first reference cycle whose edge is at or after it
// (docs/decisions/0006). Immutable but for Step. Thread-compatible.
class LocalClocks {
 public:
  LocalClocks() = default;
  // By domain. A null pointer, and a domain beyond them, has the reference clock, as domain 0 always does.
  explicit LocalClocks(std::vector<std::shared_ptr<const DomainClock>> clocks) : clocks_(std::move(clocks)) {}

  // At least 1.
  size_t domains() const { return clocks_.empty() ? 1 : clocks_.size(); }
  // The domain's cycles that belong to reference cycles below `cycle`.
  uint64_t CyclesBefore(size_t domain, uint64_t cycle) const {
    if (domain == 0 || domain >= clocks_.size() || clocks_[domain] == nullptr) return cycle;
    return clocks_[domain]->EdgesBefore(InstantAtCycle(cycle) + 1);
  }
  // Like DomainClock::Step, of a domain that has a clock. Others that share the clock keep it as it was.
  void Step(size_t domain, Instant at, uint64_t hz) {
    auto stepped = std::make_shared<DomainClock>(*clocks_[domain]);
    stepped->Step(at, hz);
    clocks_[domain] = std::move(stepped);
  }

 private:
  std::vector<std::shared_ptr<const DomainClock>> clocks_;
};

}  // namespace sideband::sim

#endif  // SIDEBAND_SIM_WIRES_DOMAIN_CLOCK_H_
