// SPDX-License-Identifier: Apache-2.0
//
// The value of a change in a VCD file, as bits: x and z are 0. Values shorter than the signal need no extension: VCD
// extends with 0, or with a leftmost x or z, which are 0 too.
//   VcdValue value;
//   if (!value.Parse("01x1")) return lexer.Error("no value");   // words() is {0b0101}
#ifndef SIDEBAND_SIM_WAVEFORM_VCD_VALUE_H_
#define SIDEBAND_SIM_WAVEFORM_VCD_VALUE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/strings/string_view.h"

namespace sideband::sim {

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
