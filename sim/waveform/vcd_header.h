// SPDX-License-Identifier: Apache-2.0
//
// The declarations of a VCD file, of which only the wanted signals are kept.
//   SIDEBAND_ASSIGN_OR_RETURN(const VcdHeader header, ReadVcdHeader(*lexer, {"TOP.clk", "TOP.core.state"}));
//   const VcdVar* clock = header.Find("TOP.clk");
//
// A signal's full name is its scopes and its own name, joined by dots. A range at the end of the declaration, `sig
// [7:0]` or `sig[7:0]`, is not part of the name; an index is, `mem[3] [7:0]` is mem[3] with a range. An escaped name
// keeps its backslash and every bracket that is joined to it.
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
#include "sim/waveform/code_table.h"
#include "sim/waveform/vcd_lexer.h"

namespace sideband::sim {

// Of an extended VCD file, whose values are the strengths of a port's drivers.
inline constexpr char kVcdPortsRefused[] = "ports of $dumpports are not supported; dump the signals with $dumpvars";

// Widest signal that may be used.
inline constexpr uint32_t kVcdWidthMax = uint32_t{1} << 20;
// Of all wanted signals together, so that their values take at most 16 MiB.
inline constexpr uint64_t kVcdBitsMax = uint64_t{1} << 26;

// A declared signal that is wanted.
struct VcdVar {
  std::string type;    // wire, reg, real …
  uint32_t slot = 0;   // one per identifier code: aliases share it
  uint64_t width = 0;  // in bits, from 1 to kVcdWidthMax
  int64_t left = 0;    // the index of the most significant bit, and of the least
  int64_t right = 0;

  // real, shortreal, realtime, string, event and the like: they hold no bits.
  bool HasBits() const;
  // How far the bit of this index is from the least significant one; nothing where the range has no such index.
  std::optional<uint32_t> BitPosition(uint32_t index) const;
};

struct VcdHeader {
  // Slot of the codes that are declared but not wanted.
  static constexpr uint32_t kIgnored = 0xfffffffe;

  absl::flat_hash_map<std::string, VcdVar> vars;  // by full name
  std::vector<uint32_t> slot_widths;              // per slot
  CodeTable codes;
  std::vector<std::string> names;  // of all signals, for suggestions: as many as fit into a bound

  // Null for a signal that is not there.
  const VcdVar* Find(absl::string_view name) const;
};

// Reads up to the end of $enddefinitions. Every error is "FILE:LINE: what is wrong"; a wanted name that is declared
// twice under different codes is one, since it could be either.
absl::StatusOr<VcdHeader> ReadVcdHeader(VcdLexer& lexer, absl::flat_hash_set<std::string> wanted);

}  // namespace sideband::sim

#endif  // SIDEBAND_SIM_WAVEFORM_VCD_HEADER_H_
