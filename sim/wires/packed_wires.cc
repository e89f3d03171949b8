// SPDX-License-Identifier: Apache-2.0
#include "sim/wires/packed_wires.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <algorithm>
#include <bit>
#include <vector>

namespace sideband::sim {
namespace {

// Each implementation has AddPopcounts' contract for a non-empty range.

// The words that contain a range of bits, and the bits of the first and the last word that belong to the range.
struct WordRange {
  size_t first;
  size_t last;    // inclusive
  uint64_t head;  // mask of the first word; also limited by the tail if it is the only word
  uint64_t tail;  // mask of the last word
};

WordRange WordsOf(CycleRange bits) {
  const size_t first = bits.begin / 64;
  const size_t last = (bits.end - 1) / 64;
  const uint64_t head = ~uint64_t{0} << bits.begin % 64;
  const uint64_t tail = ~uint64_t{0} >> (63 - (bits.end - 1) % 64);
  return {first, last, first == last ? head & tail : head, tail};
}

// --- Portable -------------------------------------------------------------------------------------------------------

uint64_t OnesPortable(uint64_t word) { return static_cast<uint64_t>(std::popcount(word)); }

uint64_t CountRowPortable(const uint64_t* row, const WordRange& range) {
  uint64_t count = OnesPortable(row[range.first] & range.head);
  if (range.first == range.last) return count;
  for (size_t i = range.first + 1; i < range.last; ++i) count += OnesPortable(row[i]);
  return count + OnesPortable(row[range.last] & range.tail);
}

void AddPopcountsPortable(BitRows words, CycleRange bits, std::span<const WireId> rows, std::span<uint64_t> sums) {
  const WordRange range = WordsOf(bits);
  for (size_t i = 0; i < rows.size(); ++i) sums[i] += CountRowPortable(words.words + rows[i] * words.stride, range);
}

#if defined(__x86_64__)
// --- AVX2 -----------------------------------------------------------------------------------------------------------

#define SIDEBAND_AVX2 __attribute__((target("avx2,popcnt")))

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

bool HasAvx2() { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("popcnt"); }

SIDEBAND_AVX2 void AddPopcountsAvx2(BitRows words, CycleRange bits, std::span<const WireId> rows,
                                    std::span<uint64_t> sums) {
  const WordRange range = WordsOf(bits);
  for (size_t i = 0; i < rows.size(); ++i) sums[i] += CountRowAvx2(words.words + rows[i] * words.stride, range);
}

// --- AVX-512 --------------------------------------------------------------------------------------------------------

#define SIDEBAND_AVX512 __attribute__((target("avx512f,avx512vpopcntdq")))

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
#endif

// --- The window -----------------------------------------------------------------------------------------------------

constexpr size_t kLineWords = 8;

// The bits of a word below `bit`, which is at most 63.
uint64_t Below(uint64_t bit) { return (uint64_t{1} << bit) - 1; }

// The history may begin and the window may end within a word, which takes an extra word.
size_t Stride(uint64_t capacity, uint64_t history) {
  const size_t words = capacity / 64 + (history + 63) / 64 + 1;
  return (words + kLineWords - 1) / kLineWords * kLineWords;
}

}  // namespace

absl::string_view PopcountPathName(PopcountPath path) {
  switch (path) {
    case PopcountPath::kPortable:
      return "portable";
    case PopcountPath::kAvx2:
      return "avx2";
    case PopcountPath::kAvx512:
      return "avx512";
  }
  return "";
}

std::span<const PopcountPath> SupportedPaths() {
  static const auto& paths = *[] {
    auto* list = new std::vector<PopcountPath>{PopcountPath::kPortable};
#if defined(__x86_64__)
    if (HasAvx2()) list->push_back(PopcountPath::kAvx2);
    if (HasAvx512()) list->push_back(PopcountPath::kAvx512);
#endif
    return list;
  }();
  return paths;
}

void AddPopcounts(PopcountPath path, BitRows words, CycleRange bits, std::span<const WireId> rows,
                  std::span<uint64_t> sums) {
  if (bits.begin == bits.end) return;
#if defined(__x86_64__)
  if (path == PopcountPath::kAvx512) return AddPopcountsAvx512(words, bits, rows, sums);
  if (path == PopcountPath::kAvx2) return AddPopcountsAvx2(words, bits, rows, sums);
#endif
  AddPopcountsPortable(words, bits, rows, sums);
}

PackedWires::PackedWires(uint32_t wire_count, uint64_t capacity, uint64_t history, PopcountPath path)
    : wire_count_(wire_count),
      capacity_((capacity + 63) / 64 * 64),
      history_(history),
      path_(path),
      stride_(Stride(capacity_, history)),
      lines_(wire_count * stride_ / kLineWords) {}

void PackedWires::Reset(uint64_t begin) {
  range_ = {begin, begin};
  storage_begin_ = StorageBegin();
  std::fill(lines_.begin(), lines_.end(), Line{});
}

void PackedWires::Slide() {
  range_.begin = range_.end;
  const size_t forgotten = (StorageBegin() - storage_begin_) / 64;
  storage_begin_ = StorageBegin();
  for (WireId wire = 0; wire < wire_count_; ++wire) {
    uint64_t* const words = row(wire);
    // The words after the old window become those of the new window, with the bits set so far; the rest starts at 0.
    std::copy(words + forgotten, words + stride_, words);
    std::fill(words + stride_ - forgotten, words + stride_, 0);
  }
}

void PackedWires::SetRun(WireId wire, CycleRange run) {
  if (run.begin >= run.end) return;
  uint64_t* const words = row(wire);
  const uint64_t begin = run.begin - storage_begin_;
  const uint64_t end = run.end - storage_begin_;
  const uint64_t first = begin / 64;
  const uint64_t last = end / 64;
  const uint64_t head = ~Below(begin % 64);
  if (first == last) {
    words[first] |= head & Below(end % 64);
    return;
  }
  words[first] |= head;
  std::fill(words + first + 1, words + last, ~uint64_t{0});
  if (end % 64 != 0) words[last] |= Below(end % 64);
}

bool PackedWires::Bit(WireId wire, uint64_t cycle) const {
  const uint64_t bit = cycle - storage_begin_;
  return (row(wire)[bit / 64] >> bit % 64 & 1) != 0;
}

std::span<const uint64_t> PackedWires::words(WireId wire) const {
  const size_t skipped = (range_.begin - storage_begin_) / 64;
  return {row(wire) + skipped, (range_.begin % 64 + capacity_ + 63) / 64};
}

void PackedWires::AddCounts(CycleRange range, std::span<const WireId> wires, std::span<uint64_t> sums) const {
  const uint64_t begin = std::max(range.begin, history_begin());
  const uint64_t end = std::min(range.end, range_.end);
  if (begin >= end) return;
  AddPopcounts(path_, {row(0), stride_}, {begin - storage_begin_, end - storage_begin_}, wires, sums);
}

}  // namespace sideband::sim
