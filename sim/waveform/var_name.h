// SPDX-License-Identifier: Apache-2.0
//
// Takes the end of a VCD $var declaration apart: the words between its identifier code and $end.
//   ParseVarName({"mem[3]", "[7:0]"})   // name mem[3], range 7:0
#ifndef SIDEBAND_SIM_WAVEFORM_VAR_NAME_H_
#define SIDEBAND_SIM_WAVEFORM_VAR_NAME_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace sideband::sim {

struct BitRange {
  int64_t left;
  int64_t right;

  uint64_t size() const;
  bool operator==(const BitRange&) const = default;
};

struct VarName {
  std::string name;               // with its indexes, without ranges
  std::optional<BitRange> range;  // absent too where there are several: which bit has which index is then unknown
};

// `words` must not be empty.
VarName ParseVarName(std::span<const std::string> words);

}  // namespace sideband::sim

#endif  // SIDEBAND_SIM_WAVEFORM_VAR_NAME_H_
