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
#include "proto/base/file.h"
#include "proto/base/status_macros.h"

namespace sideband::sim {
namespace {

constexpr char kProgram[] = "fst2vcd";

// The program's files and signals.
class SpawnSettings {
 public:
  explicit SpawnSettings(int output) {
    posix_spawn_file_actions_init(&files_);
    posix_spawn_file_actions_addopen(&files_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files_, output, STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&files_, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
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
    std::string name = kProgram, flag = "-f";
    char* const arguments[] = {name.data(), flag.data(), path.data(), nullptr};
    return posix_spawnp(program, kProgram, &files_, &attributes_, arguments, environ);
  }

 private:
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

}  // namespace

absl::StatusOr<std::unique_ptr<TraceFile>> FstFile::Open(const std::string& path) {
  std::array<int, 2> pipe;
  if (::pipe2(pipe.data(), O_CLOEXEC) != 0) return ErrnoStatus(errno, path);
  pid_t program = 0;
  const int error = SpawnSettings(pipe[1]).Spawn(path, &program);
  // Otherwise the pipe would have a writer left when the program ends, and reads would never see its end.
  ::close(pipe[1]);
  if (error == 0) return std::unique_ptr<TraceFile>(new FstFile(program, pipe[0]));
  ::close(pipe[0]);
  return CannotRun(path, error);
}

FstFile::~FstFile() {
  ::close(output_);
  if (program_ == 0) return;
  // The destructor must not wait for the conversion of the rest.
  ::kill(program_, SIGTERM);
  (void)End();
}

absl::StatusOr<size_t> FstFile::Read(std::span<char> buffer) {
  size_t size = 0;
  while (size < buffer.size()) {
    const ssize_t more = ::read(output_, buffer.data() + size, buffer.size() - size);
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
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    ended_ = absl::InvalidArgumentError(absl::StrCat(kProgram, " does not read the FST data to its end"));
  }
  return ended_;
}

}  // namespace sideband::sim
