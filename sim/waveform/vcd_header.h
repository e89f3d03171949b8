// SPDX-License-Identifier: Apache-2.0
//
// The declarations of the wanted signals of a VCD file.
//   SIDEBAND_ASSIGN_OR_RETURN(const VcdHeader header, ReadVcdHeader(*lexer, {"TOP.clk", "TOP.core.state"}));
//   const VcdVar* clock = header.Find("TOP.clk");
//
// A signal's full name consists of its scopes and its own name, joined by dots. A range at the end of the declaration,
// `sig [7:0]` or `sig[7:0]`, is not part of the name. An index is: `mem[3] [7:0]` is mem[3] with a range. An escaped
// name keeps its backslash and every bracket directly attached to it.
// A vector may be declared in parts, `sig [7:4]` and `sig [3:0]`: sig is then the whole, and each part is a signal by
// its name with its range, `sig[7:4]`.
#ifndef SIDEBAND_SIM_WAVEFORM_VCD_HEADER_H_
#define SIDEBAND_SIM_WAVEFORM_VCD_HEADER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "sim/waveform/vcd_lexer.h"
#include "sim/waveform/vcd_names.h"

namespace sideband::sim {

// The width limit of a wanted signal.
inline constexpr uint32_t kVcdWidthMax = uint32_t{1} << 20;
// The limit of all wanted signals together; their values take at most 16 MiB.
inline constexpr uint64_t kVcdBitsMax = uint64_t{1} << 26;
// Longer names get no suggestion and are none: an unknown name is compared with all others letter by letter.
inline constexpr size_t kSuggestionSizeMax = 256;

// A wanted signal of the file.
struct VcdVar {
  std::string type;    // wire, reg, real …
  uint32_t slot = 0;   // one per identifier code, shared by aliases
  uint64_t width = 0;  // in bits, from 1 to kVcdWidthMax
  int64_t left = 0;    // index of the most significant bit; `right`: of the least significant
  int64_t right = 0;

  // False for real, shortreal, realtime, string, event and the like.
  bool HasBits() const;
  // The distance of the bit with this index from the least significant bit; absent if the index is out of range.
  std::optional<uint32_t> BitPosition(int64_t index) const;
};

// A wanted signal whose value is a part of another's.
struct VcdPart {
  uint32_t slot = 0;
  uint32_t whole = 0;   // the other's slot, which has no code
  uint32_t offset = 0;  // of the part's least significant bit
};

struct VcdHeader {
  // The slot of codes that are declared but not wanted.
  static constexpr uint32_t kIgnored = 0xfffffffe;

  absl::flat_hash_map<std::string, VcdVar> vars;  // by full name
  std::vector<uint32_t> slot_widths;              // per slot
  std::vector<VcdPart> parts;
  CodeTable codes;
  std::vector<std::string> names;  // of all signals up to a size limit, for suggestions

  // Null for an unknown signal.
  const VcdVar* Find(absl::string_view name) const;
};

// Reads up to the end of $enddefinitions, or, where a program has written none, up to the first time or $dumpvars.
// Every error is "FILE:LINE: description". A wanted name that is declared under different codes is an error, since it
// is ambiguous, except for parts of a vector. Signals that are not wanted cause no error.
absl::StatusOr<VcdHeader> ReadVcdHeader(VcdLexer& lexer, absl::flat_hash_set<std::string> wanted);

}  // namespace sideband::sim

#endif  // SIDEBAND_SIM_WAVEFORM_VCD_HEADER_H_
