// SPDX-License-Identifier: Apache-2.0
#include "sim/waveform/fst_file.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "proto/base/file.h"
#include "proto/base/status_macros.h"

namespace sideband::sim {
namespace {

constexpr char kProgram[] = "fst2vcd";

// What is kept of the program's error output in a message.
constexpr size_t kRemarkBytesMax = 200;

// A pipe. Its writing end must be closed here once the program has it: otherwise the pipe would have a writer left when
// the program ends, and reads would never see its end.
struct Pipe {
  Descriptor reading;
  Descriptor writing;
};

absl::StatusOr<Pipe> OpenPipe(int flags) {
  std::array<int, 2> ends;
  if (::pipe2(ends.data(), O_CLOEXEC | flags) != 0) return absl::ErrnoToStatus(errno, "cannot open a pipe");
  return Pipe{Descriptor(ends[0]), Descriptor(ends[1])};
}

// The program's files and signals.
class SpawnSettings {
 public:
  // `input` is open or not.
  SpawnSettings(const Descriptor& input, const Descriptor& output, const Descriptor& errors)
      : has_input_(input.is_open()) {
    posix_spawn_file_actions_init(&files_);
    if (has_input_) {
      posix_spawn_file_actions_adddup2(&files_, input.get(), STDIN_FILENO);
    } else {
      posix_spawn_file_actions_addopen(&files_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    }
    posix_spawn_file_actions_adddup2(&files_, output.get(), STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&files_, errors.get(), STDERR_FILENO);
    posix_spawnattr_init(&attributes_);
    // This process may ignore SIGPIPE; the program must end when its output is closed.
    sigset_t defaults;
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGPIPE);
    posix_spawnattr_setsigdefault(&attributes_, &defaults);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGDEF);
  }
  ~SpawnSettings() {
    posix_spawn_file_actions_destroy(&files_);
    posix_spawnattr_destroy(&attributes_);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;

  // 0, or an errno.
  int Spawn(std::string path, pid_t* program) const {
    if (has_input_) path = "/proc/self/fd/0";
    std::string name = kProgram, flag = "-f";
    char* const arguments[] = {name.data(), flag.data(), path.data(), nullptr};
    return posix_spawnp(program, kProgram, &files_, &attributes_, arguments, environ);
  }

 private:
  const bool has_input_;
  posix_spawn_file_actions_t files_;
  posix_spawnattr_t attributes_;
};

absl::Status CannotRun(const std::string& path, int error) {
  if (error == ENOENT) {
    return absl::NotFoundError(absl::StrCat(path, ": an FST file is read through the program ", kProgram,
                                            ", which is not installed (Debian's package gtkwave)"));
  }
  return ErrnoStatus(error, kProgram);
}

// What the program has written to its error output, on one line.
std::string Remarks(const Descriptor& errors) {
  std::array<char, kRemarkBytesMax> bytes;
  const ssize_t size = ::read(errors.get(), bytes.data(), bytes.size());
  const absl::string_view text(bytes.data(), size < 0 ? 0 : static_cast<size_t>(size));
  return absl::StrJoin(absl::StrSplit(text, absl::ByAnyChar("\r\n"), absl::SkipWhitespace()), "; ");
}

absl::Status Failure(const Descriptor& errors) {
  const std::string remarks = Remarks(errors);
  return absl::InvalidArgumentError(
      absl::StrCat(kProgram, " does not read the FST data to its end", remarks.empty() ? "" : ": ", remarks));
}

}  // namespace

absl::StatusOr<std::unique_ptr<TraceFile>> FstFile::Open(const std::string& path, Descriptor input) {
  SIDEBAND_ASSIGN_OR_RETURN(Pipe output, OpenPipe(0));
  // The program must not wait for a reader of its errors.
  SIDEBAND_ASSIGN_OR_RETURN(Pipe errors, OpenPipe(O_NONBLOCK));
  pid_t program = 0;
  const int error = SpawnSettings(input, output.writing, errors.writing).Spawn(path, &program);
  if (error != 0) return CannotRun(path, error);
  return std::unique_ptr<TraceFile>(new FstFile(program, std::move(output.reading), std::move(errors.reading)));
}

FstFile::~FstFile() {
  output_ = {};
  if (program_ == 0) return;
  // The destructor must not wait for the conversion of the rest.
  ::kill(program_, SIGTERM);
  (void)End();
}

absl::StatusOr<size_t> FstFile::Read(std::span<char> buffer) {
  size_t size = 0;
  while (size < buffer.size()) {
    const ssize_t more = ::read(output_.get(), buffer.data() + size, buffer.size() - size);
    if (more < 0 && errno == EINTR) continue;
    if (more < 0) return absl::ErrnoToStatus(errno, "cannot be read");
    if (more == 0) {
      SIDEBAND_RETURN_IF_ERROR(End());
      break;
    }
    size += static_cast<size_t>(more);
  }
  return size;
}

absl::Status FstFile::End() {
  const pid_t program = std::exchange(program_, 0);
  if (program == 0) return ended_;
  int status = 0;
  while (::waitpid(program, &status, 0) < 0 && errno == EINTR) {
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) ended_ = Failure(errors_);
  return ended_;
}

}  // namespace sideband::sim
