// SPDX-License-Identifier: Apache-2.0
#include "sim/waveform/vcd_names.h"

#include <algorithm>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"

namespace sideband::sim {
namespace {

template <typename Map, typename Key>
uint32_t FindIn(const Map& map, const Key& key) {
  const auto found = map.find(key);
  return found == map.end() ? CodeTable::kNone : found->second;
}

// Larger indexes are treated as part of the name; the limit keeps differences from overflowing.
constexpr int64_t kIndexMax = int64_t{1} << 40;

bool ParseIndex(absl::string_view text, int64_t* index) {
  return absl::SimpleAtoi(text, index) && *index <= kIndexMax && *index >= -kIndexMax;
}

// Removes "[l:r]" from the end of the text.
std::optional<BitRange> ConsumeRange(absl::string_view* text) {
  absl::string_view rest = *text;
  if (!absl::ConsumeSuffix(&rest, "]")) return std::nullopt;
  const size_t open = rest.rfind('[');
  if (open == absl::string_view::npos) return std::nullopt;
  const absl::string_view inside = rest.substr(open + 1);
  const size_t colon = inside.find(':');
  BitRange range;
  if (colon == absl::string_view::npos || !ParseIndex(inside.substr(0, colon), &range.left) ||
      !ParseIndex(inside.substr(colon + 1), &range.right)) {
    return std::nullopt;
  }
  *text = rest.substr(0, open);
  return range;
}

}  // namespace

bool CodeTable::IsCode(absl::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return DigitOf(c) < kCharacters; });
}

uint64_t CodeTable::NumberOf(absl::string_view code) {
  uint64_t number = 0;
  // Bijective numeration: codes of different lengths never share a number.
  for (const char c : code) number = number * kCharacters + DigitOf(c) + 1;
  return number;
}

void CodeTable::Set(absl::string_view code, uint32_t slot) {
  const uint64_t number = NumberOf(code);
  if (code.size() > kNumberSize || !IsCode(code)) {
    long_[code] = slot;
  } else if (code.size() > kShortSize) {
    numbered_[number] = slot;
  } else {
    if (number >= short_.size()) short_.resize(number + 1, kNone);
    short_[number] = slot;
  }
}

uint32_t CodeTable::Find(absl::string_view code) const {
  if (!IsCode(code)) return FindIn(long_, code);
  const uint64_t number = NumberOf(code);
  return code.size() <= kShortSize && number < short_.size() ? short_[number] : FindLong(number, code);
}

uint32_t CodeTable::FindLong(uint64_t number, absl::string_view code) const {
  if (code.size() <= kShortSize) return kNone;
  return code.size() <= kNumberSize ? FindIn(numbered_, number) : FindIn(long_, code);
}

uint64_t BitRange::size() const { return static_cast<uint64_t>(left > right ? left - right : right - left) + 1; }

VarName ParseVarName(std::span<const std::string> words) {
  const bool escaped = words[0].front() == '\\';
  const std::string joined = absl::StrJoin(words, "");
  // Brackets directly after an escaped name belong to it.
  const size_t fixed = escaped ? words[0].size() : 1;
  absl::string_view rest = absl::string_view(joined).substr(fixed);
  VarName result;
  result.range = ConsumeRange(&rest);
  while (ConsumeRange(&rest)) result.range.reset();
  result.name = joined.substr(0, fixed + rest.size());
  return result;
}

VarName ParseShownName(const std::string& name) {
  absl::string_view rest = name;
  const std::optional<BitRange> range = ConsumeRange(&rest);
  return {.name = std::string(rest), .range = range};
}

}  // namespace sideband::sim
