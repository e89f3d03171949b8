// SPDX-License-Identifier: Apache-2.0
#include "tests/lab/bench/linux_program.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "proto/base/bytes.h"
#include "proto/base/file.h"
#include "proto/base/status_macros.h"
#include "sim/riscv/memory.h"

namespace sideband::bench {
namespace {

constexpr uint64_t kHeaderBytes = 0x40 + 0x38;
constexpr uint64_t kPageBytes = 0x1000;

// An executable with one segment, which can be read, written and executed (System V ABI, chapters 4 and 5).
Bytes ElfFile(std::span<const uint32_t> words) {
  ByteWriter out;
  out.U32(0x464c457f);  // magic
  out.U32(0x00010102);  // 64 bits, little-endian, version 1, System V
  out.U64(0);
  out.U16(2);                    // executable
  out.U16(243);                  // RISC-V
  out.U32(1);                    // version
  out.U64(riscv::kProgramBase);  // entry
  out.U64(0x40);                 // of the table of segments
  out.U64(0);                    // no sections
  out.U32(0);                    // flags: no compressed instructions, no floating point
  out.U16(0x40);                 // of this header
  out.U16(0x38);                 // of a segment's
  out.U16(1);                    // segments
  out.U16(0);
  out.U16(0);
  out.U16(0);

  out.U32(1);           // loaded
  out.U32(7);           // read, write, execute
  out.U64(kPageBytes);  // in the file
  out.U64(riscv::kProgramBase);
  out.U64(riscv::kProgramBase);
  out.U64(words.size_bytes());
  out.U64(kProgramMemoryBytes);
  out.U64(kPageBytes);  // alignment
  for (uint64_t i = kHeaderBytes; i < kPageBytes; ++i) out.U8(0);
  for (const uint32_t word : words) out.U32(word);
  return std::move(out).Take();
}

// A file that is removed with this object.
class ScratchFile {
 public:
  explicit ScratchFile(std::string path) : path_(std::move(path)) {}
  ~ScratchFile() { ::unlink(path_.c_str()); }
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;

  const std::string& path() const { return path_; }

 private:
  const std::string path_;
};

absl::Status WriteProgram(std::span<const uint32_t> words, const std::string& path) {
  const Bytes bytes = ElfFile(words);
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  file.close();
  return file && ::chmod(path.c_str(), 0700) == 0 ? absl::OkStatus() : ErrnoStatus(errno, path);
}

double TimevalSeconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

// The processor time of qemu; nullopt if there is none.
absl::StatusOr<std::optional<double>> Spawn(const std::string& program, uint64_t iterations,
                                            const std::string& output) {
  const std::string argument = absl::StrCat(iterations);
  const char* const arguments[] = {"qemu-riscv64", program.c_str(), argument.c_str(), nullptr};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  pid_t child = 0;
  const int error = posix_spawnp(&child, arguments[0], &actions, nullptr, const_cast<char* const*>(arguments), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error == ENOENT) return std::nullopt;
  if (error != 0) return ErrnoStatus(error, arguments[0]);
  int status = 0;
  rusage usage;
  while (::wait4(child, &status, 0, &usage) < 0) {
    if (errno != EINTR) return ErrnoStatus(errno, arguments[0]);
  }
  if (status != 0) return absl::InternalError(absl::StrCat("qemu-riscv64 ended with status ", status));
  return TimevalSeconds(usage.ru_utime) + TimevalSeconds(usage.ru_stime);
}

}  // namespace

absl::StatusOr<std::optional<LinuxRun>> RunUnderQemu(std::span<const uint32_t> words, uint64_t iterations,
                                                     const std::string& scratch) {
  const ScratchFile program(absl::StrCat(scratch, "/kernel.elf")), output(absl::StrCat(scratch, "/kernel.out"));
  SIDEBAND_RETURN_IF_ERROR(WriteProgram(words, program.path()));
  SIDEBAND_ASSIGN_OR_RETURN(const std::optional<double> seconds, Spawn(program.path(), iterations, output.path()));
  if (!seconds) return std::nullopt;
  SIDEBAND_ASSIGN_OR_RETURN(std::string text, ReadFile(output.path()));
  return LinuxRun{std::move(text), *seconds};
}

}  // namespace sideband::bench
