// SPDX-License-Identifier: Apache-2.0
//
// The words of a program, as a file of hexadecimal numbers: one 32-bit word a line, the first at kProgramBase.
//   SIDEBAND_ASSIGN_OR_RETURN(const Program program, LoadProgram("threads.hex"));
//   memory.Write(kProgramBase, program.words);
// A line has 8 digits, as in "00000513 # li a0, 0". Empty lines, and what follows a '#', are left out.
#ifndef SIDEBAND_SIM_RISCV_PROGRAM_H_
#define SIDEBAND_SIM_RISCV_PROGRAM_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace sideband::riscv {

// The start of every core's memory, and of its program. The pages below do not exist, as under Linux.
inline constexpr uint64_t kProgramBase = 0x10000;

struct Program {
  static constexpr size_t kWordsMax = size_t{1} << 20;

  std::vector<uint32_t> words;
};

// INVALID_ARGUMENT "NAME:LINE: description" for anything else, and for a program without words or with more than
// kWordsMax. The file is the user's.
absl::StatusOr<Program> ParseProgram(absl::string_view text, absl::string_view name);
// Also the errors of ReadFile (proto/base/file.h).
absl::StatusOr<Program> LoadProgram(const std::string& path);

}  // namespace sideband::riscv

#endif  // SIDEBAND_SIM_RISCV_PROGRAM_H_
