// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "proto/base/status_macros.h"
#include "sim/riscv/core.h"
#include "sim/riscv/kernels/kernels.h"
#include "sim/riscv/machine.h"
#include "sim/riscv/memory.h"
#include "sim/riscv/program_source.h"
#include "sim/riscv/shape.h"
#include "sim/riscv/system_calls.h"
#include "tests/lab/bench/benchmarks.h"
#include "tests/lab/bench/linux_program.h"
#include "tests/lab/bench/stopwatch.h"

namespace sideband::bench {
namespace {

using riscv::CoreEvent;
using riscv::Kernel;
using riscv::SliceEvent;

constexpr uint64_t kInstructions = 200'000'000;  // without caches, and under qemu
constexpr uint64_t kCachedInstructions = 20'000'000;
constexpr uint64_t kCachedStep = uint64_t{1} << 20;
constexpr int kProgramRounds = 3;

struct BareRun {
  uint64_t instructions;
  double seconds;
  std::string output;
};

BareRun RunBare(const Kernel& kernel, uint64_t iterations) {
  riscv::Memory memory(riscv::kProgramBase, kProgramMemoryBytes);
  memory.Write(riscv::kProgramBase, kernel.words);
  riscv::LinuxCalls calls;
  riscv::Core core(memory, {.environment = &calls});
  core.set_x(2, memory.end() - 32);
  core.set_x(10, iterations);
  const double seconds = SecondsOf([&] { core.Run(~uint64_t{0}); });
  return {core.instructions(), seconds, calls.output()};
}

// So many that the kernel runs for about kInstructions.
uint64_t IterationsOf(const Kernel& kernel) {
  const uint64_t one = RunBare(kernel, 1).instructions;
  return 1 + kInstructions / (RunBare(kernel, 2).instructions - one);
}

absl::StatusOr<std::unique_ptr<riscv::Machine>> MakeMachine(const Kernel& kernel) {
  return riscv::Machine::Create({}, {{.words = {kernel.words.begin(), kernel.words.end()},
                                      .argument = ~uint64_t{0},
                                      .instructions_max = kCachedInstructions}});
}

absl::Status CheckMisses(const Kernel& kernel, const riscv::Machine& machine) {
  const uint64_t misses = machine.Sum(CoreEvent::kL1iReadMiss) + machine.Sum(CoreEvent::kL1dReadMiss) +
                          machine.Sum(CoreEvent::kL1dWriteMiss);
  if (machine.Sum(SliceEvent::kRead) == misses) return absl::OkStatus();
  return absl::InternalError(
      absl::StrCat(kernel.name, ": ", machine.Sum(SliceEvent::kRead), " reads of the L2, ", misses, " misses"));
}

absl::StatusOr<double> MeasureCached(const Kernel& kernel) {
  SIDEBAND_ASSIGN_OR_RETURN(const auto machine, MakeMachine(kernel));
  const double seconds = SecondsOf([&] {
    while (!machine->halted()) machine->RunTo(machine->cycle() + kCachedStep);
  });
  SIDEBAND_RETURN_IF_ERROR(CheckMisses(kernel, *machine));
  return kCachedInstructions / seconds;
}

// The wires are set, and counted once.
absl::StatusOr<double> MeasureWired(const Kernel& kernel) {
  SIDEBAND_ASSIGN_OR_RETURN(auto machine, MakeMachine(kernel));
  riscv::ProgramSource source(std::move(machine));
  std::vector<uint64_t> sums(source.machine().wires().count());
  const double seconds = SecondsOf([&] {
    while (!source.machine().halted()) {
      const uint64_t from = source.now();
      source.Advance();
      source.AddConsecutiveCounts({from, source.now()}, 0, sums);
    }
  });
  for (sim::WireId wire = 0; wire < sums.size(); ++wire) {
    if (sums[wire] == source.machine().tally(wire)) continue;
    return absl::InternalError(absl::StrCat(kernel.name, ": ", source.machine().wires().Name(wire), " adds up to ",
                                            sums[wire], ", not ", source.machine().tally(wire)));
  }
  return kCachedInstructions / seconds;
}

// Instructions a second; 0 without qemu. The time of one iteration, which is mostly qemu's start, is left out.
absl::StatusOr<double> MeasureQemu(const Kernel& kernel, uint64_t iterations, const BareRun& bare,
                                   const std::string& scratch) {
  SIDEBAND_ASSIGN_OR_RETURN(const auto start, RunUnderQemu(kernel.words, 1, scratch));
  SIDEBAND_ASSIGN_OR_RETURN(const auto run, RunUnderQemu(kernel.words, iterations, scratch));
  if (!start || !run) return 0;
  if (run->output != bare.output) {
    return absl::InternalError(absl::StrCat(kernel.name, ": ", bare.output, "under qemu ", run->output));
  }
  return static_cast<double>(bare.instructions) / (run->seconds - start->seconds);
}

// Instructions a second.
struct Speeds {
  double bare = 0;
  double cached = 0;
  double wired = 0;
  double qemu = 0;
};

absl::StatusOr<Speeds> MeasureKernel(const Kernel& kernel, const std::string& scratch) {
  const uint64_t iterations = IterationsOf(kernel);
  Speeds best;
  for (int round = 0; round < kProgramRounds; ++round) {
    const BareRun bare = RunBare(kernel, iterations);
    SIDEBAND_ASSIGN_OR_RETURN(const double cached, MeasureCached(kernel));
    SIDEBAND_ASSIGN_OR_RETURN(const double wired, MeasureWired(kernel));
    SIDEBAND_ASSIGN_OR_RETURN(const double qemu, MeasureQemu(kernel, iterations, bare, scratch));
    best.bare = std::max(best.bare, static_cast<double>(bare.instructions) / bare.seconds);
    best.cached = std::max(best.cached, cached);
    best.wired = std::max(best.wired, wired);
    best.qemu = std::max(best.qemu, qemu);
  }
  return best;
}

Row RowOfSpeeds(const std::string& name, const Speeds& speeds) {
  std::string note = absl::StrFormat("%.0f with caches, %.0f with wires", speeds.cached / 1e6, speeds.wired / 1e6);
  if (speeds.qemu > 0)
    absl::StrAppend(&note, absl::StrFormat("; qemu-user %.1f times as fast", speeds.qemu / speeds.bare));
  return {absl::StrCat("program: ", name), speeds.bare / 1e6, "M instr/s", std::move(note)};
}

// The geometric mean.
class Mean {
 public:
  void Add(double value) {
    sum_ += std::log(value);
    ++count_;
  }
  double value() const { return count_ == 0 ? 0 : std::exp(sum_ / count_); }

 private:
  double sum_ = 0;
  int count_ = 0;
};

}  // namespace

absl::StatusOr<Rows> MeasureProgramSpeed(const std::string& scratch) {
  Rows rows;
  Mean bare, cached, wired, qemu;
  for (const Kernel& kernel : riscv::Kernels()) {
    SIDEBAND_ASSIGN_OR_RETURN(const Speeds speeds, MeasureKernel(kernel, scratch));
    rows.push_back(RowOfSpeeds(std::string(kernel.name), speeds));
    bare.Add(speeds.bare);
    cached.Add(speeds.cached);
    wired.Add(speeds.wired);
    if (speeds.qemu > 0) qemu.Add(speeds.qemu);
  }
  rows.push_back(
      RowOfSpeeds("geometric mean of all kernels", {bare.value(), cached.value(), wired.value(), qemu.value()}));
  return rows;
}

}  // namespace sideband::bench
