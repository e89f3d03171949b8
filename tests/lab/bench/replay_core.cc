// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <memory>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "secure_mcu/pipeline/unit_level_counter.h"
#include "sim/waveform/trace_reader.h"
#include "sim/wires/popcount.h"
#include "tests/lab/bench/bare_popcount.h"
#include "tests/lab/bench/benchmarks.h"
#include "tests/lab/bench/stopwatch.h"
#include "tests/lab/bench/synthetic_signals.h"

namespace sideband::bench {
namespace {

constexpr int kWindows = 8;
constexpr int kReplayRounds = 40;  // per window
constexpr int kReplayRepetitions = 8;
constexpr uint64_t kCoreRunCyclesMax = 60;

// Windows as a trace reader makes them, of about 512 KiB, so that they stay in L2.
struct Shape {
  uint32_t wires;

  uint64_t cycles() const { return sim::TraceReader::ChunkCycles(wires); }
  uint64_t bytes() const { return wires * cycles() / 8; }
};
constexpr Shape kShapes[] = {{45}, {64}, {256}, {512}};

// The units needed for the wires, each with its sums.
class Units {
 public:
  explicit Units(uint32_t wires) {
    for (uint32_t first = 0; first < wires; first += mcu::kUlcCountersMax) {
      mcu::UnitLevelCounter::Config config;
      config.wires.resize(std::min(wires - first, mcu::kUlcCountersMax));
      std::iota(config.wires.begin(), config.wires.end(), first);
      sums_.emplace_back(config.wires.size());
      ulcs_.emplace_back(std::move(config));
    }
    Enable(0);
  }

  void Enable(uint64_t cycle) {
    for (mcu::UnitLevelCounter& ulc : ulcs_) ulc.Enable(cycle);
  }

  void Count(const sim::PackedWires& window) {
    for (size_t i = 0; i < ulcs_.size(); ++i) ulcs_[i].AdvanceTo(window.range().end, window, sums_[i]);
  }

  // All counts up to the current cycle, including those still in the units.
  uint64_t Total(const sim::PackedWires& window) {
    uint64_t total = 0;
    for (size_t i = 0; i < ulcs_.size(); ++i) {
      ulcs_[i].TakeHeld(window, sums_[i]);
      total = std::accumulate(sums_[i].begin(), sums_[i].end(), total);
    }
    return total;
  }

 private:
  std::vector<mcu::UnitLevelCounter> ulcs_;
  std::vector<std::vector<uint64_t>> sums_;
};

// The window's words, contiguous and aligned for vector instructions.
class FlatCopy {
 public:
  explicit FlatCopy(const sim::PackedWires& window) {
    size_t size = 0;
    for (sim::WireId wire = 0; wire < window.wire_count(); ++wire) size += window.words(wire).size();
    storage_.resize(size + kAlignment);
    void* start = storage_.data();
    size_t space = storage_.size() * sizeof(uint64_t);
    auto* to = static_cast<uint64_t*>(std::align(kAlignment, size * sizeof(uint64_t), start, space));
    words_ = {to, size};
    for (sim::WireId wire = 0; wire < window.wire_count(); ++wire) {
      const auto row = window.words(wire);
      to = std::copy(row.begin(), row.end(), to);
    }
  }
  std::span<const uint64_t> words() const { return words_; }

 private:
  static constexpr size_t kAlignment = 64;

  std::vector<uint64_t> storage_;
  std::span<const uint64_t> words_;
};

struct Times {
  BestTime bare;
  BestTime ulcs;
};

// Measures as in the middle of a replay: the counted bits start in the window's history, and bits still in the units at
// the end are not counted.
void MeasureWindow(sim::PopcountPath path, const sim::PackedWires& window, std::span<const uint64_t> words,
                   Times& times) {
  Units units(window.wire_count());
  const uint64_t begin = window.range().begin - std::min<uint64_t>(window.range().begin, mcu::kUlcHistoryCycles);
  volatile uint64_t sink = 0;
  for (int round = 0; round < kReplayRounds; ++round) {
    times.ulcs.Measure([&] {
      for (int i = 0; i < kReplayRepetitions; ++i) {
        units.Enable(begin);
        units.Count(window);
      }
    });
    times.bare.Measure([&] {
      for (int i = 0; i < kReplayRepetitions; ++i) sink = sink + BarePopcount(path, words);
    });
  }
}

absl::StatusOr<Times> MeasurePath(const Shape& shape, sim::PopcountPath path) {
  SyntheticSignals signals(shape.wires, shape.cycles(), path, kCoreRunCyclesMax);
  Units units(shape.wires);
  uint64_t ones = 0;
  Times times;
  for (int i = 0; i < kWindows; ++i) {
    signals.Next();
    const FlatCopy copy(signals.window());
    MeasureWindow(path, signals.window(), copy.words(), times);
    units.Count(signals.window());
    ones += BarePopcount(path, copy.words());
  }
  const uint64_t counted = units.Total(signals.window());
  if (counted == ones) return times;
  return absl::InternalError(
      absl::StrCat(sim::PopcountPathName(path), ": the counters counted ", counted, " ones of ", ones));
}

Row MakeRow(const std::string& what, const Shape& shape, sim::PopcountPath path, double seconds, std::string note) {
  return {absl::StrFormat("replay core: %s, %u wires x %u cycles, %s", what, shape.wires, shape.cycles(),
                          std::string(sim::PopcountPathName(path))),
          kReplayRepetitions * shape.bytes() / seconds / 1e9, "GB/s", std::move(note)};
}

}  // namespace

absl::StatusOr<Rows> MeasureReplayCore() {
  Rows rows;
  for (const Shape& shape : kShapes) {
    std::map<sim::PopcountPath, Times> times;
    BestTime best_bare;
    for (const sim::PopcountPath path : sim::SupportedPaths()) {
      auto measured = MeasurePath(shape, path);
      if (!measured.ok()) return measured.status();
      best_bare.Take(measured->bare.seconds());
      times.emplace(path, *measured);
    }
    for (const auto& [path, time] : times) {
      rows.push_back(MakeRow("bare loop", shape, path, time.bare.seconds(), ""));
      rows.push_back(
          MakeRow("counters", shape, path, time.ulcs.seconds(),
                  absl::StrFormat("%.2f of its bare loop, %.2f of the best", time.bare.seconds() / time.ulcs.seconds(),
                                  best_bare.seconds() / time.ulcs.seconds())));
    }
  }
  return rows;
}

}  // namespace sideband::bench
