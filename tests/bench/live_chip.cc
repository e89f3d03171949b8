// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/live_chip.h"

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "proto/base/status_macros.h"
#include "secure_mcu/chip/chip.h"
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

// Every counter of a unit-level counter has its own event; the units of all collection units have the same events.
mcu::PipelineConfig Config() {
  mcu::PipelineConfig config{.slices = kSlices, .events = mcu::kUlcCountersMax, .clock_hz = kClockHz};
  config.trigger_period = config.commit_period = config.hypervisor_commit_period = kTriggerCycles;
  std::vector<mcu::CounterInput> inputs(kWiresPerSlice);
  for (uint32_t wire = 0; wire < kWiresPerSlice; ++wire) {
    inputs[wire] = {.wire = wire, .meaning = {static_cast<uint16_t>(wire % mcu::kUlcCountersMax), 0}};
  }
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
};

absl::StatusOr<Live> MakeLive() {
  Live live;
  SIDEBAND_ASSIGN_OR_RETURN(live.chip, mcu::Chip::Create(Config()));
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

// Compares the first slice's counts with a prediction wire by wire.
absl::Status Check(Live& live) {
  live.chip->Latch();
  std::vector<uint64_t> expected(mcu::kUlcCountersMax);
  SIDEBAND_ASSIGN_OR_RETURN(const sim::Workload workload, MakeWorkload(0));
  for (sim::WireId wire = 0; wire < kWiresPerSlice; ++wire) {
    expected[wire % mcu::kUlcCountersMax] += workload.CumulativeCount(wire, live.chip->now());
  }
  const auto counters = live.chip->memory().counters(live.blocks.front());
  if (std::equal(counters.begin(), counters.end(), expected.begin(), expected.end())) return absl::OkStatus();
  return absl::InternalError("the live chip's counts are not those of its workload");
}

}  // namespace

absl::StatusOr<Rows> MeasureLiveChip() {
  SIDEBAND_ASSIGN_OR_RETURN(Live live, MakeLive());
  live.chip->AdvanceTo(kWarmUp * kTriggerCycles);
  BestTime best;
  for (int round = 0; round < kRounds; ++round) {
    best.Measure([&] { live.chip->AdvanceTo(live.chip->now() + kTriggersPerRound * kTriggerCycles); });
  }
  SIDEBAND_RETURN_IF_ERROR(Check(live));
  const double per_trigger = best.seconds() / kTriggersPerRound;
  const double trigger_seconds = static_cast<double>(kTriggerCycles) / kClockHz;
  return Rows{{absl::StrFormat("live: %u counters at 1.4 GHz, a trigger every 1 ms", kCounters),
               trigger_seconds / per_trigger, "x real time",
               absl::StrFormat("%.2f ns per counter and trigger, one core", per_trigger / kCounters * 1e9)}};
}

}  // namespace sideband::bench
