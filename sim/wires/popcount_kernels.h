// SPDX-License-Identifier: Apache-2.0
//
// The implementations behind popcount.h, for popcount.cc only. Each has AddPopcounts' contract for a non-empty range.
//   AddPopcountsAvx2(words, bits, rows, sums);   // only where the processor has it
#ifndef SIDEBAND_SIM_WIRES_POPCOUNT_KERNELS_H_
#define SIDEBAND_SIM_WIRES_POPCOUNT_KERNELS_H_

#include <cstdint>
#include <span>

#include "sim/wires/popcount.h"

namespace sideband::sim {

// The words that contain a range of bits, and the bits of the first and the last word that belong to the range.
struct WordRange {
  size_t first;
  size_t last;    // inclusive
  uint64_t head;  // mask of the first word; also limited by the tail if it is the only word
  uint64_t tail;  // mask of the last word
};

inline WordRange WordsOf(CycleRange bits) {
  const size_t first = bits.begin / 64;
  const size_t last = (bits.end - 1) / 64;
  const uint64_t head = ~uint64_t{0} << bits.begin % 64;
  const uint64_t tail = ~uint64_t{0} >> (63 - (bits.end - 1) % 64);
  return {first, last, first == last ? head & tail : head, tail};
}

void AddPopcountsPortable(BitRows words, CycleRange bits, std::span<const WireId> rows, std::span<uint64_t> sums);

#if defined(__x86_64__)
bool HasAvx2();
void AddPopcountsAvx2(BitRows words, CycleRange bits, std::span<const WireId> rows, std::span<uint64_t> sums);

bool HasAvx512();
void AddPopcountsAvx512(BitRows words, CycleRange bits, std::span<const WireId> rows, std::span<uint64_t> sums);
#endif

}  // namespace sideband::sim

#endif  // SIDEBAND_SIM_WIRES_POPCOUNT_KERNELS_H_
