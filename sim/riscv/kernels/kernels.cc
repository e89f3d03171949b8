// SPDX-License-Identifier: Apache-2.0
#include "sim/riscv/kernels/kernels.h"

#include <algorithm>

namespace sideband::riscv {
namespace {

// Generated from the .hex files: an array NAME_words for each.
#include "sim/riscv/kernels/kernel_words.inc"

constexpr Kernel kKernels[] = {
    {"bytes", bytes_words},   {"chase", chase_words}, {"crc", crc_words},       {"edit", edit_words},
    {"graph", graph_words},   {"hash", hash_words},   {"matrix", matrix_words}, {"queens", queens_words},
    {"search", search_words}, {"sieve", sieve_words}, {"sort", sort_words},     {"stream", stream_words},
};

}  // namespace

std::span<const Kernel> Kernels() { return kKernels; }

const Kernel* FindKernel(absl::string_view name) {
  const auto* const found =
      std::find_if(std::begin(kKernels), std::end(kKernels), [&](const Kernel& kernel) { return kernel.name == name; });
  return found == std::end(kKernels) ? nullptr : found;
}

}  // namespace sideband::riscv
