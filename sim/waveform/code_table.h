// SPDX-License-Identifier: Apache-2.0
//
// The identifier codes of a VCD file (one or more printable characters, ! to ~) and what each stands for.
//   CodeTable codes;
//   codes.Set("I5", slot);
//   codes.Find("I5");        // slot
#ifndef SIDEBAND_SIM_WAVEFORM_CODE_TABLE_H_
#define SIDEBAND_SIM_WAVEFORM_CODE_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"

namespace sideband::sim {

// Codes of up to three characters, of which there are 839,514, are looked up by index, longer ones by hash.
class CodeTable {
 public:
  static constexpr uint32_t kNone = 0xffffffff;  // the code is not declared

  static bool IsCode(absl::string_view text);

  // `code` must be one by IsCode; `slot` must not be kNone.
  void Set(absl::string_view code, uint32_t slot);
  // kNone for whatever has not been set.
  uint32_t Find(absl::string_view code) const;
  // Finds the code that starts at `*text` and ends before the first byte that cannot be in one, of which there must be
  // one, and moves `*text` there.
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
  static constexpr size_t kNumberSize = 9;  // the longest codes whose number has 64 bits
  static constexpr uint8_t kFirst = '!';
  static constexpr uint8_t kCharacters = 94;

  // At least kCharacters for what is none of a code's.
  static uint8_t DigitOf(char c) { return static_cast<uint8_t>(static_cast<uint8_t>(c) - kFirst); }
  // A number of its own for each code of up to kNumberSize characters: digits are 1 to 94, so that "!" and "!!" differ,
  // and 0 is none's.
  static uint64_t NumberOf(absl::string_view code);
  uint32_t FindLong(uint64_t number, absl::string_view code) const;

  std::vector<uint32_t> short_ = {kNone};
  absl::flat_hash_map<uint64_t, uint32_t> numbered_;
  absl::flat_hash_map<std::string, uint32_t> long_;
};

}  // namespace sideband::sim

#endif  // SIDEBAND_SIM_WAVEFORM_CODE_TABLE_H_
