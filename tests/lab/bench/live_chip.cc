// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "proto/base/status_macros.h"
#include "secure_mcu/chip/chip.h"
#include "secure_mcu/chip/player.h"
#include "sim/workload/synthetic_slice.h"
#include "tests/lab/bench/benchmarks.h"
#include "tests/lab/bench/measurement.h"

namespace sideband::bench {
namespace {

constexpr uint32_t kSlices = 8;
constexpr uint32_t kCcusPerSlice = 8;
constexpr uint32_t kCountersPerSlice = kCcusPerSlice * mcu::kCcuUlcsMax * mcu::kUlcCountersMax;
constexpr uint32_t kLiveCounters = kSlices * kCountersPerSlice;
constexpr uint64_t kLiveHz = 1'400'000'000;
constexpr uint64_t kTriggerCycles = kLiveHz / 1000;
constexpr uint64_t kHostSeed = 100;
constexpr int kWarmUpPeriods = 20;
constexpr int kLiveRounds = 10;
constexpr uint64_t kTriggersPerRound = 50;
constexpr uint64_t kExitRates[] = {10, 100, 1000, 10'000, 100'000};

constexpr mcu::GateGroup kGuest, kHost = {.in_guest = false, .in_host = true}, kBoth = {.in_host = true};

// How the counters are gated, and how often the hypervisor runs.
struct Gating {
  std::vector<mcu::GateGroup> groups;  // of which each unit-level counter has equal shares; they count the same sources
  mcu::HostPlan host;

  uint32_t share() const { return groups.empty() ? mcu::kUlcCountersMax : mcu::kUlcCountersMax / groups.size(); }
  mcu::GateGroup group(uint16_t event) const { return groups[event / share()]; }
};

// The events of a unit-level counter have the numbers of its counters.
uint16_t EventOf(uint32_t counter) { return static_cast<uint16_t>(counter % mcu::kUlcCountersMax); }
// The first share of the wires of each unit-level counter, as often as there are shares.
sim::WireId WireOf(uint32_t counter, const Gating& gating) {
  return counter - EventOf(counter) + EventOf(counter) % gating.share();
}

// The units of all collection units have the same events.
mcu::PipelineConfig LiveConfig(const Gating& gating) {
  mcu::PipelineConfig config{.slices = kSlices, .events = mcu::kUlcCountersMax, .clock_hz = kLiveHz};
  config.trigger_period = config.commit_period = config.hypervisor_commit_period = kTriggerCycles;
  config.gate_groups = gating.groups;
  std::vector<mcu::CounterInput> inputs(kCountersPerSlice);
  for (uint32_t i = 0; i < kCountersPerSlice; ++i) {
    inputs[i] = {.wire = WireOf(i, gating), .meaning = {EventOf(i), 0}};
    if (!gating.groups.empty()) inputs[i].group = static_cast<uint8_t>(EventOf(i) / gating.share());
  }
  for (uint8_t slice = 0; slice < kSlices; ++slice) {
    for (mcu::CcuSpec& ccu : mcu::Pack(absl::StrCat("slice", slice), slice, inputs, {})) {
      config.ccus.push_back(std::move(ccu));
    }
  }
  return config;
}

absl::StatusOr<sim::Workload> MakeWorkload(uint64_t seed) {
  std::vector<std::string> events(kCountersPerSlice);
  for (uint32_t wire = 0; wire < kCountersPerSlice; ++wire) {
    events[wire] = absl::StrCat("event_", EventOf(wire));
  }
  return sim::Workload::Create(
      {{{sim::PhaseKind::kGemm, 200'000}, {sim::PhaseKind::kAttention, 90'000}, {sim::PhaseKind::kAllReduce, 40'000}},
       seed,
       std::move(events)});
}

// The chip with a tenant on every slice.
struct Live {
  std::unique_ptr<mcu::Chip> chip;
  std::vector<std::unique_ptr<sim::SyntheticSlice>> slices;
  std::vector<mcu::BlockId> blocks;
  uint64_t next_mode = 0;  // the cycle of the next exit or entry
};

absl::StatusOr<Live> MakeLive(const Gating& gating) {
  Live live;
  SIDEBAND_ASSIGN_OR_RETURN(live.chip, mcu::Chip::Create(LiveConfig(gating)));
  for (uint8_t slice = 0; slice < kSlices; ++slice) {
    auto wires = std::make_unique<sim::SyntheticSlice>();
    SIDEBAND_ASSIGN_OR_RETURN(sim::Workload workload, MakeWorkload(slice));
    SIDEBAND_RETURN_IF_ERROR(wires->Add("vm", "", std::move(workload)));
    SIDEBAND_ASSIGN_OR_RETURN(sim::Workload of_host, MakeWorkload(kHostSeed));
    SIDEBAND_RETURN_IF_ERROR(wires->SetHost(std::move(of_host)));
    wires->SwitchIn("vm", "", 0);
    live.chip->Attach(slice, *wires);
    live.blocks.push_back(live.chip->memory().Create(slice + 1, mailbox::kNoContext));
    live.chip->SwitchTo(slice, mcu::Binding{live.blocks.back(), std::nullopt});
    live.slices.push_back(std::move(wires));
  }
  live.chip->Attach(mcu::kDeviceChannel, *live.slices.front());
  return live;
}

// Advances by a period of triggers, with the exits and entries of the plan.
void Advance(Live& live, const mcu::HostPlan& host) {
  const uint64_t now = live.chip->now(), end = now + kTriggerCycles;
  for (; live.next_mode < end; live.next_mode = host.NextChange(live.next_mode)) {
    for (uint8_t slice = 0; slice < kSlices; ++slice) {
      if (host.IsHost(live.next_mode)) {
        live.chip->guests().Exit(slice, live.next_mode);
      } else {
        live.chip->guests().Enter(slice, live.next_mode);
      }
      live.slices[slice]->SwitchMode(host.IsHost(live.next_mode), live.next_mode, now);
    }
  }
  live.chip->AdvanceTo(end);
}

// The number of cycles below `cycle` that are the guest's.
uint64_t GuestCycles(const mcu::HostPlan& host, uint64_t cycle) {
  if (host.every == 0 || cycle < host.every) return cycle;
  return cycle - (cycle / host.every - 1) * host.time - std::min(host.time, cycle % host.every);
}

// The count of a counter of the first slice in the cycles below `cycle`.
uint64_t Expected(uint32_t counter, const Gating& gating, const sim::Workload& guest, const sim::Workload& host,
                  uint64_t cycle) {
  const sim::WireId wire = WireOf(counter, gating);
  const uint64_t guest_cycles = GuestCycles(gating.host, cycle);
  const mcu::GateGroup group = gating.groups.empty() ? kBoth : gating.group(EventOf(counter));
  return (group.in_guest ? guest.CumulativeCount(wire, guest_cycles) : 0) +
         (group.in_host ? host.CumulativeCount(wire, cycle - guest_cycles) : 0);
}

// Compares the first slice's counts with a prediction counter by counter.
absl::Status Check(Live& live, const Gating& gating) {
  live.chip->Latch();
  std::vector<uint64_t> expected(mcu::kUlcCountersMax);
  SIDEBAND_ASSIGN_OR_RETURN(const sim::Workload guest, MakeWorkload(0));
  SIDEBAND_ASSIGN_OR_RETURN(const sim::Workload host, MakeWorkload(kHostSeed));
  for (uint32_t i = 0; i < kCountersPerSlice; ++i) {
    expected[EventOf(i)] += Expected(i, gating, guest, host, live.chip->now());
  }
  const auto counters = live.chip->memory().counters(live.blocks.front());
  if (std::equal(counters.begin(), counters.end(), expected.begin(), expected.end())) return absl::OkStatus();
  return absl::InternalError("the live chip's counts are not those of its workload");
}

// Seconds of a period of triggers.
absl::StatusOr<double> MeasureGating(const Gating& gating) {
  SIDEBAND_ASSIGN_OR_RETURN(Live live, MakeLive(gating));
  live.next_mode = gating.host.NextChange(0);
  for (int i = 0; i < kWarmUpPeriods; ++i) Advance(live, gating.host);
  BestTime best;
  for (int round = 0; round < kLiveRounds; ++round) {
    best.Measure([&] {
      for (uint64_t i = 0; i < kTriggersPerRound; ++i) Advance(live, gating.host);
    });
  }
  SIDEBAND_RETURN_IF_ERROR(Check(live, gating));
  return best.seconds() / kTriggersPerRound;
}

// The cost of gates, and of exits at growing rates.
absl::Status AddGated(const char* name, const std::vector<mcu::GateGroup>& groups, double ungated, LiveChip& live) {
  SIDEBAND_ASSIGN_OR_RETURN(const double without, MeasureGating({.groups = groups}));
  live.rows.push_back({absl::StrCat("live: ", name, ", without exits"), without / ungated, "x ungated",
                       absl::StrFormat("%.2f ns per counter and trigger", without / kLiveCounters * 1e9)});
  Curve& curve = live.curves.emplace_back(Curve{.name = name});
  for (const uint64_t exits : kExitRates) {
    const uint64_t every = kLiveHz / exits;
    SIDEBAND_ASSIGN_OR_RETURN(const double seconds,
                              MeasureGating({.groups = groups, .host = {.every = every, .time = every / 10}}));
    live.rows.push_back({absl::StrCat("live: the same, ", exits, " exits a second and slice"), seconds / without,
                         "x without",
                         absl::StrFormat("%.2f ns per counter and trigger", seconds / kLiveCounters * 1e9)});
    curve.points.push_back({static_cast<double>(exits), seconds / without});
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<LiveChip> MeasureLiveChip() {
  SIDEBAND_ASSIGN_OR_RETURN(const double seconds, MeasureGating({}));
  const double trigger_seconds = static_cast<double>(kTriggerCycles) / kLiveHz;
  LiveChip live;
  live.rows.push_back({absl::StrFormat("live: %u counters at 1.4 GHz, a trigger every 1 ms", kLiveCounters),
                       trigger_seconds / seconds, "x real time",
                       absl::StrFormat("%.2f ns per counter and trigger, one core", seconds / kLiveCounters * 1e9)});
  SIDEBAND_RETURN_IF_ERROR(AddGated("guests only", {kGuest}, seconds, live));
  SIDEBAND_RETURN_IF_ERROR(AddGated("guests, hypervisor and both", {kGuest, kHost, kBoth}, seconds, live));
  return live;
}

}  // namespace sideband::bench
