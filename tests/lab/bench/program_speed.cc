// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "proto/base/bytes.h"
#include "proto/base/file.h"
#include "proto/base/status_macros.h"
#include "sim/riscv/core.h"
#include "sim/riscv/kernels/kernels.h"
#include "sim/riscv/machine.h"
#include "sim/riscv/program.h"
#include "sim/riscv/shape.h"
#include "tests/lab/bench/benchmarks.h"
#include "tests/lab/bench/measurement.h"

namespace sideband::bench {
namespace {

using riscv::CoreEvent;
using riscv::Kernel;
using riscv::SliceEvent;

// The program's memory, its words included.
inline constexpr uint64_t kProgramMemoryBytes = uint64_t{2} << 20;

struct LinuxRun {
  std::string output;
  double seconds;  // processor time of qemu
};

constexpr uint64_t kHeaderBytes = 0x40 + 0x38;
constexpr uint64_t kPageBytes = 0x1000;

// An executable with one segment, which can be read, written and executed (System V ABI, chapters 4 and 5).
Bytes ElfFile(std::span<const uint32_t> words) {
  ByteWriter out;
  out.U32(0x464c457f);  // magic
  out.U32(0x00010102);  // 64 bits, little-endian, version 1, System V
  out.U64(0);
  out.U16(2);                    // executable
  out.U16(243);                  // RISC-V
  out.U32(1);                    // version
  out.U64(riscv::kProgramBase);  // entry
  out.U64(0x40);                 // of the table of segments
  out.U64(0);                    // no sections
  out.U32(0);                    // flags: no compressed instructions, no floating point
  out.U16(0x40);                 // of this header
  out.U16(0x38);                 // of a segment's
  out.U16(1);                    // segments
  out.U16(0);
  out.U16(0);
  out.U16(0);

  out.U32(1);           // loaded
  out.U32(7);           // read, write, execute
  out.U64(kPageBytes);  // in the file
  out.U64(riscv::kProgramBase);
  out.U64(riscv::kProgramBase);
  out.U64(words.size_bytes());
  out.U64(kProgramMemoryBytes);
  out.U64(kPageBytes);  // alignment
  for (uint64_t i = kHeaderBytes; i < kPageBytes; ++i) out.U8(0);
  for (const uint32_t word : words) out.U32(word);
  return std::move(out).Take();
}

// A file that is removed with this object.
class ScratchFile {
 public:
  explicit ScratchFile(std::string path) : path_(std::move(path)) {}
  ~ScratchFile() { ::unlink(path_.c_str()); }
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;

  const std::string& path() const { return path_; }

 private:
  const std::string path_;
};

absl::Status WriteProgram(std::span<const uint32_t> words, const std::string& path) {
  const Bytes bytes = ElfFile(words);
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  file.close();
  return file && ::chmod(path.c_str(), 0700) == 0 ? absl::OkStatus() : ErrnoStatus(errno, path);
}

double TimevalSeconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

// The processor time of qemu; nullopt if there is none.
absl::StatusOr<std::optional<double>> Spawn(const std::string& program, uint64_t iterations,
                                            const std::string& output) {
  const std::string argument = absl::StrCat(iterations);
  const char* const arguments[] = {"qemu-riscv64", program.c_str(), argument.c_str(), nullptr};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  pid_t child = 0;
  const int error = posix_spawnp(&child, arguments[0], &actions, nullptr, const_cast<char* const*>(arguments), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error == ENOENT) return std::nullopt;
  if (error != 0) return ErrnoStatus(error, arguments[0]);
  int status = 0;
  rusage usage;
  while (::wait4(child, &status, 0, &usage) < 0) {
    if (errno != EINTR) return ErrnoStatus(errno, arguments[0]);
  }
  if (status != 0) return absl::InternalError(absl::StrCat("qemu-riscv64 ended with status ", status));
  return TimevalSeconds(usage.ru_utime) + TimevalSeconds(usage.ru_stime);
}

// Runs the words of a kernel as a Linux program of riscv64, under qemu's user mode.
// nullopt if there is no qemu-riscv64. INTERNAL if the program does not end with 0. The program and its output are
// files in the folder `scratch` during the call.
absl::StatusOr<std::optional<LinuxRun>> RunUnderQemu(std::span<const uint32_t> words, uint64_t iterations,
                                                     const std::string& scratch) {
  const ScratchFile program(absl::StrCat(scratch, "/kernel.elf")), output(absl::StrCat(scratch, "/kernel.out"));
  SIDEBAND_RETURN_IF_ERROR(WriteProgram(words, program.path()));
  SIDEBAND_ASSIGN_OR_RETURN(const std::optional<double> seconds, Spawn(program.path(), iterations, output.path()));
  if (!seconds) return std::nullopt;
  SIDEBAND_ASSIGN_OR_RETURN(std::string text, ReadFile(output.path()));
  return LinuxRun{std::move(text), *seconds};
}

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

constexpr uint64_t kMissesStep = uint64_t{1} << 20;

struct Traffic {
  uint64_t reads;
  uint64_t writes;
};

// The cores of the machine have halted.
absl::StatusOr<Traffic> TrafficOf(const Kernel& kernel, const riscv::Machine& machine) {
  const uint64_t misses = machine.Sum(CoreEvent::kL1iReadMiss) + machine.Sum(CoreEvent::kL1dReadMiss) +
                          machine.Sum(CoreEvent::kL1dWriteMiss);
  const uint64_t writebacks = machine.Sum(CoreEvent::kL1dWriteback);
  const Traffic traffic{machine.Sum(SliceEvent::kRead), machine.Sum(SliceEvent::kWrite)};
  if (traffic.reads == misses && traffic.writes == writebacks) return traffic;
  return absl::InternalError(absl::StrCat(kernel.name, ": the L2 has ", traffic.reads, " reads and ", traffic.writes,
                                          " writes, the L1s ", misses, " misses and ", writebacks, " write-backs"));
}

absl::StatusOr<Traffic> RunOnCores(const Kernel& kernel, uint32_t cores, uint64_t instructions) {
  const riscv::CoreProgram program{.words = {kernel.words.begin(), kernel.words.end()},
                                   .argument = ~uint64_t{0},
                                   .instructions_max = instructions / cores};
  SIDEBAND_ASSIGN_OR_RETURN(const auto machine,
                            riscv::Machine::Create({.cores = cores}, std::vector<riscv::CoreProgram>(cores, program)));
  while (!machine->halted()) machine->RunTo(machine->cycle() + kMissesStep);
  return TrafficOf(kernel, *machine);
}

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

absl::StatusOr<Rows> MeasureKernelMisses(uint64_t instructions) {
  Rows rows;
  for (const Kernel& kernel : riscv::Kernels()) {
    for (const uint32_t cores : {1, 2, 4}) {
      SIDEBAND_ASSIGN_OR_RETURN(const Traffic traffic, RunOnCores(kernel, cores, instructions));
      rows.push_back({absl::StrFormat("kernel: %s on %u cores, reads of the L2", kernel.name, cores),
                      static_cast<double>(traffic.reads), "",
                      absl::StrFormat("= misses of the L1s; %u writes = their write-backs", traffic.writes)});
    }
  }
  return rows;
}

}  // namespace sideband::bench
