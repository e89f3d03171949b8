// SPDX-License-Identifier: Apache-2.0
#include "daemon/exposition/text.h"

#include <charconv>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace sideband::daemon {
namespace {

template <typename T>
void AppendNumber(std::string& out, T value) {
  char digits[32];  // the shortest form of a double has at most 24 characters
  const auto end = std::to_chars(digits, digits + sizeof(digits), value).ptr;
  out.append(digits, end);
  out += '\n';
}

void AppendEscaped(std::string& out, absl::string_view value) {
  for (const char c : value) {
    if (c == '\n') {
      out += "\\n";
      continue;
    }
    if (c == '\\' || c == '"') out += '\\';
    out += c;
  }
}

}  // namespace

void AppendLabel(std::string& out, absl::string_view name, absl::string_view value) {
  if (!out.empty() && out.back() != '{') out += ',';
  absl::StrAppend(&out, name, "=\"");
  AppendEscaped(out, value);
  out += '"';
}

std::string FamilyHeader(absl::string_view name, absl::string_view type, absl::string_view help) {
  std::string out = absl::StrCat("# HELP ", name, " ");
  for (const char c : help) {
    if (c == '\\') out += '\\';
    out += absl::ascii_isprint(c) ? c : '?';
  }
  absl::StrAppend(&out, "\n# TYPE ", name, " ", type, "\n");
  return out;
}

void AppendValue(std::string& out, uint64_t value) { AppendNumber(out, value); }
void AppendValue(std::string& out, double value) { AppendNumber(out, value); }

}  // namespace sideband::daemon
