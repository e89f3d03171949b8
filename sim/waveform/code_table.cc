// SPDX-License-Identifier: Apache-2.0
#include "sim/waveform/code_table.h"

#include <algorithm>

namespace sideband::sim {
namespace {

template <typename Map, typename Key>
uint32_t FindIn(const Map& map, const Key& key) {
  const auto found = map.find(key);
  return found == map.end() ? CodeTable::kNone : found->second;
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

}  // namespace sideband::sim
