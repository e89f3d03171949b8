// SPDX-License-Identifier: Apache-2.0
#include "proto/manual/roff.h"

#include <cstdint>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"

namespace sideband::manual {
namespace {

// groff prints these ASCII characters as others that look alike, or reads them as requests.
absl::string_view Escape(char c) {
  switch (c) {
    case '\\':
      return "\\e";
    case '\'':
      return "\\(aq";
    case '"':
      return "\\(dq";
    case '`':
      return "\\(ga";
    case '^':
      return "\\(ha";
    case '~':
      return "\\(ti";
    default:
      return {};
  }
}

// The number of bytes of the character that begins with `lead`; 0 for a byte that begins none.
size_t BytesOfCharacter(uint8_t lead) {
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead < 0xE0) return 2;
  if (lead >= 0xE0 && lead < 0xF0) return 3;
  return lead >= 0xF0 && lead < 0xF5 ? 4 : 0;
}

// Takes the first character, of more than one byte, from `text`.
std::string TakeWideCharacter(absl::string_view& text) {
  const size_t bytes = BytesOfCharacter(static_cast<uint8_t>(text[0]));
  uint32_t code = bytes == 0 ? 0 : static_cast<uint8_t>(text[0]) & (0x7F >> bytes);
  bool is_whole = bytes != 0 && bytes <= text.size();
  for (size_t i = 1; is_whole && i < bytes; ++i) {
    const auto byte = static_cast<uint8_t>(text[i]);
    is_whole = (byte & 0xC0) == 0x80;
    code = code << 6 | (byte & 0x3F);
  }
  text.remove_prefix(is_whole ? bytes : 1);
  return is_whole ? absl::StrFormat("\\[u%04X]", code) : "?";
}

std::string Words(absl::string_view word) { return absl::StrReplaceAll(RoffText(word), {{"-", "\\-"}}); }

}  // namespace

std::string RoffText(absl::string_view text) {
  std::string roff;
  bool at_line_start = true;
  while (!text.empty()) {
    const char c = text[0];
    // There it would begin a request. An apostrophe would, too, but is escaped anyway.
    if (at_line_start && c == '.') roff += "\\&";
    at_line_start = c == '\n';
    if (static_cast<uint8_t>(c) >= 0x80) {
      roff += TakeWideCharacter(text);
      continue;
    }
    const absl::string_view escape = Escape(c);
    if (escape.empty()) {
      roff += c;
    } else {
      absl::StrAppend(&roff, escape);
    }
    text.remove_prefix(1);
  }
  return roff;
}

std::string RoffBold(absl::string_view word) { return absl::StrCat("\\fB", Words(word), "\\fR"); }

std::string RoffItalic(absl::string_view word) { return absl::StrCat("\\fI", Words(word), "\\fR"); }

std::string RoffExample(absl::string_view lines) { return absl::StrCat(".EX\n", Words(lines), "\n.EE\n"); }

std::string RoffArgument(absl::string_view word) { return absl::StrCat("\"", Words(word), "\""); }

}  // namespace sideband::manual
