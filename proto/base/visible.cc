// SPDX-License-Identifier: Apache-2.0
#include "proto/base/visible.h"

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "absl/strings/str_format.h"

namespace sideband {
namespace {

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

}  // namespace

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

}  // namespace sideband
