// SPDX-License-Identifier: Apache-2.0
//
// Experiments R1 to R4 of docs/experiments/rotation.md: a synthetic k-means whose 234 events have four counters beside
// two that are always counted, as in the published method.
//   bazel run -c opt //tests/lab/experiments:kmeans
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "proto/base/errors.h"
#include "secure_mcu/chip/chip.h"
#include "secure_mcu/chip/rotation_plan.h"
#include "sim/workload/synthetic_slice.h"
#include "sim/workload/workload.h"
#include "tests/lab/experiments/plot_data.h"
#include "tests/lab/experiments/series_distance.h"

namespace sideband::mcu {
namespace {

constexpr uint64_t kHz = 10'000'000;  // cycles are counted in closed form: a slower clock changes costs alone
constexpr uint32_t kEvents = 236, kCounters = 6;
constexpr uint16_t kCycles = 0, kInstructions = 1;
constexpr int kIterations = 10;

uint64_t Seconds(double seconds) { return static_cast<uint64_t>(seconds * static_cast<double>(kHz)); }

// Seconds of the phases: a run is load, and ten times assign and update. They vary by 2 %.
struct KMeans {
  double load, assign, update;
  double iteration() const { return assign + update; }
};
constexpr KMeans kLong{20, 30, 10};  // 420 s
constexpr KMeans kShort{5, 4, 1.5};  // 60 s

std::vector<sim::PhaseSpec> PhasesOf(const KMeans& program) {
  const sim::BurstSpec bursts{.on = {Seconds(0.3), Seconds(2)}, .off = {Seconds(0.3), Seconds(2)}};
  std::vector<sim::PhaseSpec> phases = {{sim::PhaseKind::kLoad, Seconds(program.load)}};
  for (int i = 0; i < kIterations; ++i) {
    phases.push_back({sim::PhaseKind::kAssign, Seconds(program.assign)});
    phases.push_back({sim::PhaseKind::kUpdate, Seconds(program.update), bursts});
  }
  return phases;
}

std::string EventName(uint32_t event) {
  return event == kInstructions ? "instructions_issued_cycles" : "event" + std::to_string(event) + "_cycles";
}

sim::Workload Work(const std::vector<sim::PhaseSpec>& phases) {
  sim::Workload::Options options{.phases = phases, .seed = 7, .wire_events = {}, .vary_per_mille = 20};
  for (uint32_t event = 0; event < kEvents; ++event) options.wire_events.push_back(EventName(event));
  return *sim::Workload::Create(options);
}

PipelineConfig Config(const mailbox::RotationSettings& settings) {
  PipelineConfig config{.slices = 1, .events = kEvents};
  config.clock_hz = kHz;
  UlcSpec unit{.name = "core", .inputs = {}, .counters = kCounters};
  for (uint16_t event = 0; event < kEvents; ++event) unit.inputs.push_back({.wire = event, .meaning = {event, 0}});
  config.ccus = {{.name = "slice0.ccu0", .channel = 0, .ulcs = {unit}}};
  config.rotation.emplace();
  config.rotation->settings = settings;
  config.rotation->fixed = mailbox::EmptySet(kEvents);
  mailbox::Insert(kCycles, config.rotation->fixed);
  mailbox::Insert(kInstructions, config.rotation->fixed);
  config.rotation->instructions = kInstructions;
  config.rotation->seed = 1;
  return config;
}

mailbox::RotationSettings TwoSet(double stable, double fluctuating) {
  return {.profile = mailbox::RotationProfile::kTwoSet,
          .stable_slot = Seconds(stable),
          .fluctuating_slot = Seconds(fluctuating),
          .interval = Seconds(0.5),
          .sets_per_pass = 2,
          .adapt = false};
}

// A run's estimate of an event, and its truth.
struct Row {
  uint16_t event;
  double estimate, truth;
  std::optional<double> series;  // the distance of its counts in each 0.5 s
  double Distance() const { return std::abs(estimate - truth) / truth; }
};

// An event's counts in each 0.5 s of a run.
struct Series {
  std::vector<double> estimates, truths;
};

struct RunResult {
  std::vector<Row> rows;         // of what had a turn
  uint64_t cycles = 0;           // of the run, and of its slot ends
  uint64_t switches = 0;         // slot ends
  uint64_t stable_switches = 0;  // in load and assign
};

std::vector<double> Increments(std::vector<double> totals) {
  std::adjacent_difference(totals.begin(), totals.end(), totals.begin());
  return totals;
}

// Runs of one program, one after the other.
class Program {
 public:
  Program(const KMeans& kmeans, const mailbox::RotationSettings& settings)
      : kmeans_(kmeans), work_(Work(PhasesOf(kmeans))), wires_(work_), chip_(*Chip::Create(Config(settings))) {
    vm_ = chip_->memory().Create(1, mailbox::kNoContext);
    context_ = chip_->memory().Create(1, 0);
    chip_->Attach(0, wires_);
    chip_->Attach(kDeviceChannel, wires_);
  }

  size_t sets() const { return chip_->rotation().turns().plans()[0].counters.sets.size(); }

  RunResult Run() {
    if (begin_ > 0) {
      chip_->memory().Retire(context_);
      chip_->memory().Renew(context_);
    }
    const uint64_t switches = chip_->stats().slot_ends, slot_cycles = chip_->stats().slot_cycles;
    const uint64_t end = EndOfRun();
    series_.assign(kEvents, {});
    RunResult result;
    chip_->SwitchTo(0, Binding{vm_, context_});
    for (uint64_t cycle = begin_; cycle < end; cycle += Seconds(0.5))
      PlayInterval(std::min(end, cycle + Seconds(0.5)), result);
    chip_->SwitchTo(0, std::nullopt);
    chip_->Latch();
    result.switches = chip_->stats().slot_ends - switches;
    result.cycles = end - begin_ + chip_->stats().slot_cycles - slot_cycles;
    AddRows(end, result);
    begin_ = end;
    return result;
  }

 private:
  // The mean run: phases vary, and so does where in them a run begins.
  uint64_t EndOfRun() const { return begin_ + work_.turn_cycles() / sim::Workload::kTurns; }

  void PlayInterval(uint64_t end, RunResult& result) {
    const uint64_t before = chip_->stats().slot_ends;
    chip_->AdvanceTo(end);
    if (IsStable(end)) result.stable_switches += chip_->stats().slot_ends - before;
    AddToSeries(end);
  }

  void AddToSeries(uint64_t end) {
    chip_->Latch();
    const mailbox::BlockRotation numbers = chip_->rotation().NumbersOf(context_);
    for (size_t i = 0; i < numbers.events.size(); ++i) {
      const uint16_t event = chip_->rotation().turns().events()[i];
      series_[event].estimates.push_back(static_cast<double>(numbers.events[i].estimate));
      series_[event].truths.push_back(static_cast<double>(TruthOf(event, end)));
    }
  }

  uint64_t TruthOf(uint16_t event, uint64_t end) const {
    return work_.CumulativeCount(event, end) - work_.CumulativeCount(event, begin_);
  }

  std::optional<double> SeriesDistanceOf(uint16_t event) const {
    return SeriesDistance(Increments(series_[event].estimates), Increments(series_[event].truths));
  }

  // Roughly: phases vary by 2 %.
  bool IsStable(uint64_t cycle) const {
    const uint64_t in_run = cycle - begin_;
    if (in_run < Seconds(kmeans_.load)) return true;
    return (in_run - Seconds(kmeans_.load)) % Seconds(kmeans_.iteration()) < Seconds(kmeans_.assign);
  }

  void AddRows(uint64_t end, RunResult& result) const {
    const mailbox::BlockRotation numbers = chip_->rotation().NumbersOf(context_);
    const auto& plan = chip_->rotation().turns().plans()[0].counters;
    for (size_t i = 0; i < numbers.events.size(); ++i) {
      const uint16_t event = chip_->rotation().turns().events()[i];
      uint64_t running = 0;
      for (size_t set = 0; set < plan.sets.size(); ++set) {
        if (mailbox::Includes(plan.sets[set], event)) running += numbers.parts[0].running[set];
      }
      const uint64_t truth = TruthOf(event, end);
      if (running == 0 || truth < 100) continue;
      result.rows.push_back({event, static_cast<double>(numbers.events[i].estimate), static_cast<double>(truth),
                             SeriesDistanceOf(event)});
    }
  }

  const KMeans kmeans_;
  const sim::Workload work_;
  const sim::SteadyWorkload wires_;
  const std::unique_ptr<Chip> chip_;
  BlockId vm_ = 0, context_ = 0;
  uint64_t begin_ = 0;
  std::vector<Series> series_;  // by event
};

struct Quality {
  size_t events;
  double share, median, series;
};

double Median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  return values[values.size() / 2];
}

std::vector<double> SortedDistances(const std::vector<Row>& rows) {
  std::vector<double> distances;
  for (const Row& row : rows) distances.push_back(row.Distance());
  std::ranges::sort(distances);
  return distances;
}

Quality QualityOf(const std::vector<Row>& rows) {
  const std::vector<double> distances = SortedDistances(rows);
  const auto near = std::ranges::count_if(distances, [](double distance) { return distance < 0.1; });
  std::vector<double> series;
  for (const Row& row : rows) {
    if (row.series) series.push_back(*row.series);
  }
  return {distances.size(), static_cast<double>(near) / static_cast<double>(distances.size()), Median(distances),
          Median(series)};
}

struct Campaign {
  int runs = 0;
  uint64_t cycles = 0, switches = 0, stable_switches = 0;
  std::vector<Row> rows;  // the last of each event
};

// Runs until every event had a turn.
Campaign RunAll(const KMeans& kmeans, const mailbox::RotationSettings& settings) {
  Program program(kmeans, settings);
  Campaign campaign;
  std::vector<std::optional<Row>> known(kEvents);
  while (std::ranges::count_if(known, [](const auto& row) { return row.has_value(); }) < kEvents - 2) {
    const RunResult run = program.Run();
    ++campaign.runs;
    campaign.cycles += run.cycles;
    // The first run of two-set only looks.
    if (settings.profile == mailbox::RotationProfile::kFast || campaign.runs > 1) {
      campaign.switches += run.switches;
      campaign.stable_switches += run.stable_switches;
    }
    for (const Row& row : run.rows) known[row.event] = row;
  }
  for (const auto& row : known) {
    if (row) campaign.rows.push_back(*row);
  }
  return campaign;
}

double TimesLess(const Campaign& campaign, const Campaign& traditional) {
  return static_cast<double>(traditional.cycles) / static_cast<double>(campaign.cycles);
}

void Print(const std::string& name, const Campaign& campaign, const Campaign& traditional) {
  const Quality quality = QualityOf(campaign.rows);
  std::printf(
      "%-28s %4d runs  %9.1f s  %6.2f x  %5.1f %% of %zu events d < 0.1, median %.2f %%, "
      "series %.3f, %llu slots, %llu stable\n",
      name.c_str(), campaign.runs, static_cast<double>(campaign.cycles) / static_cast<double>(kHz),
      TimesLess(campaign, traditional), 100 * quality.share, quality.events, 100 * quality.median, quality.series,
      static_cast<unsigned long long>(campaign.switches), static_cast<unsigned long long>(campaign.stable_switches));
}

mailbox::RotationSettings Fast(double slot, bool adapt) {
  return {.stable_slot = Seconds(slot), .fluctuating_slot = Seconds(slot), .interval = Seconds(0.5), .adapt = adapt};
}

struct NamedCampaign {
  std::string name;
  Campaign campaign;
};

// The first is the traditional one: one set in each generation.
std::vector<NamedCampaign> Compare(const char* name, const KMeans& kmeans) {
  mailbox::RotationSettings one = TwoSet(8, 4);
  one.sets_per_pass = 1;
  const std::vector<std::pair<std::string, mailbox::RotationSettings>> profiles = {
      {"traditional", one},
      {"two-set, 8 s and 4 s", TwoSet(8, 4)},
      {"two-set, 4 s and 4 s", TwoSet(4, 4)},
      {"fast, 1 ms", Fast(0.001, false)},
      {"fast, 1 ms, adaptive", Fast(0.001, true)}};
  std::printf("%s\n", name);
  std::vector<NamedCampaign> campaigns;
  for (const auto& [profile, settings] : profiles) {
    campaigns.push_back({profile, RunAll(kmeans, settings)});
    Print(profile, campaigns.back().campaign, campaigns.front().campaign);
  }
  return campaigns;
}

// R1, R2 and R4.
void AddRuns(const std::vector<NamedCampaign>& campaigns, rotation::PlotData& data) {
  for (const auto& [name, campaign] : campaigns) {
    data.AddRow("\"%s\" %d %g %d %g", name, campaign.runs, TimesLess(campaign, campaigns.front().campaign),
                campaign.stable_switches, 100 * QualityOf(campaign.rows).share);
  }
}

// R3: the part of the events whose distance is at most so much, both in percent.
void AddDistances(const std::string& length, const std::vector<NamedCampaign>& campaigns, rotation::PlotData& data) {
  for (const auto& [name, campaign] : campaigns) {
    data.Begin(length + ": " + name);
    const std::vector<double> distances = SortedDistances(campaign.rows);
    for (size_t i = 0; i < distances.size(); ++i) {
      data.AddRow("%g %g", 100 * distances[i],
                  100 * static_cast<double>(i + 1) / static_cast<double>(distances.size()));
    }
  }
}

absl::Status Run(const std::string& folder) {
  const std::vector<NamedCampaign> of_long = Compare("420 s a run", kLong), of_short = Compare("60 s a run", kShort);
  rotation::PlotData runs, distances;
  runs.Begin("420 s");
  AddRuns(of_long, runs);
  AddDistances("420 s", of_long, distances);
  AddDistances("60 s", of_short, distances);
  const absl::Status written = runs.Write(folder, "rotation_runs");
  return written.ok() ? distances.Write(folder, "rotation_distances") : written;
}

}  // namespace
}  // namespace sideband::mcu

int main(int argc, char** argv) {
  CLI::App app("R1 to R4: events of a synthetic k-means by the published method, and all in one run.");
  std::string folder;
  app.add_option("--curves", folder, "write data for gnuplot to this folder");
  CLI11_PARSE(app, argc, argv);
  return sideband::ReportAndExitCode("kmeans", sideband::mcu::Run(folder));
}
