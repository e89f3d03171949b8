// SPDX-License-Identifier: Apache-2.0
//
// Twelve programs of our own for a core, each with its data and its checksum; README.md says what they do.
//   const Kernel* const sort = FindKernel("sort");
//   const CoreProgram program{.words = {sort->words.begin(), sort->words.end()}, .argument = /*iterations=*/100};
// A kernel computes for as many iterations as its argument says, writes its checksum in 16 hexadecimal digits and a
// line break, and exits with 0. Its memory must have 2 MiB. (registers.md, "Experiments")
#ifndef SIDEBAND_SIM_RISCV_KERNELS_KERNELS_H_
#define SIDEBAND_SIM_RISCV_KERNELS_KERNELS_H_

#include <cstdint>
#include <span>

#include "absl/strings/string_view.h"

namespace sideband::riscv {

struct Kernel {
  absl::string_view name;
  std::span<const uint32_t> words;  // at kProgramBase (sim/riscv/program.h)
};

// In the order of their names.
std::span<const Kernel> Kernels();
// nullptr if there is none of that name.
const Kernel* FindKernel(absl::string_view name);

}  // namespace sideband::riscv

#endif  // SIDEBAND_SIM_RISCV_KERNELS_KERNELS_H_
