// SPDX-License-Identifier: Apache-2.0
//
// The names in a VCD file: the identifier codes of signals (one or more printable characters, ! to ~) with their slots,
// and the words of a $var declaration between its code and $end. Codes of other bytes, which some programs write, are
// found as well.
//   CodeTable codes;
//   codes.Set("I5", slot);
//   codes.Find("I5");                                                              // slot
//   const VarName name = ParseVarName(std::vector<std::string>{"mem[3]", "[7:0]"});   // name mem[3], range 7:0
#ifndef SIDEBAND_SIM_WAVEFORM_VCD_NAMES_H_
#define SIDEBAND_SIM_WAVEFORM_VCD_NAMES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"

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

// `words` must not be empty.
VarName ParseVarName(std::span<const std::string> words);

// The full name in the notation of waveform viewers, `TOP.bus[31:0]`: split into name and range.
VarName ParseShownName(const std::string& name);

}  // namespace sideband::sim

#endif  // SIDEBAND_SIM_WAVEFORM_VCD_NAMES_H_
