// SPDX-License-Identifier: Apache-2.0
#include "proto/base/text.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"

namespace sideband {
namespace {

// Levenshtein distance, with one row of the table in memory.
size_t EditDistance(absl::string_view a, absl::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t substitute = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({substitute, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

// Whether `word` is `whole` with some letters left out, as tls_config is tls_server_config.
bool IsShortFor(absl::string_view word, absl::string_view whole) {
  constexpr size_t kLettersMin = 4;
  if (word.size() < kLettersMin || whole.size() > 2 * word.size()) return false;
  size_t found = 0;
  for (const char letter : whole) {
    if (found < word.size() && letter == word[found]) ++found;
  }
  return found == word.size();
}

// The shortest candidate that begins with the word, in either case; empty if none does. A part of a name, as screens
// show it, is nearer than another name.
std::string ShortestThatBeginsWith(absl::string_view word, std::span<const std::string> candidates) {
  std::string shortest;
  for (const std::string& candidate : candidates) {
    if (word.empty() || !absl::StartsWithIgnoreCase(candidate, word)) continue;
    if (shortest.empty() || candidate.size() < shortest.size()) shortest = candidate;
  }
  return shortest;
}

// U+0080 to U+009F are encoded as 0xC2 and a byte of their own value.
constexpr uint8_t kLatin1Lead = 0xC2;

uint8_t ByteAt(absl::string_view text, size_t i) { return i < text.size() ? static_cast<uint8_t>(text[i]) : 0; }

bool IsControl(uint8_t byte) { return byte < 0x20 || byte == 0x7F; }
bool IsLatin1Control(uint8_t lead, uint8_t byte) { return lead == kLatin1Lead && byte >= 0x80 && byte < 0xA0; }

// Characters that order the text around them, or break its line: a terminal or a browser would show `c\u202Ba` and what
// follows in another order than it is.
bool IsDirection(absl::string_view character) {
  static constexpr absl::string_view kDirections[] = {
      "\xD8\x9C",                                                                      // U+061C
      "\xE2\x80\x8E", "\xE2\x80\x8F",                                                  // U+200E, U+200F
      "\xE2\x80\xA8", "\xE2\x80\xA9",                                                  // U+2028, U+2029
      "\xE2\x80\xAA", "\xE2\x80\xAB", "\xE2\x80\xAC", "\xE2\x80\xAD", "\xE2\x80\xAE",  // U+202A to U+202E
      "\xE2\x81\xA6", "\xE2\x81\xA7", "\xE2\x81\xA8", "\xE2\x81\xA9",                  // U+2066 to U+2069
  };
  return std::ranges::find(kDirections, character) != std::end(kDirections);
}

// The length of a UTF-8 character by its lead byte; 0 for a byte that is not a lead byte.
size_t LengthByLead(uint8_t lead) {
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead <= 0xDF) return 2;
  if (lead >= 0xE0 && lead <= 0xEF) return 3;
  return lead >= 0xF0 && lead <= 0xF4 ? 4 : 0;
}

// The length of the UTF-8 character (RFC 3629, section 4) at `i`; 0 if the bytes there are not valid.
size_t CharacterLength(absl::string_view text, size_t i) {
  const uint8_t lead = ByteAt(text, i), second = ByteAt(text, i + 1);
  const size_t length = LengthByLead(lead);
  const bool is_overlong = (lead == 0xE0 && second < 0xA0) || (lead == 0xF0 && second < 0x90);
  const bool is_beyond = (lead == 0xED && second > 0x9F) || (lead == 0xF4 && second > 0x8F);
  if (is_overlong || is_beyond) return 0;
  for (size_t k = 1; k < length; ++k) {
    if ((ByteAt(text, i + k) & 0xC0) != 0x80) return 0;
  }
  return length;
}

constexpr std::pair<const char*, int> kUnits[] = {{"GiB", 30}, {"MiB", 20}, {"KiB", 10}};

}  // namespace

std::string NearestMatch(absl::string_view word, std::span<const std::string> candidates) {
  std::string nearest = ShortestThatBeginsWith(word, candidates);
  if (!nearest.empty()) return nearest;
  // Accepts at most half the word's length in edits.
  size_t fewest = word.size() / 2 + 1;
  for (const std::string& candidate : candidates) {
    const size_t difference = std::max(candidate.size(), word.size()) - std::min(candidate.size(), word.size());
    if (difference >= fewest) continue;  // the distance is at least the difference of the sizes
    if (const size_t distance = EditDistance(word, candidate); distance < fewest) {
      fewest = distance;
      nearest = candidate;
    }
  }
  if (!nearest.empty()) return nearest;
  const auto longer =
      std::ranges::find_if(candidates, [&](const std::string& candidate) { return IsShortFor(word, candidate); });
  return longer == candidates.end() ? "" : *longer;
}

std::string MustBeOneOf(std::span<const std::string> words) {
  std::string text;
  for (size_t i = 0; i < words.size(); ++i) {
    const char* const before = i == 0 ? ", must be " : i + 1 == words.size() ? " or " : ", ";
    absl::StrAppend(&text, before, words[i]);
  }
  return text;
}

std::string DidYouMean(absl::string_view word, std::span<const std::string> candidates) {
  const std::string nearest = NearestMatch(word, candidates);
  return nearest.empty() ? "" : absl::StrCat(" (did you mean '", Visible(nearest), "'?)");
}

std::string Visible(absl::string_view text) {
  std::string visible;
  for (size_t i = 0; i < text.size();) {
    const uint8_t byte = ByteAt(text, i);
    const size_t length = CharacterLength(text, i);
    const bool is_control = IsControl(byte) || IsLatin1Control(byte, ByteAt(text, i + 1));
    if (length > 0 && !is_control && !IsDirection(text.substr(i, length))) {
      visible.append(text.data() + i, length);
      i += length;
      continue;
    }
    for (const size_t end = i + std::max<size_t>(length, 1); i < end; ++i) {
      absl::StrAppendFormat(&visible, "\\x%02x", ByteAt(text, i));
    }
  }
  return visible;
}

absl::StatusOr<uint64_t> ParseByteSize(absl::string_view text) {
  absl::string_view digits = text;
  int shift = 0;
  for (const auto& [unit, bits] : kUnits) {
    if (absl::ConsumeSuffix(&digits, unit)) {
      shift = bits;
      break;
    }
  }
  uint64_t number = 0;
  const bool is_number = std::all_of(digits.begin(), digits.end(), absl::ascii_isdigit);
  // The bound rejects numbers that overflow when multiplied by the unit.
  if (is_number && absl::SimpleAtoi(digits, &number) && number <= std::numeric_limits<uint64_t>::max() >> shift) {
    return number << shift;
  }
  return absl::InvalidArgumentError(absl::StrCat("'", text, "' is not a number of bytes, such as 512KiB or 16MiB"));
}

std::string FormatByteSize(uint64_t bytes) {
  for (const auto& [unit, bits] : kUnits) {
    if (bytes != 0 && bytes % (uint64_t{1} << bits) == 0) return absl::StrCat(bytes >> bits, unit);
  }
  return absl::StrCat(bytes);
}

}  // namespace sideband
