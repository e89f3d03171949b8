// SPDX-License-Identifier: Apache-2.0
#include "sim/waveform/vcd_value.h"

#include <algorithm>
#include <array>

namespace sideband::sim {
namespace {

constexpr uint8_t kUnknown = 2;  // x and z; the lowest bit is the value
constexpr uint8_t kNotADigit = 4;

constexpr std::array<uint8_t, 256> kDigits = [] {
  std::array<uint8_t, 256> table{};
  table.fill(kNotADigit);
  table['0'] = 0;
  table['1'] = 1;
  table['l'] = table['L'] = 0;
  table['h'] = table['H'] = 1;
  for (const unsigned char c : {'x', 'X', 'z', 'Z', 'u', 'U', 'w', 'W', '-'}) table[c] = kUnknown;
  return table;
}();

}  // namespace

bool VcdValue::Parse(absl::string_view digits) {
  digits_ = digits.size();
  words_.clear();
  uint8_t seen = 0;
  while (!digits.empty()) {
    const size_t size = std::min<size_t>(digits.size(), 64);
    uint64_t word = 0;
    for (const char c : digits.substr(digits.size() - size)) {
      const uint8_t digit = kDigits[static_cast<unsigned char>(c)];
      seen |= digit;
      word = word << 1 | (digit & 1);
    }
    words_.push_back(word);
    digits.remove_suffix(size);
  }
  return digits_ > 0 && (seen & kNotADigit) == 0;
}

}  // namespace sideband::sim
