// SPDX-License-Identifier: Apache-2.0
//
// Parses binary digits and counts lines, eight bytes at a time.
//   const char* end = SkipBinary(text);                             // behind 0101…
//   uint64_t value = BinaryValue(text, end - text);
#ifndef SIDEBAND_SIM_WAVEFORM_VCD_DIGITS_H_
#define SIDEBAND_SIM_WAVEFORM_VCD_DIGITS_H_

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "absl/strings/string_view.h"

namespace sideband::sim {

// The number of bytes that these functions may read behind the text.
inline constexpr size_t kVcdDigitsOverread = 8;

namespace vcd_digits_internal {

static_assert(std::endian::native == std::endian::little, "the first byte of a text is taken for the lowest of a word");
inline constexpr uint64_t kOnes = 0x0101010101010101;

inline uint64_t Load(const char* text) {
  uint64_t word;
  std::memcpy(&word, text, sizeof(word));
  return word;
}

// The lowest bits of eight bytes, with the first byte's bit on top. The multiplication moves byte i to bit 56 + (7 -
// i); all other partial products have distinct places and do not carry.
inline uint64_t Pack(uint64_t word) { return (word & kOnes) * 0x8040201008040201 >> 56; }

}  // namespace vcd_digits_internal

// The first byte that is neither 0 nor 1; there must be such a byte.
inline const char* SkipBinary(const char* text) {
  using namespace vcd_digits_internal;
  for (;; text += 8) {
    const uint64_t others = (Load(text) ^ '0' * kOnes) & 0xfe * kOnes;
    if (others != 0) return text + std::countr_zero(others) / 8;
  }
}

// The number with `size` binary digits, at most 64, the most significant first.
inline uint64_t BinaryValue(const char* digits, size_t size) {
  using namespace vcd_digits_internal;
  uint64_t value = 0;
  for (; size >= 8; size -= 8, digits += 8) value = value << 8 | Pack(Load(digits));
  return value << size | Pack(Load(digits)) >> (8 - size);
}

// The number of line feeds. Reads nothing behind the end of the text.
inline uint64_t CountLines(absl::string_view text) {
  using namespace vcd_digits_internal;
  constexpr uint64_t kLow7 = 0x7f * kOnes;
  uint64_t lines = 0;
  while (text.size() >= 8) {
    // Counts per byte overflow after 255 words.
    uint64_t counts = 0;
    for (size_t words = std::min<size_t>(text.size() / 8, 255); words > 0; --words, text.remove_prefix(8)) {
      const uint64_t zero_if_feed = Load(text.data()) ^ '\n' * kOnes;
      counts += ~(((zero_if_feed & kLow7) + kLow7) | zero_if_feed | kLow7) >> 7;
    }
    const uint64_t pairs = (counts & 0x00ff00ff00ff00ff) + (counts >> 8 & 0x00ff00ff00ff00ff);
    lines += pairs * 0x0001000100010001 >> 48;
  }
  return lines + static_cast<uint64_t>(std::count(text.begin(), text.end(), '\n'));
}

}  // namespace sideband::sim

#endif  // SIDEBAND_SIM_WAVEFORM_VCD_DIGITS_H_
