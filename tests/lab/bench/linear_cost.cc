// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "absl/strings/str_format.h"
#include "proto/base/status_macros.h"
#include "secure_mcu/chip/chip.h"
#include "sim/waveform/trace_reader.h"
#include "tests/lab/bench/benchmarks.h"
#include "tests/lab/bench/stopwatch.h"
#include "tests/lab/bench/synthetic_signals.h"

namespace sideband::bench {
namespace {

constexpr int kLinearRounds = 5;
constexpr uint32_t kFixedSignals = 512;
constexpr uint64_t kFixedCycles = uint64_t{1} << 18;
constexpr uint64_t kLinearRunCyclesMax = 400;

struct Size {
  uint32_t signals;
  uint64_t cycles;

  double words() const { return static_cast<double>(signals) * static_cast<double>(cycles) / 64; }
};

// One slice, with one event per signal.
mcu::PipelineConfig LinearConfig(uint32_t signals) {
  std::vector<mcu::CounterInput> inputs(signals);
  for (uint32_t i = 0; i < signals; ++i) inputs[i] = {.wire = i, .meaning = {static_cast<uint16_t>(i), 0}};
  return {.events = signals, .ccus = mcu::Pack("signals", 0, inputs, {})};
}

struct ReplaySeconds {
  double packing = 0;   // setting runs of bits, and sliding the window
  double counting = 0;  // in the chip
};

// Processes windows as a trace reader makes them.
absl::StatusOr<ReplaySeconds> Replay(const Size& size) {
  SyntheticSignals signals(size.signals, sim::TraceReader::ChunkCycles(size.signals), sim::FastestPath(),
                           kLinearRunCyclesMax);
  SIDEBAND_ASSIGN_OR_RETURN(const auto chip, mcu::Chip::Create(LinearConfig(size.signals)));
  chip->Attach(0, signals.window());
  chip->Attach(mcu::kDeviceChannel, signals.window());
  chip->SwitchTo(0, mcu::Binding{chip->memory().Create(1, mailbox::kNoContext), std::nullopt});
  ReplaySeconds seconds;
  while (chip->now() < size.cycles) {
    seconds.packing += SecondsOf([&] { signals.Next(); });
    seconds.counting += SecondsOf([&] { chip->AdvanceTo(signals.window().range().end); });
  }
  return seconds;
}

// The cost of packing and counting, and of counting alone.
struct Curves {
  Curve all;
  Curve counting;
};

absl::Status MeasureSize(const Size& size, LinearCost& cost, Curves& curves) {
  BestTime packing, counting;
  for (int round = 0; round < kLinearRounds; ++round) {
    SIDEBAND_ASSIGN_OR_RETURN(const ReplaySeconds seconds, Replay(size));
    packing.Take(seconds.packing);
    counting.Take(seconds.counting);
  }
  const double ms = (packing.seconds() + counting.seconds()) * 1e3;
  const double per_word = 1e6 / size.words();
  curves.all.points.push_back({size.words(), ms});
  curves.counting.points.push_back({size.words(), counting.seconds() * 1e3});
  cost.rows.push_back({absl::StrFormat("replay cost: %u signals x %u cycles", size.signals, size.cycles), ms, "ms",
                       absl::StrFormat("%.2f ns per word of 64 cycles, %.2f of it to count", ms * per_word,
                                       counting.seconds() * 1e3 * per_word)});
  return absl::OkStatus();
}

void AddExponent(const Curves& curves, LinearCost& cost) {
  cost.rows.push_back({"replay cost: exponent, " + curves.all.name, Slope(curves.all), "",
                       absl::StrFormat("1 is linear; %.2f to count", Slope(curves.counting))});
}

}  // namespace

absl::StatusOr<LinearCost> MeasureLinearCost() {
  LinearCost cost;
  Curves signals{{absl::StrFormat("64 to 4096 signals, %u cycles", kFixedCycles), {}}, {}};
  for (uint32_t count = 64; count <= 4096; count *= 2) {
    SIDEBAND_RETURN_IF_ERROR(MeasureSize({count, kFixedCycles}, cost, signals));
  }
  AddExponent(signals, cost);
  Curves cycles{{absl::StrFormat("65536 to 4194304 cycles, %u signals", kFixedSignals), {}}, {}};
  for (uint64_t count = uint64_t{1} << 16; count <= uint64_t{1} << 22; count *= 2) {
    SIDEBAND_RETURN_IF_ERROR(MeasureSize({kFixedSignals, count}, cost, cycles));
  }
  AddExponent(cycles, cost);
  cost.curves = {signals.all, cycles.all};
  return cost;
}

}  // namespace sideband::bench
