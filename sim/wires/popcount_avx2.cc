// SPDX-License-Identifier: Apache-2.0
#if defined(__x86_64__)
#include <immintrin.h>

#include "sim/wires/popcount_kernels.h"

#define SIDEBAND_AVX2 __attribute__((target("avx2,popcnt")))

namespace sideband::sim {
namespace {

constexpr size_t kAvx2Lanes = 4;     // words per vector
constexpr size_t kBlockVectors = 8;  // per block of carry-save adders

SIDEBAND_AVX2 inline uint64_t OnesAvx2(uint64_t word) { return static_cast<uint64_t>(__builtin_popcountll(word)); }

SIDEBAND_AVX2 inline __m256i LoadAvx2(const uint64_t* words) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(words));
}

// The ones of each of the four words, from a table for nibbles.
SIDEBAND_AVX2 inline __m256i OnesOfWords(__m256i words) {
  const __m256i ones_of_nibble =
      _mm256_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4, 0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4);
  const __m256i nibble = _mm256_set1_epi8(0x0f);
  const __m256i low = _mm256_shuffle_epi8(ones_of_nibble, _mm256_and_si256(words, nibble));
  const __m256i high = _mm256_shuffle_epi8(ones_of_nibble, _mm256_and_si256(_mm256_srli_epi64(words, 4), nibble));
  return _mm256_sad_epu8(_mm256_add_epi8(low, high), _mm256_setzero_si256());
}

SIDEBAND_AVX2 inline uint64_t Total(__m256i counts) {
  const __m128i halves = _mm_add_epi64(_mm256_castsi256_si128(counts), _mm256_extracti128_si256(counts, 1));
  return static_cast<uint64_t>(_mm_cvtsi128_si64(halves)) + static_cast<uint64_t>(_mm_extract_epi64(halves, 1));
}

// 256 full adders: stores the sum's low bits in `sum` and returns its high bits.
SIDEBAND_AVX2 inline __m256i AddBits(__m256i& sum, __m256i a, __m256i b) {
  const __m256i half = _mm256_xor_si256(sum, a);
  const __m256i carry = _mm256_or_si256(_mm256_and_si256(sum, a), _mm256_and_si256(half, b));
  sum = _mm256_xor_si256(half, b);
  return carry;
}

// Harley and Seal's method: carry-save adders combine eight vectors, so that only one vector of eight needs the table.
struct Adders {
  __m256i ones, twos, fours;
  __m256i eights;  // counts
};

SIDEBAND_AVX2 inline __m256i AddFour(Adders& adders, const uint64_t* words) {
  const __m256i twos_a = AddBits(adders.ones, LoadAvx2(words), LoadAvx2(words + kAvx2Lanes));
  const __m256i twos_b = AddBits(adders.ones, LoadAvx2(words + 2 * kAvx2Lanes), LoadAvx2(words + 3 * kAvx2Lanes));
  return AddBits(adders.twos, twos_a, twos_b);
}

SIDEBAND_AVX2 inline void AddBlock(Adders& adders, const uint64_t* words) {
  const __m256i fours_a = AddFour(adders, words);
  const __m256i fours_b = AddFour(adders, words + 4 * kAvx2Lanes);
  const __m256i eights = AddBits(adders.fours, fours_a, fours_b);
  adders.eights = _mm256_add_epi64(adders.eights, OnesOfWords(eights));
}

SIDEBAND_AVX2 inline __m256i Counts(const Adders& adders) {
  const __m256i eights = _mm256_slli_epi64(adders.eights, 3);
  const __m256i fours = _mm256_slli_epi64(OnesOfWords(adders.fours), 2);
  const __m256i twos = _mm256_slli_epi64(OnesOfWords(adders.twos), 1);
  return _mm256_add_epi64(_mm256_add_epi64(eights, fours), _mm256_add_epi64(twos, OnesOfWords(adders.ones)));
}

SIDEBAND_AVX2 uint64_t CountWords(const uint64_t* words, const uint64_t* end) {
  const __m256i zero = _mm256_setzero_si256();
  __m256i counts = zero;
  if (words + kBlockVectors * kAvx2Lanes <= end) {
    Adders adders = {zero, zero, zero, zero};
    for (; words + kBlockVectors * kAvx2Lanes <= end; words += kBlockVectors * kAvx2Lanes) AddBlock(adders, words);
    counts = Counts(adders);
  }
  for (; words + kAvx2Lanes <= end; words += kAvx2Lanes)
    counts = _mm256_add_epi64(counts, OnesOfWords(LoadAvx2(words)));
  uint64_t total = Total(counts);
  for (; words < end; ++words) total += OnesAvx2(*words);
  return total;
}

SIDEBAND_AVX2 inline uint64_t CountRowAvx2(const uint64_t* row, const WordRange& range) {
  const uint64_t head = OnesAvx2(row[range.first] & range.head);
  if (range.first == range.last) return head;
  return head + CountWords(row + range.first + 1, row + range.last) + OnesAvx2(row[range.last] & range.tail);
}

}  // namespace

bool HasAvx2() { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("popcnt"); }

SIDEBAND_AVX2 void AddPopcountsAvx2(BitRows words, CycleRange bits, std::span<const WireId> rows,
                                    std::span<uint64_t> sums) {
  const WordRange range = WordsOf(bits);
  for (size_t i = 0; i < rows.size(); ++i) sums[i] += CountRowAvx2(words.words + rows[i] * words.stride, range);
}

}  // namespace sideband::sim
#endif  // defined(__x86_64__)
