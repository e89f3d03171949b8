// SPDX-License-Identifier: Apache-2.0
//
// Counts the ones in the same range of bits of many rows of words, with the widest instructions of the processor.
//   AddPopcounts(FastestPath(), {words.data(), stride}, {100, 1000}, rows, sums);   // sums[i] += ones of rows[i]
#ifndef SIDEBAND_SIM_WIRES_POPCOUNT_H_
#define SIDEBAND_SIM_WIRES_POPCOUNT_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "absl/strings/string_view.h"
#include "sim/wires/wire_source.h"

namespace sideband::sim {

// Implementations, slowest first. kAvx512 requires VPOPCNTDQ.
enum class PopcountPath { kPortable, kAvx2, kAvx512 };

absl::string_view PopcountPathName(PopcountPath path);  // "portable", "avx2", "avx512"

// The implementations supported by this processor, slowest first; always includes kPortable.
std::span<const PopcountPath> SupportedPaths();
inline PopcountPath FastestPath() { return SupportedPaths().back(); }

// Row r starts at words + r × stride; bit b of a row is bit b % 64 of its word b / 64. `words` aligned to 64 bytes and
// `stride` a multiple of 8 words are faster, but not required.
struct BitRows {
  const uint64_t* words;
  size_t stride;
};

// Adds to sums[i] the ones of row rows[i] in `bits`, whose begin must not exceed its end. Reads no word outside that
// range. Both spans have the same size; `path` must be supported. All paths compute the same sums.
void AddPopcounts(PopcountPath path, BitRows words, CycleRange bits, std::span<const WireId> rows,
                  std::span<uint64_t> sums);

}  // namespace sideband::sim

#endif  // SIDEBAND_SIM_WIRES_POPCOUNT_H_
