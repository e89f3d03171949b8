// SPDX-License-Identifier: Apache-2.0
//
// Runs the words of a kernel as a Linux program of riscv64, under qemu's user mode.
//   SIDEBAND_ASSIGN_OR_RETURN(const auto run, RunUnderQemu(kernel.words, /*iterations=*/100, "scratch"));
//   if (run) std::puts(run->output.c_str());
#ifndef SIDEBAND_TESTS_LAB_BENCH_LINUX_PROGRAM_H_
#define SIDEBAND_TESTS_LAB_BENCH_LINUX_PROGRAM_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "absl/status/statusor.h"

namespace sideband::bench {

// That the program has, with its words.
inline constexpr uint64_t kProgramMemoryBytes = uint64_t{2} << 20;

struct LinuxRun {
  std::string output;
  double seconds;  // processor time of qemu
};

// nullopt if there is no qemu-riscv64. INTERNAL if the program does not end with 0. The program and its output are
// files in the folder `scratch` during the call.
absl::StatusOr<std::optional<LinuxRun>> RunUnderQemu(std::span<const uint32_t> words, uint64_t iterations,
                                                     const std::string& scratch);

}  // namespace sideband::bench

#endif  // SIDEBAND_TESTS_LAB_BENCH_LINUX_PROGRAM_H_
