// SPDX-License-Identifier: Apache-2.0
#include "sim/riscv/memory.h"

#include <algorithm>
#include <charconv>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "proto/base/errors.h"
#include "proto/base/file.h"
#include "proto/base/status_macros.h"

namespace sideband::riscv {
namespace {

constexpr size_t kDigits = 8;

bool ParseWord(absl::string_view digits, uint32_t& word) {
  const char* const end = digits.data() + digits.size();
  return digits.size() == kDigits && std::from_chars(digits.data(), end, word, 16).ptr == end;
}

}  // namespace

bool Memory::Write(uint64_t address, std::span<const uint32_t> words) {
  if (!Contains(address, words.size_bytes())) return false;
  if (!words.empty()) std::memcpy(bytes_.data() + (address - base_), words.data(), words.size_bytes());
  return true;
}

absl::StatusOr<Program> ParseProgram(absl::string_view text, absl::string_view name) {
  Program program;
  size_t number = 0;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    ++number;
    line = absl::StripAsciiWhitespace(line.substr(0, line.find('#')));
    if (line.empty()) continue;
    if (program.words.size() == Program::kWordsMax) {
      return LineError(name, number, absl::StrCat("more than ", Program::kWordsMax, " words"));
    }
    if (!ParseWord(line, program.words.emplace_back())) {
      return LineError(name, number, "not a word of 8 hexadecimal digits");
    }
  }
  if (program.words.empty()) return LineError(name, number, "a program without words");
  return program;
}

absl::StatusOr<Program> LoadProgram(const std::string& path) {
  SIDEBAND_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  return ParseProgram(text, path);
}

}  // namespace sideband::riscv
