// SPDX-License-Identifier: Apache-2.0
#include "sim/waveform/code_table.h"

#include <algorithm>
#include <cstddef>

namespace sideband::sim {
namespace {

constexpr size_t kShortSize = 3;
constexpr uint8_t kFirst = 33;
constexpr uint8_t kCharacters = 94;

bool IsCodeCharacter(char c) { return static_cast<uint8_t>(static_cast<uint8_t>(c) - kFirst) < kCharacters; }

// A number of its own for each short code: digits 1 to 94, so that "!" and "!!" differ. Other bytes give any number.
size_t ShortIndex(absl::string_view code) {
  size_t index = 0;
  for (const char c : code) index = index * kCharacters + static_cast<uint8_t>(static_cast<uint8_t>(c) - kFirst + 1);
  return index;
}

}  // namespace

bool CodeTable::IsCode(absl::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), IsCodeCharacter);
}

void CodeTable::Set(absl::string_view code, uint32_t slot) {
  if (code.size() > kShortSize) {
    long_[code] = slot;
    return;
  }
  const size_t index = ShortIndex(code);
  if (index >= short_.size()) short_.resize(index + 1, kNone);
  short_[index] = slot;
}

uint32_t CodeTable::Find(absl::string_view code) const {
  if (!IsCode(code)) return kNone;
  if (code.size() > kShortSize) {
    const auto found = long_.find(code);
    return found == long_.end() ? kNone : found->second;
  }
  const size_t index = ShortIndex(code);
  return index < short_.size() ? short_[index] : kNone;
}

}  // namespace sideband::sim
