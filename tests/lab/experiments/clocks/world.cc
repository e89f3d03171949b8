// SPDX-License-Identifier: Apache-2.0
#include "tests/lab/experiments/clocks/world.h"

#include <algorithm>
#include <iterator>
#include <random>

namespace sideband::experiments {
namespace {

using clocks::ClockLimits;
using clocks::ClockPacket;
using clocks::Instant;
using clocks::kSubticks;
using clocks::kTicksPerCycle;
using clocks::Subticks;
using clocks::TestClock;

constexpr int64_t kNanosecond = kTicksPerCycle * kSubticks;
constexpr int64_t kTriggerPeriodNs = 1'000'000, kWireNs = 50, kPpm = 50, kSyncEdges = 2;
constexpr int64_t kWanderNs = 5, kWanderHalfNs = 10'000'000'000, kStopNs = 20'000'000;
constexpr int kChanges = 3;

class Draws {
 public:
  explicit Draws(uint64_t seed) : engine_(seed) {}
  int64_t From(int64_t first, int64_t last) {
    return first + static_cast<int64_t>(engine_() % static_cast<uint64_t>(last - first + 1));
  }

 private:
  std::mt19937_64 engine_;
};

int64_t NominalPeriod(const WorldOptions& options) {
  return static_cast<int64_t>(Subticks(kNanosecond) * 1'000'000'000 / options.hertz);
}

int64_t OffNominal(int64_t period, Draws& draws) { return period + period / 1'000'000 * draws.From(-kPpm, kPpm); }

TestClock DrawClock(const WorldOptions& options, Draws& draws) {
  const int64_t nominal = NominalPeriod(options);
  TestClock::Options clock_options{.period = OffNominal(nominal, draws)};
  if (options.behaviour == Behaviour::kWanders) {
    clock_options.wander = kWanderNs * kNanosecond;
    clock_options.wander_edges = static_cast<int64_t>(Subticks(kWanderHalfNs) * kNanosecond / nominal);
  }
  TestClock clock(clock_options);
  const auto edges = static_cast<int64_t>(Subticks(options.packets) * kTriggerPeriodNs * kNanosecond / nominal);
  for (int change = 1; change <= kChanges; ++change) {
    const auto edge = static_cast<uint64_t>(edges / 4 * change + draws.From(0, edges / 10));
    if (options.behaviour == Behaviour::kStops) clock.Stop(edge, kStopNs * kNanosecond);
    if (options.behaviour == Behaviour::kSteps) {
      clock.Step(edge, OffNominal(nominal / 100 * draws.From(80, 125), draws));
    }
  }
  return clock;
}

// The period is declared with the steps, and without them no closer than 50 ppm.
ClockLimits Declare(const WorldOptions& options, const TestClock& clock) {
  const int64_t nominal = NominalPeriod(options) / kSubticks;
  const int64_t off = nominal * kPpm / 1'000'000 + 1;
  ClockLimits limits{
      .period_shortest = std::min(clock.PeriodShortest(), static_cast<uint64_t>(nominal - off)),
      .period_longest = std::max(clock.PeriodLongest(), static_cast<uint64_t>(nominal + off)),
      .wander = options.behaviour == Behaviour::kWanders ? static_cast<uint32_t>(kWanderNs * kTicksPerCycle) : 1,
      .announces = options.announces};
  limits.bar_low = kSyncEdges * static_cast<int64_t>(limits.period_shortest) - kTicksPerCycle;
  limits.bar_high = (kWireNs + 1) * kTicksPerCycle + (kSyncEdges + 1) * static_cast<int64_t>(limits.period_longest);
  if (options.behaviour == Behaviour::kStops) limits.period_longest = 0;
  return limits;
}

int64_t WirePicoseconds(Delays delays, Draws& draws) {
  const bool is_short = delays == Delays::kOneSided && draws.From(0, 99) < 95;
  return draws.From(0, (is_short ? 5 : kWireNs) * 1000);
}

ClockPacket Packet(const World& world, uint64_t trigger, Subticks sent, uint64_t edge, Draws& draws) {
  ClockPacket packet{.trigger = trigger, .reference = Instant(sent / kNanosecond * kTicksPerCycle), .edge = edge};
  if (world.limits.period_longest == 0) {
    // A router has it some cycles later.
    packet.arrival = Instant((world.clock.At(edge) / kNanosecond + 1 + draws.From(5, 30)) * kTicksPerCycle);
  }
  if (!world.triggers.empty() && world.limits.announces) {
    packet.changed = world.clock.ChangedBetween(world.triggers.back().packet.edge, edge);
  }
  return packet;
}

Sample SampleOf(const World& world, const ClockPacket& packet, Draws& draws) {
  const clocks::InstantRange bar = *clocks::BarOf(packet, world.limits);
  const double half = static_cast<double>(static_cast<int64_t>(bar.width())) / 2 / kTicksPerCycle;
  const double edge = static_cast<double>(packet.edge - world.first_edge);
  const double sent = world.NanosecondsOf(packet.reference);
  const double arrival = world.TrueNanoseconds(packet.edge) + static_cast<double>(draws.From(5, 30));
  return {edge, world.NanosecondsOf(bar.low) + half, half, sent, arrival - sent};
}

}  // namespace

const char* NameOf(Behaviour behaviour) {
  switch (behaviour) {
    case Behaviour::kSteady:
      return "steady";
    case Behaviour::kWanders:
      return "wanders";
    case Behaviour::kSteps:
      return "steps";
    case Behaviour::kStops:
      return "stops";
  }
  return "";
}

double World::NanosecondsOf(Instant instant) const {
  return static_cast<double>(instant - first_reference) / kTicksPerCycle;
}

double World::TrueNanoseconds(uint64_t edge) const {
  return static_cast<double>(clock.At(edge) - first_reference.ticks() * kSubticks) / kNanosecond;
}

World DrawWorld(const WorldOptions& options, uint64_t seed) {
  Draws draws(seed);
  TestClock clock = DrawClock(options, draws);
  World world{.limits = Declare(options, clock), .clock = clock};
  world.nominal_period_ns = static_cast<double>(NominalPeriod(options)) / kNanosecond;
  const Subticks start = Subticks(kTriggerPeriodNs) * kNanosecond;
  world.first_reference = Instant(start / kSubticks);
  for (uint64_t trigger = 1; std::ssize(world.triggers) < options.packets; ++trigger) {
    // A grid in reference cycles, whose phase to the local clock is arbitrary.
    const Subticks sent = start * trigger + draws.From(0, kNanosecond - 1);
    const Subticks arrives = sent + Subticks(WirePicoseconds(options.delays, draws)) * kNanosecond / 1000;
    const uint64_t edge = world.clock.FirstEdgeFrom(arrives) + kSyncEdges;
    if (world.triggers.empty()) world.first_edge = edge;
    // A clock that stands still coalesces triggers.
    if (!world.triggers.empty() && edge <= world.triggers.back().packet.edge) continue;
    const ClockPacket packet = Packet(world, trigger, sent, edge, draws);
    world.triggers.push_back({packet, SampleOf(world, packet, draws)});
  }
  return world;
}

}  // namespace sideband::experiments
