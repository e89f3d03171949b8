// SPDX-License-Identifier: Apache-2.0
//
// The value of a change in a VCD file, as bits: x and z are 0. Values shorter than the signal need no extension: VCD
// extends with 0, or with a leftmost x or z, which are 0 too. Binary digits are parsed, and lines counted, eight bytes
// at a time.
//   VcdValue value;
//   if (!value.Parse("01x1")) return lexer.Error("no value");   // words() is {0b0101}
//   const char* end = SkipBinary(text);                         // behind 0101…
//   uint64_t number = BinaryValue(text, end - text);
#ifndef SIDEBAND_SIM_WAVEFORM_VCD_VALUE_H_
#define SIDEBAND_SIM_WAVEFORM_VCD_VALUE_H_

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

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

// Reuses its memory for the next value.
class VcdValue {
 public:
  // Parses the binary digits 0, 1, x and z, the most significant first, or VHDL's: u, w and - as x, l as 0, h as 1; in
  // either case. False for other characters and for no digit; the value is then unspecified.
  bool Parse(absl::string_view digits);

  size_t digits() const { return digits_; }
  // 64 bits each, the least significant word first; as many words as the digits need.
  std::span<const uint64_t> words() const { return words_; }

 private:
  std::vector<uint64_t> words_;
  size_t digits_ = 0;
};

}  // namespace sideband::sim

#endif  // SIDEBAND_SIM_WAVEFORM_VCD_VALUE_H_
