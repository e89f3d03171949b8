// SPDX-License-Identifier: Apache-2.0
//
// Counts the ones of one range of bits in many rows of words, as fast as the processor can.
//   AddPopcounts(FastestPath(), {words.data(), stride}, {100, 1000}, rows, sums);   // sums[i] += ones of rows[i]
#ifndef SIDEBAND_SIM_WIRES_POPCOUNT_H_
#define SIDEBAND_SIM_WIRES_POPCOUNT_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "absl/strings/string_view.h"
#include "sim/wires/wire_source.h"

namespace sideband::sim {

// Ways to count, slowest first. kAvx512 needs VPOPCNTDQ.
enum class PopcountPath { kPortable, kAvx2, kAvx512 };

absl::string_view PopcountPathName(PopcountPath path);  // "portable", "avx2", "avx512"

// What this processor has, slowest first; kPortable is always there.
std::span<const PopcountPath> SupportedPaths();
inline PopcountPath FastestPath() { return SupportedPaths().back(); }

// Row r starts at words + r × stride; bit b of a row is bit b % 64 of its word b / 64. Aligning `words` to 64 bytes and
// `stride` to 8 words is not needed but faster.
struct BitRows {
  const uint64_t* words;
  size_t stride;
};

// Adds to sums[i] the ones of row rows[i] among `bits`, whose begin must not exceed its end. Reads no word in which
// none of them is. Both spans have one size; `path` must be a supported one. All paths give the same sums.
void AddPopcounts(PopcountPath path, BitRows words, CycleRange bits, std::span<const WireId> rows,
                  std::span<uint64_t> sums);

}  // namespace sideband::sim

#endif  // SIDEBAND_SIM_WIRES_POPCOUNT_H_
