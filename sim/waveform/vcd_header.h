// SPDX-License-Identifier: Apache-2.0
//
// The declarations of the wanted signals of a VCD file, with their names and the identifier codes by which the body
// names them: one or more printable characters, ! to ~. Codes of other bytes, which some programs write, are found as
// well.
//   SIDEBAND_ASSIGN_OR_RETURN(const VcdHeader header, ReadVcdHeader(*lexer, {"TOP.clk", "TOP.core.state"}));
//   const VcdVar* clock = header.Find("TOP.clk");
//   const uint32_t slot = header.codes.Find("I5");                                    // clock->slot
//   const VarName name = ParseVarName(std::vector<std::string>{"mem[3]", "[7:0]"});   // name mem[3], range 7:0
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
#include <span>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "sim/waveform/vcd_lexer.h"

namespace sideband::sim {

// Codes of up to three characters, 839,514 in all, are looked up by index, longer codes by hash.
class CodeTable {
 public:
  static constexpr uint32_t kNone = 0xffffffff;  // the code is not declared

  // `slot` must not be kNone.
  void Set(absl::string_view code, uint32_t slot);
  // kNone for a code without a slot.
  uint32_t Find(absl::string_view code) const;
  // Finds the code that starts at `*text`, and moves `*text` behind it. A byte that cannot be part of a code must
  // follow.
  uint32_t Scan(const char** text) const {
    const char* const begin = *text;
    const char* end = begin;
    uint64_t number = 0;
    for (; DigitOf(*end) < kCharacters; ++end) number = number * kCharacters + DigitOf(*end) + 1;
    *text = end;
    const auto size = static_cast<size_t>(end - begin);
    return size <= kShortSize && number < short_.size() ? short_[number] : FindLong(number, {begin, size});
  }

 private:
  static constexpr size_t kShortSize = 3;
  static constexpr size_t kNumberSize = 9;  // the longest codes whose numbers fit into 64 bits
  static constexpr uint8_t kFirst = '!';
  static constexpr uint8_t kCharacters = 94;

  // At least kCharacters for a character that cannot be part of a code.
  static uint8_t DigitOf(char c) { return static_cast<uint8_t>(static_cast<uint8_t>(c) - kFirst); }
  // A unique number for each code of up to kNumberSize characters. Digits are 1 to 94, so that "!" and "!!" differ; 0
  // is no code's number.
  static uint64_t NumberOf(absl::string_view code);
  // Whether the text consists of the characters of codes.
  static bool IsCode(absl::string_view text);
  uint32_t FindLong(uint64_t number, absl::string_view code) const;

  std::vector<uint32_t> short_ = {kNone};
  absl::flat_hash_map<uint64_t, uint32_t> numbered_;
  absl::flat_hash_map<std::string, uint32_t> long_;  // also codes of other bytes
};

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

// `words` are those of a $var declaration between its code and $end; at least one.
VarName ParseVarName(std::span<const std::string> words);

// The full name in the notation of waveform viewers, `TOP.bus[31:0]`: split into name and range.
VarName ParseShownName(const std::string& name);

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
