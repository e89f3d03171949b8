// SPDX-License-Identifier: Apache-2.0
#include <immintrin.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <numeric>
#include <random>
#include <span>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "proto/base/status_macros.h"
#include "secure_mcu/chip/chip.h"
#include "secure_mcu/pipeline/unit_level_counter.h"
#include "sim/waveform/trace_reader.h"
#include "sim/wires/packed_wires.h"
#include "tests/lab/bench/benchmarks.h"
#include "tests/lab/bench/measurement.h"

namespace sideband::bench {
namespace {

uint64_t Ones(uint64_t word) { return static_cast<uint64_t>(std::popcount(word)); }

uint64_t CountPortable(std::span<const uint64_t> words) {
  uint64_t total = 0;
  for (const uint64_t word : words) total += Ones(word);
  return total;
}

// For one long row the library's AVX2 method is the bare loop: it does no work besides counting.
uint64_t CountOneRow(sim::PopcountPath path, std::span<const uint64_t> words) {
  const sim::WireId row = 0;
  uint64_t sum = 0;
  sim::AddPopcounts(path, {words.data(), 0}, {0, words.size() * 64}, std::span(&row, 1), std::span(&sum, 1));
  return sum;
}

#if defined(__x86_64__)
#define SIDEBAND_AVX512 __attribute__((target("avx512f,avx512vpopcntdq")))

constexpr size_t kLanes = 8;
constexpr size_t kVectorStep = 4 * kLanes;

SIDEBAND_AVX512 inline __m512i OnesOf(const uint64_t* words) { return _mm512_popcnt_epi64(_mm512_loadu_si512(words)); }

SIDEBAND_AVX512 uint64_t CountAvx512(std::span<const uint64_t> words) {
  __m512i a = _mm512_setzero_si512(), b = a, c = a, d = a;
  size_t i = 0;
  for (; i + kVectorStep <= words.size(); i += kVectorStep) {
    a = _mm512_add_epi64(a, OnesOf(words.data() + i));
    b = _mm512_add_epi64(b, OnesOf(words.data() + i + kLanes));
    c = _mm512_add_epi64(c, OnesOf(words.data() + i + 2 * kLanes));
    d = _mm512_add_epi64(d, OnesOf(words.data() + i + 3 * kLanes));
  }
  uint64_t lanes[kLanes];
  _mm512_storeu_si512(lanes, _mm512_add_epi64(_mm512_add_epi64(a, b), _mm512_add_epi64(c, d)));
  uint64_t total = CountPortable(words.subspan(i));
  for (const uint64_t lane : lanes) total += lane;
  return total;
}
#endif

// The baseline for the counter pipeline: the number of ones in `words`, by the fastest population count of memory on
// this processor, which must support `path`.
uint64_t BarePopcount(sim::PopcountPath path, std::span<const uint64_t> words) {
#if defined(__x86_64__)
  if (path == sim::PopcountPath::kAvx512) return CountAvx512(words);
#endif
  if (path == sim::PopcountPath::kAvx2) return CountOneRow(path, words);
  return CountPortable(words);
}

// A stream of windows of packed bits as a trace reader produces them, filled with random runs. Not thread-safe. Equal
// arguments give equal bits.
class SyntheticSignals {
 public:
  static constexpr uint64_t kHistoryCycles = 1024;

  SyntheticSignals(uint32_t wires, uint64_t window_cycles, sim::PopcountPath path, uint64_t run_cycles_max)
      : window_(wires, window_cycles, kHistoryCycles, path) {
    std::mt19937_64 random;
    for (uint64_t& cycles : run_cycles_) cycles = 1 + random() % run_cycles_max;
  }

  // Slides to the next window and fills it.
  void Next();
  const sim::PackedWires& window() const { return window_; }

 private:
  uint64_t NextRun();

  sim::PackedWires window_;
  std::array<uint64_t, 1021> run_cycles_;  // drawn once, since drawing costs more than setting
  size_t next_run_ = 0;
};

uint64_t SyntheticSignals::NextRun() {
  next_run_ = next_run_ + 1 < run_cycles_.size() ? next_run_ + 1 : 0;
  return run_cycles_[next_run_];
}

void SyntheticSignals::Next() {
  window_.Slide();
  const uint64_t end = window_.range().begin + window_.capacity();
  for (sim::WireId wire = 0; wire < window_.wire_count(); ++wire) {
    uint64_t cycle = window_.range().begin + NextRun() - 1;
    while (cycle < end) {
      const uint64_t run_end = std::min(cycle + NextRun(), end);
      window_.SetRun(wire, {cycle, run_end});
      cycle = run_end + NextRun();
    }
  }
  window_.ExtendTo(end);
}

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
