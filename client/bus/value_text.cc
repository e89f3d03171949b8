// SPDX-License-Identifier: Apache-2.0
#include "client/bus/value_text.h"

#include <cstddef>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace sideband::client {
namespace {

std::string RangeText(uint32_t first, uint32_t last) {
  return first == last ? absl::StrCat(first) : absl::StrCat(first, "-", last);
}

absl::string_view Separator(const std::string& text) { return text.empty() ? "" : ", "; }

}  // namespace

std::string HexText(uint32_t value) { return absl::StrFormat("0x%08X", value); }

std::string HexOr(std::optional<uint32_t> value) { return value.has_value() ? HexText(*value) : "?"; }

std::string NumberOr(std::optional<uint32_t> value) { return value.has_value() ? absl::StrCat(*value) : "?"; }

std::string Fixed24p8Text(uint32_t value) {
  std::string text = absl::StrFormat("%.3f", static_cast<int32_t>(value) / 256.0);
  while (text.back() == '0' && text[text.size() - 2] != '.') text.pop_back();
  return text;
}

std::string DegreesText(uint32_t value) { return absl::StrCat(Fixed24p8Text(value), " degC"); }

std::string BytesText(uint32_t value) {
  return absl::StrFormat("%02X %02X %02X %02X", value & 0xFF, value >> 8 & 0xFF, value >> 16 & 0xFF, value >> 24);
}

std::string CharactersText(uint32_t value) {
  std::string text;
  for (int i = 0; i < 4; ++i) {
    const char c = static_cast<char>(value >> 8 * i);
    if (c == '\0') break;
    if (c < ' ' || c > '~') return BytesText(value);
    text += c;
  }
  return absl::StrCat("\"", text, "\"");
}

std::string BitNumbersText(uint32_t bits, uint32_t first) {
  std::string text;
  for (uint32_t bit = 0; bit < 32; ++bit) {
    if ((bits >> bit & 1) == 0) continue;
    const uint32_t begin = bit;
    while (bit + 1 < 32 && (bits >> (bit + 1) & 1) != 0) ++bit;
    absl::StrAppend(&text, Separator(text), RangeText(first + begin, first + bit));
  }
  return text.empty() ? "none" : text;
}

std::string RunsText(const std::vector<std::string>& texts, uint32_t first) {
  std::string text;
  for (size_t i = 0; i < texts.size(); ++i) {
    const size_t begin = i;
    while (i + 1 < texts.size() && texts[i + 1] == texts[begin]) ++i;
    const std::string range = RangeText(first + static_cast<uint32_t>(begin), first + static_cast<uint32_t>(i));
    absl::StrAppend(&text, Separator(text), range, " ", texts[begin]);
  }
  return text;
}

}  // namespace sideband::client
