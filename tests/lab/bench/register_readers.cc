// SPDX-License-Identifier: Apache-2.0
#include "tests/lab/bench/register_readers.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <random>
#include <span>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "secure_mcu/chip/live_counts.h"

namespace sideband::bench {
namespace {

using mcu::HpcPrivilege;
using mcu::HpcRegister;

constexpr uint32_t kLookups[] = {1, 2, 3, 4, 8, 16};

// Bit b of the only manager counts b + 1.
void Latch(size_t, mcu::HpcManagerId, std::span<const uint16_t> events, std::span<uint64_t> counts) {
  for (size_t i = 0; i < events.size(); ++i) counts[i] = events[i] + 1u;
}

// The resident of a slice, whose program knows that nothing else runs.
class Program {
 public:
  explicit Program(const mcu::HpcTiming& timing)
      : path_({.slices = 1, .events = hpc::kCountersPerManager, .timing = timing}, Latch) {
    path_.Switch(0, {.vm = true, .context = true, .useren = true}, cycle_++);
  }

  uint64_t cycle() const { return cycle_; }

  void Start(uint32_t counters) {
    Write(HpcRegister::kHpcm, ~uint64_t{0} >> (hpc::kCountersPerManager - counters));
    Write(HpcRegister::kHpcc, hpc::kHpccTrigger);
  }
  // Until the flag of hpcc is 0.
  void AwaitClear(uint64_t flag) {
    bool is_set = true;
    while (is_set) {
      is_set = (Read(HpcRegister::kHpcc) & flag) != 0;
      cycle_ += kPollCycles - 1;
    }
  }
  void TakeValue(uint64_t expected) {
    const uint64_t value = Read(HpcRegister::kHpcr);
    if (value == expected) return;
    std::fprintf(stderr, "bench: a counter reads %ju, not %ju\n", uintmax_t{value}, uintmax_t{expected});
    std::abort();
  }

 private:
  void RunPath() {
    while (path_.NextStop() <= cycle_) path_.RunTo(path_.NextStop());
  }
  void Write(HpcRegister which, uint64_t value) {
    RunPath();
    path_.Write(0, which, value, mcu::HpcPrivilege::kUser, cycle_++);
  }
  uint64_t Read(HpcRegister which) {
    RunPath();
    return path_.Read(0, which, cycle_++);
  }

  uint64_t cycle_ = 0;
  mcu::HpcReadPath path_;
};

uint64_t EagerCycles(uint32_t counters, const mcu::HpcTiming& timing) {
  Program program(timing);
  const uint64_t start = program.cycle();
  program.Start(counters);
  for (uint32_t i = 0; i < counters; ++i) {
    program.AwaitClear(hpc::kHpccEmpty);
    program.TakeValue(i + 1);
  }
  return program.cycle() - start;
}

uint64_t PatientCycles(uint32_t counters, const mcu::HpcTiming& timing) {
  Program program(timing);
  const uint64_t start = program.cycle();
  program.Start(counters);
  program.AwaitClear(hpc::kHpccTrigger);
  for (uint32_t i = 0; i < counters; ++i) program.TakeValue(i + 1);
  return program.cycle() - start;
}

double Gain(const ReaderCycles& cycles) {
  return static_cast<double>(cycles.patient) / static_cast<double>(cycles.eager);
}

Curve GainCurve(uint32_t lookup_cycles) {
  Curve curve{.name = absl::StrCat("a value in ", lookup_cycles, lookup_cycles == 1 ? " cycle" : " cycles")};
  for (uint32_t counters = 1; counters <= hpc::kCountersPerManager; ++counters) {
    const ReaderCycles cycles = CyclesToRead(counters, {.lookup_cycles = lookup_cycles});
    curve.points.push_back({static_cast<double>(counters), Gain(cycles)});
  }
  return curve;
}

Row GainRow(uint32_t lookup_cycles) {
  const ReaderCycles cycles = CyclesToRead(hpc::kCountersPerManager, {.lookup_cycles = lookup_cycles});
  return {absl::StrFormat("hpc: 64 counters, a value in %u, patient reader's cycles of eager's", lookup_cycles),
          Gain(cycles), "x", absl::StrFormat("%u and %u cycles", cycles.patient, cycles.eager)};
}

constexpr uint32_t kRetryEvents = 64;
constexpr uint64_t kDrainCycles = 160;  // more than any answer takes

class Reader {
 public:
  explicit Reader(const HpcRetryOptions& options)
      : bitmap_(~uint64_t{0} >> (kRetryEvents - options.counters)),
        counters_(options.counters),
        // A switch in one cycle has this probability, so that n cycles have none with the probability exp(−n · rate).
        switch_probability_(-std::expm1(-options.switches_per_cycle)),
        random_(options.seed),
        path_({.slices = 1, .events = kRetryEvents}, [](size_t, mcu::HpcManagerId, auto, auto) {}) {
    path_.Switch(0, {.vm = true, .context = true, .useren = true}, 0);
  }

  // The cycles of the attempt; nullopt if it has seen a switch.
  std::optional<uint64_t> Attempt() {
    Write(HpcRegister::kHpcc, 0);
    Write(HpcRegister::kHpcm, bitmap_);
    const uint64_t begin = cycle_;
    Write(HpcRegister::kHpcc, hpc::kHpccTrigger);
    for (uint32_t i = 0; i < counters_; ++i) {
      uint64_t hpcc = hpc::kHpccEmpty;
      while ((hpcc & hpc::kHpccEmpty) != 0) {
        hpcc = Read(HpcRegister::kHpcc);
        if ((hpcc & hpc::kHpccInterrupted) != 0) return std::nullopt;
      }
      Read(HpcRegister::kHpcr);
    }
    const bool is_interrupted = (Read(HpcRegister::kHpcc) & hpc::kHpccInterrupted) != 0;
    return is_interrupted ? std::nullopt : std::optional(cycle_ - begin);
  }

  void Drain() {
    for (const uint64_t end = cycle_ + kDrainCycles; cycle_ < end;) Pass();
  }

 private:
  // To the next cycle, and a switch in it, if there is one, before the reader's access.
  void Pass() {
    ++cycle_;
    while (path_.NextStop() <= cycle_) path_.RunTo(cycle_);
    if (!std::bernoulli_distribution(switch_probability_)(random_)) return;
    path_.Write(0, HpcRegister::kHpcc, hpc::kHpccUseren | hpc::kHpccInterrupted, HpcPrivilege::kSupervisor, cycle_);
  }
  uint64_t Read(HpcRegister which) {
    Pass();
    return path_.Read(0, which, cycle_);
  }
  void Write(HpcRegister which, uint64_t value) {
    Pass();
    path_.Write(0, which, value, HpcPrivilege::kUser, cycle_);
  }

  const uint64_t bitmap_;
  const uint32_t counters_;
  const double switch_probability_;
  std::mt19937_64 random_;
  mcu::HpcReadPath path_;
  uint64_t cycle_ = 0;
};

Row RetryRow(uint32_t counters, double rate) {
  HpcRetryOptions options{.switches_per_cycle = rate, .counters = counters, .attempts = 1'000'000};
  const HpcRetries retries = MeasureHpcRetries(options);
  options.at_once = true;
  const double at_once = static_cast<double>(MeasureHpcRetries(options).interrupted);
  const auto interrupted = static_cast<double>(retries.interrupted), attempts = static_cast<double>(retries.attempts);
  return {absl::StrFormat("hpc: attempts interrupted, %u counters, %g switches a cycle", counters, rate), interrupted,
          "of 10^6",
          absl::StrFormat("%.0f expected, %+.2f sigma; at once %.0f", retries.expected * attempts,
                          (interrupted / attempts - retries.expected) / retries.sigma, at_once)};
}

}  // namespace

ReaderCycles CyclesToRead(uint32_t counters, const mcu::HpcTiming& timing) {
  return {.eager = EagerCycles(counters, timing), .patient = PatientCycles(counters, timing)};
}

RegisterReaders MeasureRegisterReaders() {
  RegisterReaders readers;
  for (const uint32_t lookup_cycles : kLookups) {
    readers.rows.push_back(GainRow(lookup_cycles));
    readers.curves.push_back(GainCurve(lookup_cycles));
  }
  return readers;
}

HpcRetries MeasureHpcRetries(const HpcRetryOptions& options) {
  HpcRetries retries{.attempts = options.attempts};
  retries.read_cycles = *Reader({.counters = options.counters}).Attempt();
  Reader reader(options);
  for (uint64_t i = 0; i < options.attempts; ++i) {
    if (!options.at_once) reader.Drain();
    if (!reader.Attempt()) ++retries.interrupted;
  }
  retries.expected = -std::expm1(-static_cast<double>(retries.read_cycles) * options.switches_per_cycle);
  retries.sigma = std::sqrt(retries.expected * (1 - retries.expected) / static_cast<double>(options.attempts));
  return retries;
}

Rows MeasureHpcRetryRates() {
  Rows rows;
  for (const uint32_t counters : {1, 8, 64}) {
    for (const double rate : {1e-5, 1e-4, 1e-3, 1e-2, 1e-1}) rows.push_back(RetryRow(counters, rate));
  }
  return rows;
}

}  // namespace sideband::bench
