// SPDX-License-Identifier: Apache-2.0
//
// For tests: a clock whose every edge is known exactly, and the packets that a monitor makes of it. It shares nothing
// with what is tested but the types of its answers.
//   TestClock clock({.period = 32768 * kSubticks, .wander = 100 * kSubticks, .wander_edges = 100'000});
//   clock.Step(/*edge=*/5000, /*period=*/40000 * kSubticks);
//   const bool contained = Contains(range, clock.At(6000));
#ifndef SIDEBAND_PROTO_CLOCKS_TEST_CLOCK_H_
#define SIDEBAND_PROTO_CLOCKS_TEST_CLOCK_H_

#include <cstdint>
#include <vector>

#include "absl/numeric/int128.h"
#include "proto/clocks/clock_limits.h"

namespace sideband::clocks {

// True instants are in 2^-20 ticks, in which periods are whole.
using Subticks = absl::int128;
inline constexpr int64_t kSubticks = int64_t{1} << 20;

bool Contains(const InstantRange& range, Subticks truth);

class TestClock {
 public:
  struct Options {
    int64_t period = 0;  // in subticks
    // A triangle wave of this amplitude around the line, of twice so many edges; or none.
    int64_t wander = 0;
    int64_t wander_edges = 0;
  };
  explicit TestClock(Options options);

  // Both after all changes before. From `edge` on the period is another one; before `edge` the clock stands still.
  void Step(uint64_t edge, int64_t period);
  void Stop(uint64_t edge, int64_t subticks);

  Subticks At(uint64_t edge) const;
  uint64_t FirstEdgeFrom(Subticks instant) const;
  // Whether the clock was changed after edge `from`, at `to` at the latest.
  bool ChangedBetween(uint64_t from, uint64_t to) const;
  const Options& options() const { return options_; }
  // The limits of the periods, whole ticks.
  uint64_t PeriodShortest() const;
  uint64_t PeriodLongest() const;

 private:
  struct Piece {
    uint64_t edge;
    Subticks start;
    int64_t period;
  };
  const Piece& PieceOf(uint64_t edge) const;
  Subticks OnLine(uint64_t edge) const;
  Subticks Wander(uint64_t edge) const;
  int64_t WanderOfPeriod() const;

  Options options_;
  std::vector<Piece> pieces_;
};

// Changes of a clock besides its drift.
enum class ClockKind : uint8_t { kSteady, kStepsAnnounced, kStepsSilent, kStopsAnnounced };

// A clock, what is declared of it, and its packets: all that were not lost, in the order of their triggers.
struct ClockCase {
  ClockKind kind;
  ClockLimits limits;
  TestClock clock;
  std::vector<ClockPacket> packets;
};

struct CaseOptions {
  ClockKind kind = ClockKind::kSteady;
  int packets = 100;
  int lost_percent = 0;
};

// A case with all that is left open drawn.
ClockCase DrawCase(const CaseOptions& options, uint64_t seed);

}  // namespace sideband::clocks

#endif  // SIDEBAND_PROTO_CLOCKS_TEST_CLOCK_H_
