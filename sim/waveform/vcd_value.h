// SPDX-License-Identifier: Apache-2.0
//
// The value of one change in a VCD file, as bits: x and z are 0. What is shorter than its signal is meant to be
// extended with 0, or with the leftmost digit where that is x or z, which are 0 too.
//   VcdValue value;
//   if (!value.Parse("01x1")) return lexer.Error("…");   // words() is {0b0101}
#ifndef SIDEBAND_SIM_WAVEFORM_VCD_VALUE_H_
#define SIDEBAND_SIM_WAVEFORM_VCD_VALUE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/strings/string_view.h"

namespace sideband::sim {

// Keeps its memory from one value to the next.
class VcdValue {
 public:
  // Binary digits 0, 1, x and z, the most significant first, or VHDL's: u, w and - are as x, l as 0, h as 1. Upper case
  // as well. False for anything else and for no digit; the value is then unspecified.
  bool Parse(absl::string_view digits);

  size_t digits() const { return digits_; }
  // 64 bits each, the least significant first; as many as the digits need.
  std::span<const uint64_t> words() const { return words_; }

 private:
  std::vector<uint64_t> words_;
  size_t digits_ = 0;
};

}  // namespace sideband::sim

#endif  // SIDEBAND_SIM_WAVEFORM_VCD_VALUE_H_
