// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/linear_cost.h"

#include <memory>

#include "absl/strings/str_format.h"
#include "proto/base/status_macros.h"
#include "secure_mcu/chip/chip.h"
#include "sim/waveform/trace_reader.h"
#include "tests/bench/log_log.h"
#include "tests/bench/stopwatch.h"
#include "tests/bench/synthetic_signals.h"

namespace sideband::bench {
namespace {

constexpr int kRounds = 5;
constexpr uint32_t kFixedSignals = 512;
constexpr uint64_t kFixedCycles = uint64_t{1} << 18;
constexpr uint64_t kRunCyclesMax = 1000;

struct Size {
  uint32_t signals;
  uint64_t cycles;

  double words() const { return static_cast<double>(signals) * static_cast<double>(cycles) / 64; }
};

// One slice, an event for each signal.
mcu::PipelineConfig Config(uint32_t signals) {
  std::vector<mcu::CounterInput> inputs(signals);
  for (uint32_t i = 0; i < signals; ++i) inputs[i] = {.wire = i, .meaning = {static_cast<uint16_t>(i), 0}};
  return {.events = signals, .ccus = mcu::Pack("signals", 0, inputs, {})};
}

// In windows as a trace reader makes them. The time that the chip took for its part; making the signals is not its.
absl::StatusOr<double> Replay(const Size& size) {
  SyntheticSignals signals(size.signals, sim::TraceReader::ChunkCycles(size.signals), sim::FastestPath(),
                           kRunCyclesMax);
  SIDEBAND_ASSIGN_OR_RETURN(const auto chip, mcu::Chip::Create(Config(size.signals)));
  chip->Attach(0, signals.window());
  chip->Attach(mcu::kDeviceChannel, signals.window());
  chip->SwitchTo(0, mcu::Binding{chip->memory().Create(1, mailbox::kNoContext), std::nullopt});
  double seconds = 0;
  while (chip->now() < size.cycles) {
    signals.Next();
    seconds += SecondsOf([&] { chip->AdvanceTo(signals.window().range().end); });
  }
  return seconds;
}

absl::Status Measure(const Size& size, LinearCost& cost, Curve& curve) {
  BestTime best;
  for (int round = 0; round < kRounds; ++round) {
    SIDEBAND_ASSIGN_OR_RETURN(const double seconds, Replay(size));
    best.Take(seconds);
  }
  const double ms = best.seconds() * 1e3;
  curve.points.push_back({size.words(), ms});
  cost.rows.push_back({absl::StrFormat("replay cost: %u signals x %u cycles", size.signals, size.cycles), ms, "ms",
                       absl::StrFormat("%.3f ns per word of 64 cycles", best.seconds() / size.words() * 1e9)});
  return absl::OkStatus();
}

void AddExponent(const Curve& curve, LinearCost& cost) {
  cost.rows.push_back({"replay cost: exponent, " + curve.name, Slope(curve), "", "1 is linear"});
}

}  // namespace

absl::StatusOr<LinearCost> MeasureLinearCost() {
  LinearCost cost;
  Curve curves[] = {{absl::StrFormat("64 to 4096 signals, %u cycles", kFixedCycles), {}},
                    {absl::StrFormat("2^16 to 2^22 cycles, %u signals", kFixedSignals), {}}};
  for (uint32_t signals = 64; signals <= 4096; signals *= 2) {
    SIDEBAND_RETURN_IF_ERROR(Measure({signals, kFixedCycles}, cost, curves[0]));
  }
  AddExponent(curves[0], cost);
  for (uint64_t cycles = uint64_t{1} << 16; cycles <= uint64_t{1} << 22; cycles *= 2) {
    SIDEBAND_RETURN_IF_ERROR(Measure({kFixedSignals, cycles}, cost, curves[1]));
  }
  AddExponent(curves[1], cost);
  cost.svg = LogLogSvg("Cost of a replay through the counter pipeline", "signals x cycles / 64", "ms", curves);
  return cost;
}

}  // namespace sideband::bench
