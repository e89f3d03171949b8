// SPDX-License-Identifier: Apache-2.0
//
// Experiments E6 and E7 of clocks.md: how accurate the fit is, and other ways beside it. Prints Markdown; README.md.
// Clocks are steady, wander, step or stop; the trigger takes a drawn time to them.
//   fit [--curves FOLDER]
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "proto/base/file.h"
#include "proto/clocks/clock_limits.h"
#include "proto/clocks/clock_strip.h"
#include "proto/clocks/test_clock.h"
#include "tests/lab/bench/measurement.h"
#include "tests/lab/bench/rivals.h"

namespace sideband::experiments {
namespace {

using clocks::ClockBound;
using clocks::ClockLimits;
using clocks::ClockPacket;
using clocks::ClockStrip;
using clocks::Instant;
using clocks::kSubticks;
using clocks::kTicksPerCycle;
using clocks::Subticks;
using clocks::TestClock;

// --- Clocks, and the packets of their monitors ---

constexpr int64_t kNanosecond = kTicksPerCycle * kSubticks;
constexpr int64_t kTriggerPeriodNs = 1'000'000, kWireNs = 50, kPpm = 50, kSyncEdges = 2;
constexpr int64_t kWanderNs = 5, kWanderHalfNs = 10'000'000'000, kStopNs = 20'000'000;
constexpr int kChanges = 3;

enum class Behaviour : uint8_t { kSteady, kWanders, kSteps, kStops };
constexpr Behaviour kBehaviours[] = {Behaviour::kSteady, Behaviour::kWanders, Behaviour::kSteps, Behaviour::kStops};

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

enum class Delays : uint8_t { kUniform, kOneSided };

// The reference clock has 1 GHz, so that its cycles are nanoseconds; a trigger is sent each millisecond.
struct WorldOptions {
  int64_t hertz = 1'000'000'000;
  Behaviour behaviour = Behaviour::kSteady;
  Delays delays = Delays::kUniform;  // of 0 to 50 ns; one-sided: mostly below 5
  int packets = 1000;
  bool announces = true;
};

struct Trigger {
  ClockPacket packet;
  Sample sample;  // the same for rivals
};

struct World {
  ClockLimits limits;
  TestClock clock;
  double nominal_period_ns = 0;
  uint64_t first_edge = 0;  // samples are relative to it
  Instant first_reference;
  std::vector<Trigger> triggers;

  // On the samples' axis.
  double NanosecondsOf(Instant instant) const {
    return static_cast<double>(instant - first_reference) / kTicksPerCycle;
  }
  double TrueNanoseconds(uint64_t edge) const {
    return static_cast<double>(clock.At(edge) - first_reference.ticks() * kSubticks) / kNanosecond;
  }
};

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

// Off the nominal frequency by 50 ppm at most, and only that is declared of steady clocks. A clock that wanders does so
// by 5 ns in 20 s; one that steps does so three times, by a quarter or less; one that stops, three times for 20 ms.
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

// --- E6: accuracy ---

constexpr int64_t kMegahertz[] = {100, 250, 500, 800, 1000, 1250, 1500, 2000};
constexpr int kRuns = 10, kPackets = 1000, kChecks = 20;
constexpr size_t kSettled = 100;

double WidthNs(const clocks::InstantRange& range) {
  return static_cast<double>(range.width()) / static_cast<double>(clocks::kTicksPerCycle);
}

ClockStrip EmptyStrip(const World& world) { return *ClockStrip::Create(world.limits, {}); }

void Add(ClockStrip& strip, const Trigger& trigger) {
  if (const auto result = strip.Add(trigger.packet); !result.ok()) {
    std::fprintf(stderr, "fit: %s\n", result.status().ToString().c_str());
  }
}

// E6: a width over that of a single bar, of all runs.
struct Ratio {
  double sum = 0, worst = 0;
  int runs = 0;

  void Take(double ratio) {
    sum += ratio;
    worst = std::max(worst, ratio);
    ++runs;
  }
  std::string Text() const { return absl::StrFormat("%.3f (%.3f)", sum / std::max(runs, 1), worst); }
};

struct Accuracy {
  uint64_t checks = 0, outside = 0;
  Ratio newest_100, newest_1000, middle;
  double bar_ns = 0;
  size_t vertices = 0;  // of one hull
};

void CheckContainment(const World& world, const ClockStrip& strip, std::mt19937_64& draws, Accuracy& accuracy) {
  for (int i = 0; i < kChecks; ++i) {
    const uint64_t edge = draws() % (*strip.newest_edge() + 1000);
    ++accuracy.checks;
    accuracy.outside += clocks::Contains(strip.BoundAt(edge).range, world.clock.At(edge)) ? 0 : 1;
  }
}

void AddRun(const WorldOptions& options, uint64_t seed, Accuracy& accuracy) {
  const World world = DrawWorld(options, seed);
  ClockStrip strip = EmptyStrip(world);
  std::mt19937_64 draws(seed);
  const double bar = 2 * world.triggers.front().sample.half_bar;
  accuracy.bar_ns = std::max(accuracy.bar_ns, bar);
  size_t packets = 0;
  for (const Trigger& trigger : world.triggers) {
    Add(strip, trigger);
    CheckContainment(world, strip, draws, accuracy);
    const auto hulls = strip.Hulls();
    accuracy.vertices = std::max({accuracy.vertices, hulls->upper.size(), hulls->negated_lower.size()});
    const double newest = WidthNs(strip.BoundAt(trigger.packet.edge).range) / bar;
    if (++packets == 100) accuracy.newest_100.Take(newest);
    if (packets == 1000) accuracy.newest_1000.Take(newest);
  }
  const uint64_t first = strip.Hulls()->edge;
  const uint64_t middle = first + (*strip.newest_edge() - first) / 2;
  accuracy.middle.Take(WidthNs(strip.BoundAt(middle).range) / bar);
}

void PrintAccuracy() {
  std::puts("E6: the bound over a single bar, the mean (worst) of 10 runs of 1000 packets\n");
  std::puts(
      "| clock | MHz | bar, ns | newest of 100 | newest of 1000 | middle of the newest segment | vertices | edges "
      "outside |");
  std::puts("|---|---|---|---|---|---|---|---|");
  for (const Behaviour behaviour : kBehaviours) {
    for (const int64_t megahertz : kMegahertz) {
      Accuracy accuracy;
      for (int run = 0; run < kRuns; ++run) {
        AddRun({.hertz = megahertz * 1'000'000, .behaviour = behaviour, .packets = kPackets},
               static_cast<uint64_t>(run) * 1000 + static_cast<uint64_t>(megahertz), accuracy);
      }
      std::puts(absl::StrFormat("| %s | %d | %.1f | %s | %s | %s | %d | %d of %d |", NameOf(behaviour), megahertz,
                                accuracy.bar_ns, accuracy.newest_100.Text(), accuracy.newest_1000.Text(),
                                accuracy.middle.Text(), accuracy.vertices, accuracy.outside, accuracy.checks)
                    .c_str());
    }
  }
}

// --- E7: other ways ---

// The errors of one way, at edges between the newest two packets.
struct Score {
  double worst_error = 0, error_sum = 0, claim_sum = 0;
  uint64_t estimates = 0, outside = 0;

  void Take(const Estimate& estimate, double truth) {
    const double error = std::abs(estimate.ns - truth);
    worst_error = std::max(worst_error, error);
    error_sum += error;
    claim_sum += estimate.claim;
    ++estimates;
    outside += error > estimate.claim ? 1 : 0;
  }
};

Estimate MiddleOf(const World& world, const ClockBound& bound) {
  return {world.NanosecondsOf(bound.range.middle()), WidthNs(bound.range) / 2 + 1e-3};
}

// The scores of ours, and of each rival.
using Scores = std::vector<Score>;

void AddRun(const WorldOptions& options, uint64_t seed, Scores& scores) {
  const World world = DrawWorld(options, seed);
  ClockStrip strip = EmptyStrip(world);
  const auto rivals = AllRivals(world.nominal_period_ns);
  scores.resize(1 + rivals.size());
  std::mt19937_64 draws(seed);
  for (size_t i = 0; i < world.triggers.size(); ++i) {
    Add(strip, world.triggers[i]);
    for (const auto& rival : rivals) rival->Add(world.triggers[i].sample);
    if (i < kSettled) continue;
    const uint64_t before = world.triggers[i - 1].packet.edge, newest = world.triggers[i].packet.edge;
    const uint64_t edge = before + draws() % (newest - before) + 1;
    const double truth = world.TrueNanoseconds(edge), relative = static_cast<double>(edge - world.first_edge);
    scores[0].Take(MiddleOf(world, strip.BoundAt(edge)), truth);
    for (size_t r = 0; r < rivals.size(); ++r) scores[r + 1].Take(rivals[r]->At(relative), truth);
  }
}

struct Scenario {
  const char* name;
  WorldOptions options;
};

constexpr Scenario kScenarios[] = {
    {"steady, uniform delays", {.packets = kPackets}},
    {"steady, one-sided delays", {.delays = Delays::kOneSided, .packets = kPackets}},
    {"wanders", {.behaviour = Behaviour::kWanders, .packets = kPackets}},
    {"steps, announced", {.behaviour = Behaviour::kSteps, .packets = kPackets}},
    {"steps, silent", {.behaviour = Behaviour::kSteps, .packets = kPackets, .announces = false}},
    {"stops", {.behaviour = Behaviour::kStops, .packets = kPackets}},
};

void PrintRivals() {
  std::puts("\nE7: edges between the newest two packets, 10 runs of 8 clocks, after 100 packets\n");
  std::puts("| clock | method | worst error, ns | mean error, ns | mean claim, ns | truths outside the claim |");
  std::puts("|---|---|---|---|---|---|");
  for (const Scenario& scenario : kScenarios) {
    Scores scores;
    for (const int64_t megahertz : kMegahertz) {
      WorldOptions options = scenario.options;
      options.hertz = megahertz * 1'000'000;
      for (uint64_t run = 0; run < kRuns; ++run) AddRun(options, run * 1000 + static_cast<uint64_t>(megahertz), scores);
    }
    const auto rivals = AllRivals(1);
    for (size_t i = 0; i < scores.size(); ++i) {
      const Score& score = scores[i];
      const auto estimates = static_cast<double>(score.estimates);
      std::printf("| %s | %s | %.2f | %.2f | %.2f | %.2f %% |\n", scenario.name,
                  i == 0 ? "ClockStrip" : rivals[i - 1]->name().c_str(), score.worst_error, score.error_sum / estimates,
                  score.claim_sum / estimates, 100 * static_cast<double>(score.outside) / estimates);
    }
  }
}

// Curves over the packets of one segment: the half-width at the newest packet, and the errors of both ways; and the
// half-width at each packet once all are there.
std::vector<bench::Curve> Narrowing() {
  const World world = DrawWorld({.hertz = 1'250'000'000, .packets = kPackets}, 7);
  ClockStrip strip = EmptyStrip(world);
  LeastSquares squares;
  bench::Curve bound{"bound at the newest packet", {}}, ours{"error of its middle", {}},
      theirs{"error of least squares there", {}}, final_bound{"bound at each packet, in the end", {}};
  for (const Trigger& trigger : world.triggers) {
    Add(strip, trigger);
    squares.Add(trigger.sample);
    const double packets = static_cast<double>(bound.points.size() + 1),
                 truth = world.TrueNanoseconds(trigger.packet.edge);
    const Estimate middle = MiddleOf(world, strip.BoundAt(trigger.packet.edge));
    bound.points.push_back({packets, middle.claim});
    ours.points.push_back({packets, std::abs(middle.ns - truth)});
    theirs.points.push_back({packets, std::abs(squares.At(trigger.sample.edge).ns - truth)});
  }
  for (const Trigger& trigger : world.triggers) {
    const Estimate middle = MiddleOf(world, strip.BoundAt(trigger.packet.edge));
    final_bound.points.push_back({static_cast<double>(final_bound.points.size() + 1), middle.claim});
  }
  return {bound, ours, theirs, final_bound};
}

absl::Status WriteCurves(const std::string& folder) {
  if (folder.empty()) return absl::OkStatus();
  const std::string path = absl::StrCat(folder, "/clock_fit.data");
  std::ofstream file(path);
  file << bench::GnuplotData(Narrowing()) << std::flush;
  return file ? absl::OkStatus() : ErrnoStatus(errno, path);
}

}  // namespace
}  // namespace sideband::experiments

int main(int argc, char** argv) {
  CLI::App app("Accuracy of the fit of clocks, and of other ways.");
  std::string curves;
  app.add_option("--curves", curves, "write curves to this folder, as data for gnuplot");
  CLI11_PARSE(app, argc, argv);
  sideband::experiments::PrintAccuracy();
  sideband::experiments::PrintRivals();
  const absl::Status status = sideband::experiments::WriteCurves(curves);
  if (!status.ok()) std::fprintf(stderr, "fit: %s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}
