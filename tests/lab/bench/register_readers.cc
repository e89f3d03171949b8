// SPDX-License-Identifier: Apache-2.0
#include "tests/lab/bench/register_readers.h"

#include <cstdio>
#include <cstdlib>
#include <span>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "secure_mcu/chip/hpc_read_path.h"

namespace sideband::bench {
namespace {

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

}  // namespace sideband::bench
