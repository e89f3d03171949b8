// SPDX-License-Identifier: Apache-2.0
#include <bit>

#include "sim/wires/popcount_kernels.h"

namespace sideband::sim {
namespace {

uint64_t OnesPortable(uint64_t word) { return static_cast<uint64_t>(std::popcount(word)); }

uint64_t CountRowPortable(const uint64_t* row, const WordRange& range) {
  uint64_t count = OnesPortable(row[range.first] & range.head);
  if (range.first == range.last) return count;
  for (size_t i = range.first + 1; i < range.last; ++i) count += OnesPortable(row[i]);
  return count + OnesPortable(row[range.last] & range.tail);
}

}  // namespace

void AddPopcountsPortable(BitRows words, CycleRange bits, std::span<const WireId> rows, std::span<uint64_t> sums) {
  const WordRange range = WordsOf(bits);
  for (size_t i = 0; i < rows.size(); ++i) sums[i] += CountRowPortable(words.words + rows[i] * words.stride, range);
}

}  // namespace sideband::sim
