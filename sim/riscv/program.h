// SPDX-License-Identifier: Apache-2.0
//
// A program: its words from a file, and its system calls. The file has hexadecimal numbers: one 32-bit word a line, the
// first at kProgramBase. A line has 8 digits, as in "00000513 # li a0, 0". Empty lines, and comments from a '#' on, are
// left out. The environment carries out the system calls of a user program. LinuxCalls has the two of Linux that a
// kernel of this repository makes: it writes its checksum and exits.
//   SIDEBAND_ASSIGN_OR_RETURN(const Program program, LoadProgram("threads.hex"));
//   memory.Write(kProgramBase, program.words);
//   LinuxCalls calls;
//   Core core(memory, {.environment = &calls});
//   core.Run(1'000'000);
//   std::puts(calls.output().c_str());
#ifndef SIDEBAND_SIM_RISCV_PROGRAM_H_
#define SIDEBAND_SIM_RISCV_PROGRAM_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "sim/riscv/memory.h"

namespace sideband::riscv {

struct Program {
  static constexpr size_t kWordsMax = size_t{1} << 20;

  std::vector<uint32_t> words;
};

// INVALID_ARGUMENT "NAME:LINE: description" for anything else, and for a program without words or with more than
// kWordsMax. The file is the user's.
absl::StatusOr<Program> ParseProgram(absl::string_view text, absl::string_view name);
// Also the errors of ReadFile (proto/base/file.h).
absl::StatusOr<Program> LoadProgram(const std::string& path);

// Carries out the system calls of a user program.
class Environment {
 public:
  struct Result {
    uint64_t a0 = 0;
    std::optional<uint8_t> exit_code;  // the program ends
  };

  virtual ~Environment() = default;
  // An ecall with a7 = `number` and a0 to a5 = `arguments`, all of which the program chose.
  virtual Result Call(uint64_t number, std::span<const uint64_t, 6> arguments, Memory& memory) = 0;
};

// 64, write: to descriptor 1 or 2, else EBADF; EFAULT for bytes outside the memory. 93, exit. All others: ENOSYS.
// Not thread-safe.
class LinuxCalls final : public Environment {
 public:
  // A write beyond this is refused with ENOSPC.
  static constexpr size_t kOutputMax = size_t{1} << 16;

  Result Call(uint64_t number, std::span<const uint64_t, 6> arguments, Memory& memory) override;

  // The bytes that the program has written.
  const std::string& output() const { return output_; }

 private:
  uint64_t Write(uint64_t descriptor, uint64_t address, uint64_t size, const Memory& memory);

  std::string output_;
};

}  // namespace sideband::riscv

#endif  // SIDEBAND_SIM_RISCV_PROGRAM_H_
