// SPDX-License-Identifier: Apache-2.0
#include "client/demo/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "proto/base/file.h"
#include "proto/base/status_macros.h"
#include "proto/base/steady_time.h"

namespace sideband::client {
absl::Status AwaitReady(const std::string& program, const Patience& patience, const ReadinessProbe& probe,
                        const std::function<void(const std::string& line)>& report) {
  const absl::Duration start = SteadyNow();
  absl::Duration next_report = patience.report;
  while (true) {
    SIDEBAND_ASSIGN_OR_RETURN(const std::string reason, probe());
    if (reason.empty()) return absl::OkStatus();
    const absl::Duration waited = SteadyNow() - start;
    // Checked after the probe, which therefore runs at least once.
    if (waited >= patience.limit) {
      return absl::DeadlineExceededError(
          absl::StrCat(program, " did not become ready within ", absl::FormatDuration(patience.limit), ": ", reason));
    }
    if (waited >= next_report) {
      report(absl::StrCat(program, " is not ready yet: ", reason, "\n"));
      next_report += patience.report;
    }
    SteadySleep(patience.between);
  }
}

namespace {

constexpr absl::Duration kPatience = absl::Seconds(5);
constexpr absl::Duration kPoll = absl::Milliseconds(10);
constexpr int kCannotExecute = 127;

// Runs between fork and exec: only async-signal-safe calls are allowed.
[[noreturn]] void BecomeProgram(char* const* arguments, int log) {
  // In a process group of its own, Ctrl-C reaches only the parent, which stops the child in order.
  setpgid(0, 0);
  // Covers a parent that is killed before it can stop the child.
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  // The watcher's blocked SIGINT and SIGTERM would be inherited through exec.
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
  const Descriptor log_file(open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (!log_file.is_open()) return ErrnoStatus(errno, log);
  const pid_t pid = fork();
  if (pid == 0) BecomeProgram(raw.data(), log_file.get());
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
    // The child ignores SIGTERM, or takes too long.
    if (waited == kPatience) kill(pid_, SIGKILL);
    SteadySleep(kPoll);
  }
  return *exit_status_;
}

absl::StatusOr<ShellResult> RunShell(const std::string& command, const std::function<void()>& waiting,
                                     absl::Duration silence) {
  std::FILE* const pipe = popen(("exec 2>&1; " + command).c_str(), "re");
  if (pipe == nullptr) return ErrnoStatus(errno, "sh");
  ShellResult result{};
  pollfd readable = {.fd = fileno(pipe), .events = POLLIN};
  char buffer[1 << 14];
  while (true) {
    const int ready = poll(&readable, 1, static_cast<int>(absl::ToInt64Milliseconds(silence)));
    if (ready == 0) waiting();
    if (ready == 0 || (ready < 0 && errno == EINTR)) continue;
    const ssize_t size = read(readable.fd, buffer, sizeof(buffer));
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) break;
    result.output.append(buffer, static_cast<size_t>(size));
  }
  result.exit_status = StatusOf(pclose(pipe));
  return result;
}

}  // namespace sideband::client
