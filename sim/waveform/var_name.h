// SPDX-License-Identifier: Apache-2.0
//
// Parses the end of a VCD $var declaration: the words between its identifier code and $end.
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
  std::string name;               // with indexes, without ranges
  std::optional<BitRange> range;  // also absent if there are several: the indexes of bits are then unknown
};

// `words` must not be empty.
VarName ParseVarName(std::span<const std::string> words);

// The full name in the notation of waveform viewers, `TOP.bus[31:0]`: split into name and range.
VarName ParseShownName(const std::string& name);

}  // namespace sideband::sim

#endif  // SIDEBAND_SIM_WAVEFORM_VAR_NAME_H_
