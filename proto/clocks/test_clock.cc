// SPDX-License-Identifier: Apache-2.0
#include "proto/clocks/test_clock.h"

#include <algorithm>
#include <iterator>
#include <random>

namespace sideband::clocks {
namespace {

constexpr int64_t kCycle = kTicksPerCycle * kSubticks;

class Draws {
 public:
  explicit Draws(uint64_t seed) : engine_(seed) {}
  // Both included; the same on every machine.
  int64_t From(int64_t first, int64_t last) {
    return first + static_cast<int64_t>(engine_() % static_cast<uint64_t>(last - first + 1));
  }
  bool Percent(int percent) { return From(0, 99) < percent; }

 private:
  std::mt19937_64 engine_;
};

int64_t NearPeriod(int64_t nominal, int64_t ppm, Draws& draws) {
  return nominal + nominal / 1'000'000 * draws.From(-ppm, ppm);
}

TestClock DrawClock(ClockKind kind, int64_t edges, Draws& draws) {
  const int64_t nominal = draws.From(kCycle / 2, 10 * kCycle), ppm = draws.Percent(50) ? 50 : 5000;
  TestClock::Options options{.period = NearPeriod(nominal, ppm, draws)};
  if (draws.Percent(50)) {
    options.wander_edges = std::max<int64_t>(10, draws.From(edges / 20, edges));
    options.wander = std::min(draws.From(0, 2 * kCycle), options.period / 8 * options.wander_edges);
  }
  TestClock clock(options);
  if (kind == ClockKind::kSteady) return clock;
  int64_t edge = 0;
  for (int64_t i = draws.From(1, 6); i > 0; --i) {
    edge += draws.From(1, edges / 3);
    if (kind == ClockKind::kStopsAnnounced && draws.Percent(70)) {
      clock.Stop(static_cast<uint64_t>(edge), draws.From(1, edges / 4) * nominal);
    } else {
      clock.Step(static_cast<uint64_t>(edge), NearPeriod(nominal / 4 * draws.From(3, 8), ppm, draws));
    }
  }
  return clock;
}

struct Wire {
  int64_t shortest, longest;  // delays in ticks
  int64_t sync_edges;
};

ClockLimits LimitsOf(ClockKind kind, const TestClock& clock, const TestClock::Options& options, const Wire& wire) {
  ClockLimits limits{.period_shortest = clock.PeriodShortest(), .period_longest = clock.PeriodLongest()};
  limits.bar_low = wire.shortest + wire.sync_edges * static_cast<int64_t>(limits.period_shortest) - kTicksPerCycle;
  limits.bar_high = wire.longest + (wire.sync_edges + 1) * static_cast<int64_t>(limits.period_longest) + kTicksPerCycle;
  limits.wander = static_cast<uint32_t>(options.wander / kSubticks + 1);
  limits.announces = kind != ClockKind::kStepsSilent;
  if (kind == ClockKind::kStopsAnnounced) limits.period_longest = 0;
  return limits;
}

}  // namespace

bool Contains(const InstantRange& range, Subticks truth) {
  const bool above = range.low == Instant::Earliest() || range.low.ticks() * kSubticks <= truth;
  const bool below = range.high == Instant::Latest() || truth <= range.high.ticks() * kSubticks;
  return above && below;
}

TestClock::TestClock(Options options) : options_(options), pieces_({{0, 0, options.period}}) {}

void TestClock::Step(uint64_t edge, int64_t period) { pieces_.push_back({edge, OnLine(edge), period}); }

void TestClock::Stop(uint64_t edge, int64_t subticks) {
  pieces_.push_back({edge, OnLine(edge) + subticks, pieces_.back().period});
}

const TestClock::Piece& TestClock::PieceOf(uint64_t edge) const {
  return *std::prev(std::ranges::upper_bound(pieces_, edge, {}, &Piece::edge));
}

Subticks TestClock::OnLine(uint64_t edge) const {
  const Piece& piece = PieceOf(edge);
  return piece.start + Subticks(edge - piece.edge) * piece.period;
}

Subticks TestClock::Wander(uint64_t edge) const {
  if (options_.wander == 0) return 0;
  const auto half = static_cast<uint64_t>(options_.wander_edges);
  const uint64_t phase = edge % (2 * half);
  const uint64_t up = phase < half ? phase : 2 * half - phase;
  return Subticks(2 * options_.wander) * up / half - options_.wander;
}

int64_t TestClock::WanderOfPeriod() const {
  return options_.wander == 0 ? 0 : 2 * options_.wander / options_.wander_edges + 2;
}

Subticks TestClock::At(uint64_t edge) const { return OnLine(edge) + Wander(edge); }

uint64_t TestClock::FirstEdgeFrom(Subticks instant) const {
  uint64_t first = 0, last = uint64_t{1} << 50;
  while (first < last) {
    const uint64_t middle = first + (last - first) / 2;
    if (At(middle) >= instant) {
      last = middle;
    } else {
      first = middle + 1;
    }
  }
  return last;
}

bool TestClock::ChangedBetween(uint64_t from, uint64_t to) const {
  return std::ranges::any_of(pieces_, [&](const Piece& piece) { return from < piece.edge && piece.edge <= to; });
}

uint64_t TestClock::PeriodShortest() const {
  const int64_t shortest = std::ranges::min(pieces_, {}, &Piece::period).period - WanderOfPeriod();
  return static_cast<uint64_t>(shortest / kSubticks);
}

uint64_t TestClock::PeriodLongest() const {
  const int64_t longest = std::ranges::max(pieces_, {}, &Piece::period).period + WanderOfPeriod();
  return static_cast<uint64_t>(longest / kSubticks + 1);
}

ClockCase DrawCase(const CaseOptions& options, uint64_t seed) {
  Draws draws(seed);
  const int64_t edges_apart = draws.From(20, 100'000);
  TestClock clock = DrawClock(options.kind, edges_apart * options.packets, draws);
  const Wire wire{draws.From(0, 20 * kTicksPerCycle), draws.From(20 * kTicksPerCycle, 50 * kTicksPerCycle),
                  draws.From(0, 3)};
  ClockCase drawn{options.kind, LimitsOf(options.kind, clock, clock.options(), wire), clock, {}};
  // All of a case's triggers have numbers, those of other domains, too.
  uint64_t trigger = 0, newest = 0;
  bool missed_change = false;
  const int64_t nominal = clock.options().period;
  for (Subticks sent = draws.From(0, edges_apart) * nominal; std::ssize(drawn.packets) < options.packets;
       sent += draws.From(1, 2 * edges_apart) * nominal + draws.From(0, kCycle)) {
    trigger += static_cast<uint64_t>(draws.From(1, 3));
    const Subticks arrives = sent + Subticks(draws.From(wire.shortest, wire.longest)) * kSubticks;
    const uint64_t edge = clock.FirstEdgeFrom(arrives) + static_cast<uint64_t>(wire.sync_edges);
    const bool coalesced = trigger > 1 && edge <= newest;
    if (coalesced) continue;
    missed_change = missed_change || clock.ChangedBetween(newest, edge);
    newest = edge;
    if (draws.Percent(options.lost_percent)) continue;
    ClockPacket packet{
        .trigger = trigger, .reference = Instant::OfCycles(static_cast<uint64_t>(sent / kCycle)), .edge = edge};
    packet.changed = drawn.limits.announces && missed_change;
    missed_change = false;
    if (drawn.limits.period_longest == 0) {
      packet.arrival = Instant(clock.At(edge) / kSubticks + 1 + draws.From(0, 20 * kTicksPerCycle));
    }
    drawn.packets.push_back(packet);
  }
  return drawn;
}

}  // namespace sideband::clocks
