// SPDX-License-Identifier: Apache-2.0
#include "sim/riscv/program.h"

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

// The numbers of riscv64, include/uapi/asm-generic/unistd.h.
constexpr uint64_t kWrite = 64;
constexpr uint64_t kExit = 93;

// Errors are returned as their negatives, include/uapi/asm-generic/errno-base.h and errno.h.
constexpr uint64_t Error(int number) { return static_cast<uint64_t>(int64_t{-number}); }
constexpr uint64_t kBadDescriptor = Error(9);
constexpr uint64_t kFault = Error(14);
constexpr uint64_t kNoSpace = Error(28);
constexpr uint64_t kNoSystemCall = Error(38);

}  // namespace

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

uint64_t LinuxCalls::Write(uint64_t descriptor, uint64_t address, uint64_t size, const Memory& memory) {
  if (descriptor != 1 && descriptor != 2) return kBadDescriptor;
  if (!memory.Contains(address, size)) return kFault;
  if (size > kOutputMax - output_.size()) return kNoSpace;
  for (uint64_t i = 0; i < size; ++i) output_.push_back(memory.At<char>(address - memory.base() + i));
  return size;
}

Environment::Result LinuxCalls::Call(uint64_t number, std::span<const uint64_t, 6> arguments, Memory& memory) {
  switch (number) {
    case kWrite:
      return {.a0 = Write(arguments[0], arguments[1], arguments[2], memory)};
    case kExit:
      return {.exit_code = static_cast<uint8_t>(arguments[0])};
    default:
      return {.a0 = kNoSystemCall};
  }
}

}  // namespace sideband::riscv
