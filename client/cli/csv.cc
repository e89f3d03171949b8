// SPDX-License-Identifier: Apache-2.0
#include "client/cli/csv.h"

#include <charconv>
#include <iterator>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "proto/base/text.h"

namespace sideband::client {
namespace {

bool IsFormula(const std::string& text) {
  double number = 0;
  return !text.empty() && absl::StrContains("=+-@", text[0]) && !absl::SimpleAtod(text, &number);
}

// The numbers of a program are its own; texts are a daemon's, whom a spreadsheet and a terminal need not trust.
std::string Field(const std::string& untrusted) {
  std::string text = Visible(untrusted);
  if (IsFormula(text)) text.insert(0, "'");
  if (text.find_first_of(",\"") == std::string::npos) return text;
  // RFC 4180: quotes in a quoted field are doubled.
  return absl::StrCat("\"", absl::StrReplaceAll(text, {{"\"", "\"\""}}), "\"");
}

}  // namespace

std::string CsvLine(const std::vector<std::string>& fields) {
  const auto append = [](std::string* out, const std::string& field) { out->append(Field(field)); };
  return absl::StrJoin(fields, ",", append) + "\r\n";
}

std::string CsvNumber(double number) {
  char text[32];  // the longest double has 24 characters
  return std::string(text, std::to_chars(std::begin(text), std::end(text), number).ptr);
}

}  // namespace sideband::client
