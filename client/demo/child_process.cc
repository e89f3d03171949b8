// SPDX-License-Identifier: Apache-2.0
#include "client/demo/child_process.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "proto/base/file.h"

namespace sideband::client {
namespace {

constexpr absl::Duration kPatience = absl::Seconds(5);
constexpr absl::Duration kPoll = absl::Milliseconds(10);
constexpr int kCannotExecute = 127;

// Between fork and exec: only calls that are safe there.
[[noreturn]] void BecomeProgram(char* const* arguments, int log) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  dup2(log, STDOUT_FILENO);
  dup2(log, STDERR_FILENO);
  execvp(arguments[0], arguments);
  _exit(kCannotExecute);
}

int StatusOf(int wait_status) {
  return WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : 128 + WTERMSIG(wait_status);
}

}  // namespace

absl::StatusOr<std::unique_ptr<ChildProcess>> ChildProcess::Start(const std::vector<std::string>& arguments,
                                                                  const std::string& log) {
  std::vector<char*> raw;
  for (const std::string& argument : arguments) raw.push_back(const_cast<char*>(argument.c_str()));
  raw.push_back(nullptr);
  const int log_file = open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (log_file < 0) return ErrnoStatus(errno, log);
  const pid_t pid = fork();
  if (pid == 0) BecomeProgram(raw.data(), log_file);
  close(log_file);
  if (pid < 0) return ErrnoStatus(errno, arguments[0]);
  return std::unique_ptr<ChildProcess>(new ChildProcess(pid));
}

ChildProcess::~ChildProcess() { Stop(); }

std::optional<int> ChildProcess::ExitStatus() {
  int wait_status = 0;
  if (!exit_status_ && waitpid(pid_, &wait_status, WNOHANG) == pid_) exit_status_ = StatusOf(wait_status);
  return exit_status_;
}

int ChildProcess::Stop() {
  if (!ExitStatus()) kill(pid_, SIGTERM);
  for (absl::Duration waited; !ExitStatus(); waited += kPoll) {
    if (waited == kPatience) kill(pid_, SIGKILL);
    absl::SleepFor(kPoll);
  }
  return *exit_status_;
}

absl::StatusOr<ShellResult> RunShell(const std::string& command) {
  std::FILE* const pipe = popen(("exec 2>&1; " + command).c_str(), "re");
  if (pipe == nullptr) return ErrnoStatus(errno, "sh");
  ShellResult result{};
  char buffer[1 << 14];
  size_t size;
  while ((size = std::fread(buffer, 1, sizeof(buffer), pipe)) > 0) result.output.append(buffer, size);
  result.exit_status = StatusOf(pclose(pipe));
  return result;
}

}  // namespace sideband::client
