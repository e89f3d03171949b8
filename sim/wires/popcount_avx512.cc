// SPDX-License-Identifier: Apache-2.0
#if defined(__x86_64__)
#include <immintrin.h>

#include <algorithm>

#include "sim/wires/popcount_kernels.h"

#define SIDEBAND_AVX512 __attribute__((target("avx512f,avx512vpopcntdq")))

namespace sideband::sim {
namespace {

constexpr size_t kAvx512Lanes = 8;  // words per vector
constexpr size_t kRows = 8;         // rows whose sums are folded together

// The vectors that contain a range of bits, numbered from the row's begin so that an aligned row is read aligned; and
// the words and bits of the first and the last vector that belong to the range.
struct VectorRange {
  size_t first;
  size_t last;  // inclusive
  __mmask8 head_words, tail_words;
  __m512i head, tail;
};

SIDEBAND_AVX512 inline __m512i LoadAvx512(const uint64_t* words) { return _mm512_loadu_si512(words); }

SIDEBAND_AVX512 VectorRange VectorsOf(CycleRange bits) {
  const WordRange words = WordsOf(bits);
  VectorRange range;
  range.first = words.first / kAvx512Lanes;
  range.last = words.last / kAvx512Lanes;
  const auto from_first = static_cast<__mmask8>(0xff << words.first % kAvx512Lanes);
  const auto to_last = static_cast<__mmask8>(0xff >> (kAvx512Lanes - 1 - words.last % kAvx512Lanes));
  alignas(64) uint64_t head[kAvx512Lanes];
  alignas(64) uint64_t tail[kAvx512Lanes];
  std::fill(head, head + kAvx512Lanes, ~uint64_t{0});
  std::fill(tail, tail + kAvx512Lanes, ~uint64_t{0});
  head[words.first % kAvx512Lanes] = words.head;
  tail[words.last % kAvx512Lanes] = words.tail;
  if (range.first == range.last) head[words.last % kAvx512Lanes] &= words.tail;
  range.head_words = range.first == range.last ? from_first & to_last : from_first;
  range.tail_words = to_last;
  range.head = LoadAvx512(head);
  range.tail = LoadAvx512(tail);
  return range;
}

// Masked-out words are not read: they may lie outside the row's memory.
SIDEBAND_AVX512 inline __m512i MaskedOnes(const uint64_t* words, __mmask8 which, __m512i bits) {
  return _mm512_popcnt_epi64(_mm512_and_si512(_mm512_maskz_loadu_epi64(which, words), bits));
}

SIDEBAND_AVX512 inline __m512i OnesAvx512(const uint64_t* words) { return _mm512_popcnt_epi64(LoadAvx512(words)); }

SIDEBAND_AVX512 inline __m512i Add(__m512i a, __m512i b) { return _mm512_add_epi64(a, b); }

// The ones of a row, as eight partial counts.
SIDEBAND_AVX512 inline __m512i CountRowAvx512(const uint64_t* row, const VectorRange& range) {
  __m512i a = MaskedOnes(row + range.first * kAvx512Lanes, range.head_words, range.head);
  if (range.first == range.last) return a;
  __m512i b = MaskedOnes(row + range.last * kAvx512Lanes, range.tail_words, range.tail);
  const uint64_t* words = row + (range.first + 1) * kAvx512Lanes;
  const uint64_t* const end = row + range.last * kAvx512Lanes;
  // Two independent sums shorten the chain of dependent additions.
  for (; words + 4 * kAvx512Lanes <= end; words += 4 * kAvx512Lanes) {
    a = Add(a, Add(OnesAvx512(words), OnesAvx512(words + kAvx512Lanes)));
    b = Add(b, Add(OnesAvx512(words + 2 * kAvx512Lanes), OnesAvx512(words + 3 * kAvx512Lanes)));
  }
  for (; words < end; words += kAvx512Lanes) a = Add(a, OnesAvx512(words));
  return Add(a, b);
}

// Folds two rows: even lanes are sums of pairs of `a`, odd lanes sums of pairs of `b`.
SIDEBAND_AVX512 inline __m512i FoldLanes(__m512i a, __m512i b) {
  return Add(_mm512_unpacklo_epi64(a, b), _mm512_unpackhi_epi64(a, b));
}

// Adds, in units of 128 bits, the first to the second and the third to the fourth of `a`, then the same of `b`.
SIDEBAND_AVX512 inline __m512i FoldQuarters(__m512i a, __m512i b) {
  return Add(_mm512_shuffle_i64x2(a, b, 0b10'00'10'00), _mm512_shuffle_i64x2(a, b, 0b11'01'11'01));
}

// Lane r of the result is the sum of the lanes of rows[r]: a transposition and an addition together.
SIDEBAND_AVX512 inline __m512i SumOfEach(const __m512i (&rows)[kRows]) {
  const __m512i ab = FoldQuarters(FoldLanes(rows[0], rows[1]), FoldLanes(rows[2], rows[3]));
  const __m512i cd = FoldQuarters(FoldLanes(rows[4], rows[5]), FoldLanes(rows[6], rows[7]));
  return FoldQuarters(ab, cd);
}

SIDEBAND_AVX512 inline void AddTo(uint64_t* sums, size_t count, __m512i more) {
  const auto which = static_cast<__mmask8>(0xff >> (kRows - count));
  _mm512_mask_storeu_epi64(sums, which, Add(_mm512_maskz_loadu_epi64(which, sums), more));
}

// Unrolled, so that the parts stay in registers.
SIDEBAND_AVX512 inline void AddEight(BitRows words, const VectorRange& range, const WireId* rows, uint64_t* sums) {
  __m512i parts[kRows];
#pragma unroll
  for (size_t r = 0; r < kRows; ++r) parts[r] = CountRowAvx512(words.words + rows[r] * words.stride, range);
  AddTo(sums, kRows, SumOfEach(parts));
}

}  // namespace

bool HasAvx512() { return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vpopcntdq"); }

SIDEBAND_AVX512 void AddPopcountsAvx512(BitRows words, CycleRange bits, std::span<const WireId> rows,
                                        std::span<uint64_t> sums) {
  const VectorRange range = VectorsOf(bits);
  size_t i = 0;
  for (; i + kRows <= rows.size(); i += kRows) AddEight(words, range, rows.data() + i, sums.data() + i);
  __m512i parts[kRows] = {};
  for (size_t r = i; r < rows.size(); ++r) parts[r - i] = CountRowAvx512(words.words + rows[r] * words.stride, range);
  if (i < rows.size()) AddTo(sums.data() + i, rows.size() - i, SumOfEach(parts));
}

}  // namespace sideband::sim
#endif  // defined(__x86_64__)
