// SPDX-License-Identifier: Apache-2.0
#include "tests/lab/bench/bare_popcount.h"

#include <bit>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace sideband::bench {
namespace {

uint64_t Ones(uint64_t word) { return static_cast<uint64_t>(std::popcount(word)); }

uint64_t CountPortable(std::span<const uint64_t> words) {
  uint64_t total = 0;
  for (const uint64_t word : words) total += Ones(word);
  return total;
}

// For one long row the library's AVX2 method is the bare loop: it does no work besides counting.
uint64_t CountOneRow(sim::PopcountPath path, std::span<const uint64_t> words) {
  const sim::WireId row = 0;
  uint64_t sum = 0;
  sim::AddPopcounts(path, {words.data(), 0}, {0, words.size() * 64}, std::span(&row, 1), std::span(&sum, 1));
  return sum;
}

#if defined(__x86_64__)
#define SIDEBAND_AVX512 __attribute__((target("avx512f,avx512vpopcntdq")))

constexpr size_t kLanes = 8;
constexpr size_t kVectorStep = 4 * kLanes;

SIDEBAND_AVX512 inline __m512i OnesOf(const uint64_t* words) { return _mm512_popcnt_epi64(_mm512_loadu_si512(words)); }

SIDEBAND_AVX512 uint64_t CountAvx512(std::span<const uint64_t> words) {
  __m512i a = _mm512_setzero_si512(), b = a, c = a, d = a;
  size_t i = 0;
  for (; i + kVectorStep <= words.size(); i += kVectorStep) {
    a = _mm512_add_epi64(a, OnesOf(words.data() + i));
    b = _mm512_add_epi64(b, OnesOf(words.data() + i + kLanes));
    c = _mm512_add_epi64(c, OnesOf(words.data() + i + 2 * kLanes));
    d = _mm512_add_epi64(d, OnesOf(words.data() + i + 3 * kLanes));
  }
  uint64_t lanes[kLanes];
  _mm512_storeu_si512(lanes, _mm512_add_epi64(_mm512_add_epi64(a, b), _mm512_add_epi64(c, d)));
  uint64_t total = CountPortable(words.subspan(i));
  for (const uint64_t lane : lanes) total += lane;
  return total;
}
#endif

}  // namespace

uint64_t BarePopcount(sim::PopcountPath path, std::span<const uint64_t> words) {
#if defined(__x86_64__)
  if (path == sim::PopcountPath::kAvx512) return CountAvx512(words);
#endif
  if (path == sim::PopcountPath::kAvx2) return CountOneRow(path, words);
  return CountPortable(words);
}

}  // namespace sideband::bench
