// SPDX-License-Identifier: Apache-2.0
//
// Experiment R8 of docs/experiments/rotation.md: ten events of a bursty program on four counters, by this pipeline and
// by turns and scaling as perf does them, on the same wires.
//   bazel run -c opt //tests/lab/experiments:bursty
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "proto/base/errors.h"
#include "secure_mcu/chip/chip.h"
#include "secure_mcu/chip/rotation_plan.h"
#include "sim/workload/synthetic_slice.h"
#include "sim/workload/workload.h"
#include "tests/lab/experiments/plot_data.h"

namespace sideband::mcu {
namespace {

constexpr uint64_t kHz = 100'000'000;
constexpr uint32_t kEvents = 10, kCounters = 4, kSeeds = 20;
constexpr uint64_t kMillisecond = kHz / 1000;

sim::Workload Work(uint64_t seed) {
  const auto bursts = [](uint64_t low, uint64_t high) { return sim::BurstSpec{.on = {low, high}, .off = {low, high}}; };
  sim::Workload::Options options{
      .phases = {{sim::PhaseKind::kUpdate, 23 * kMillisecond, bursts(kHz / 50'000, kMillisecond)},
                 {sim::PhaseKind::kAttention, 7 * kMillisecond},
                 {sim::PhaseKind::kGemm, 11 * kMillisecond, bursts(kMillisecond, 6 * kMillisecond)}},
      .seed = seed,
      .wire_events = {},
      .vary_per_mille = 200};
  for (uint32_t event = 0; event < kEvents; ++event) options.wire_events.push_back("event" + std::to_string(event));
  return *sim::Workload::Create(options);
}

PipelineConfig Config(uint64_t slot, uint64_t seed) {
  PipelineConfig config{.slices = 1, .events = kEvents};
  config.clock_hz = kHz;
  UlcSpec unit{.name = "core", .inputs = {}, .counters = kCounters};
  for (uint16_t event = 0; event < kEvents; ++event) unit.inputs.push_back({.wire = event, .meaning = {event, 0}});
  config.ccus = {{.name = "slice0.ccu0", .channel = 0, .ulcs = {unit}}};
  config.rotation.emplace();
  config.rotation->settings = {.stable_slot = slot, .fluctuating_slot = slot, .adapt = false};
  config.rotation->seed = seed;
  return config;
}

struct Errors {
  std::vector<double> distances;
  size_t within = 0, bounded = 0;

  double Mean() const {
    return std::accumulate(distances.begin(), distances.end(), 0.0) / static_cast<double>(distances.size());
  }
  double Most() const { return *std::ranges::max_element(distances); }
};

void AddOurs(uint64_t cycles, uint64_t slot, uint64_t seed, Errors& errors) {
  const sim::Workload work = Work(seed);
  const sim::SteadyWorkload wires(work);
  const auto chip = *Chip::Create(Config(slot, seed));
  const BlockId vm = chip->memory().Create(1, mailbox::kNoContext), context = chip->memory().Create(1, 0);
  chip->Attach(0, wires);
  chip->Attach(kDeviceChannel, wires);
  chip->SwitchTo(0, Binding{vm, context});
  chip->AdvanceTo(cycles);
  chip->SwitchTo(0, std::nullopt);
  chip->Latch();
  const mailbox::BlockRotation numbers = chip->rotation().NumbersOf(context);
  for (uint16_t event = 0; event < kEvents; ++event) {
    const double truth = static_cast<double>(work.CumulativeCount(event, cycles));
    const double estimate = static_cast<double>(numbers.events[event].estimate);
    errors.distances.push_back(std::abs(estimate - truth) / truth);
    errors.within += std::abs(estimate - truth) <= 1.96 * static_cast<double>(numbers.events[event].deviation);
    errors.bounded += static_cast<double>(chip->memory().counters(context)[event]) <= truth &&
                      truth <= static_cast<double>(numbers.events[event].upper);
  }
}

// Sets of four, four and two events in turn, as long as the kernel's timer says; scaled by enabled over running.
void AddPerf(uint64_t cycles, uint64_t slot, uint64_t seed, Errors& errors) {
  const sim::Workload work = Work(seed);
  const uint64_t sets = (kEvents + kCounters - 1) / kCounters;
  for (uint16_t event = 0; event < kEvents; ++event) {
    uint64_t count = 0, running = 0;
    for (uint64_t begin = event / kCounters * slot; begin < cycles; begin += sets * slot) {
      const uint64_t end = std::min(cycles, begin + slot);
      count += work.CumulativeCount(event, end) - work.CumulativeCount(event, begin);
      running += end - begin;
    }
    if (running == 0) continue;
    const double truth = static_cast<double>(work.CumulativeCount(event, cycles));
    const double estimate = static_cast<double>(count) * static_cast<double>(cycles) / static_cast<double>(running);
    errors.distances.push_back(std::abs(estimate - truth) / truth);
  }
}

struct BothErrors {
  Errors ours, perf;
};

BothErrors Measure(uint64_t milliseconds, uint64_t microseconds) {
  const uint64_t cycles = milliseconds * kMillisecond, slot = microseconds * kHz / 1'000'000;
  BothErrors errors;
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    AddOurs(cycles, slot, seed, errors.ours);
    AddPerf(cycles, slot, seed, errors.perf);
  }
  return errors;
}

void Print(uint64_t milliseconds, uint64_t microseconds, const BothErrors& errors) {
  const double rows = static_cast<double>(errors.ours.distances.size()) / 100;
  const auto run = static_cast<unsigned long long>(milliseconds), slot = static_cast<unsigned long long>(microseconds);
  std::printf("%5llu ms %5llu us %-8s %8.2f %% %8.1f %% %8.1f %% %8.1f %%\n", run, slot, "ours",
              100 * errors.ours.Mean(), 100 * errors.ours.Most(), static_cast<double>(errors.ours.within) / rows,
              static_cast<double>(errors.ours.bounded) / rows);
  std::printf("%5llu ms %5llu us %-8s %8.2f %% %8.1f %%\n", run, slot, "perf's", 100 * errors.perf.Mean(),
              100 * errors.perf.Most());
}

absl::Status Run(const std::string& folder) {
  std::printf("%-8s %-8s %-8s %10s %10s %10s %10s\n", "run", "turns", "", "mean", "worst", "intervals", "bounds");
  rotation::PlotData data;
  for (const uint64_t microseconds : {100, 4000}) {
    data.Begin(std::to_string(microseconds) + " us");
    for (const uint64_t milliseconds : {30, 100, 1000, 10'000}) {
      const BothErrors errors = Measure(milliseconds, microseconds);
      Print(milliseconds, microseconds, errors);
      data.AddRow("%d %g %g", milliseconds, 100 * errors.ours.Mean(), 100 * errors.perf.Mean());
    }
  }
  return data.Write(folder, "rotation_bursts");
}

}  // namespace
}  // namespace sideband::mcu

int main(int argc, char** argv) {
  CLI::App app("R8: ten events of a bursty program on four counters, beside perf's way.");
  std::string folder;
  app.add_option("--curves", folder, "write data for gnuplot to this folder");
  CLI11_PARSE(app, argc, argv);
  return sideband::ReportAndExitCode("bursty", sideband::mcu::Run(folder));
}
