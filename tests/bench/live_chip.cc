// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/live_chip.h"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "proto/base/status_macros.h"
#include "secure_mcu/chip/chip.h"
#include "secure_mcu/chip/host_plan.h"
#include "sim/workload/synthetic_slice.h"
#include "tests/bench/stopwatch.h"

namespace sideband::bench {
namespace {

constexpr uint32_t kSlices = 8;
constexpr uint32_t kCcusPerSlice = 8;
constexpr uint32_t kWiresPerSlice = kCcusPerSlice * mcu::kCcuUlcsMax * mcu::kUlcCountersMax;
constexpr uint32_t kCounters = kSlices * kWiresPerSlice;
constexpr uint64_t kClockHz = 1'400'000'000;
constexpr uint64_t kTriggerCycles = kClockHz / 1000;
constexpr int kWarmUp = 20;
constexpr int kRounds = 10;
constexpr uint64_t kTriggersPerRound = 50;

// How the counters are gated, and how often the hypervisor runs.
struct Gating {
  bool has_groups = false;
  mcu::HostPlan host;
};

// Every counter of a unit-level counter has its own event; the units of all collection units have the same events.
mcu::PipelineConfig Config(const Gating& gating) {
  mcu::PipelineConfig config{.slices = kSlices, .events = mcu::kUlcCountersMax, .clock_hz = kClockHz};
  config.trigger_period = config.commit_period = config.hypervisor_commit_period = kTriggerCycles;
  std::vector<mcu::CounterInput> inputs(kWiresPerSlice);
  for (uint32_t wire = 0; wire < kWiresPerSlice; ++wire) {
    inputs[wire] = {.wire = wire, .meaning = {static_cast<uint16_t>(wire % mcu::kUlcCountersMax), 0}};
    if (gating.has_groups) inputs[wire].group = 0;
  }
  if (gating.has_groups) config.gate_groups.emplace_back();
  for (uint8_t slice = 0; slice < kSlices; ++slice) {
    for (mcu::CcuSpec& ccu : mcu::Pack(absl::StrCat("slice", slice), slice, inputs, {})) {
      config.ccus.push_back(std::move(ccu));
    }
  }
  return config;
}

absl::StatusOr<sim::Workload> MakeWorkload(uint64_t seed) {
  std::vector<std::string> events(kWiresPerSlice);
  for (uint32_t wire = 0; wire < kWiresPerSlice; ++wire) {
    events[wire] = absl::StrCat("event_", wire % mcu::kUlcCountersMax);
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
  SIDEBAND_ASSIGN_OR_RETURN(live.chip, mcu::Chip::Create(Config(gating)));
  for (uint8_t slice = 0; slice < kSlices; ++slice) {
    auto wires = std::make_unique<sim::SyntheticSlice>();
    SIDEBAND_ASSIGN_OR_RETURN(sim::Workload workload, MakeWorkload(slice));
    SIDEBAND_RETURN_IF_ERROR(wires->Add("vm", "", std::move(workload)));
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
        live.chip->Exit(slice, live.next_mode);
      } else {
        live.chip->Enter(slice, live.next_mode);
      }
      live.slices[slice]->SwitchMode(host.IsHost(live.next_mode), live.next_mode, now);
    }
  }
  live.chip->AdvanceTo(end);
}

// Of the cycles below `cycle`, those of the guest.
uint64_t GuestCycles(const mcu::HostPlan& host, uint64_t cycle) {
  if (host.every == 0 || cycle < host.every) return cycle;
  return cycle - (cycle / host.every - 1) * host.time - std::min(host.time, cycle % host.every);
}

// Compares the first slice's counts with a prediction wire by wire.
absl::Status Check(Live& live, const mcu::HostPlan& host) {
  live.chip->Latch();
  std::vector<uint64_t> expected(mcu::kUlcCountersMax);
  SIDEBAND_ASSIGN_OR_RETURN(const sim::Workload workload, MakeWorkload(0));
  for (sim::WireId wire = 0; wire < kWiresPerSlice; ++wire) {
    expected[wire % mcu::kUlcCountersMax] += workload.CumulativeCount(wire, GuestCycles(host, live.chip->now()));
  }
  const auto counters = live.chip->memory().counters(live.blocks.front());
  if (std::equal(counters.begin(), counters.end(), expected.begin(), expected.end())) return absl::OkStatus();
  return absl::InternalError("the live chip's counts are not those of its workload");
}

// Seconds of a period of triggers.
absl::StatusOr<double> Measure(const Gating& gating) {
  SIDEBAND_ASSIGN_OR_RETURN(Live live, MakeLive(gating));
  live.next_mode = gating.host.NextChange(0);
  for (int i = 0; i < kWarmUp; ++i) Advance(live, gating.host);
  BestTime best;
  for (int round = 0; round < kRounds; ++round) {
    best.Measure([&] {
      for (uint64_t i = 0; i < kTriggersPerRound; ++i) Advance(live, gating.host);
    });
  }
  SIDEBAND_RETURN_IF_ERROR(Check(live, gating.host));
  return best.seconds() / kTriggersPerRound;
}

absl::StatusOr<Row> GatedRow(const char* name, const Gating& gating, double ungated) {
  SIDEBAND_ASSIGN_OR_RETURN(const double seconds, Measure(gating));
  return Row{absl::StrCat("live: the same, gated, ", name), seconds / ungated, "x the time",
             absl::StrFormat("%.2f ns per counter and trigger", seconds / kCounters * 1e9)};
}

}  // namespace

absl::StatusOr<Rows> MeasureLiveChip() {
  SIDEBAND_ASSIGN_OR_RETURN(const double seconds, Measure({}));
  const double trigger_seconds = static_cast<double>(kTriggerCycles) / kClockHz;
  Rows rows{{absl::StrFormat("live: %u counters at 1.4 GHz, a trigger every 1 ms", kCounters),
             trigger_seconds / seconds, "x real time",
             absl::StrFormat("%.2f ns per counter and trigger, one core", seconds / kCounters * 1e9)}};
  SIDEBAND_ASSIGN_OR_RETURN(rows.emplace_back(), GatedRow("without exits", {.has_groups = true}, seconds));
  for (const uint64_t exits : {1000, 10'000, 100'000}) {
    const uint64_t every = kClockHz / exits;
    SIDEBAND_ASSIGN_OR_RETURN(rows.emplace_back(),
                              GatedRow(absl::StrCat(exits, " exits a second and slice").c_str(),
                                       {.has_groups = true, .host = {.every = every, .time = every / 10}}, seconds));
  }
  return rows;
}

}  // namespace sideband::bench
