// SPDX-License-Identifier: Apache-2.0
//
// A child process that ends with its parent, and the wait until it is ready.
//   SIDEBAND_ASSIGN_OR_RETURN(const auto daemon, ChildProcess::Start({"sidebandd", "--config", path}, log_path));
//   daemon->Stop();
#ifndef SIDEBAND_CLIENT_DEMO_CHILD_PROCESS_H_
#define SIDEBAND_CLIENT_DEMO_CHILD_PROCESS_H_

#include <sys/types.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace sideband::client {

// How long to wait until a started program is ready.
struct Patience {
  absl::Duration limit = absl::Seconds(30);         // from the first probe
  absl::Duration between = absl::Milliseconds(50);  // between two probes
  absl::Duration report = absl::Seconds(10);        // between two calls of `report`
};

// Returns the reason why the program is not ready yet; an empty string if it is ready; an error if waiting is
// pointless.
using ReadinessProbe = std::function<absl::StatusOr<std::string>()>;

// Repeats `probe` until the program is ready. An error of the probe is returned immediately. DEADLINE_EXCEEDED, with
// the last reason, after `patience.limit` of monotonic time. `report` receives the newest reason at every
// `patience.report`, so that a long wait is not silent.
absl::Status AwaitReady(const std::string& program, const Patience& patience, const ReadinessProbe& probe,
                        const std::function<void(const std::string& line)>& report);

// Not thread-safe.
class ChildProcess {
 public:
  // `arguments` starts with the program, which is searched in PATH as by a shell. Standard output and error are written
  // to `log`. The child has its own process group, so that Ctrl-C reaches only the parent. The kernel sends it SIGTERM
  // if the parent dies.
  static absl::StatusOr<std::unique_ptr<ChildProcess>> Start(const std::vector<std::string>& arguments,
                                                             const std::string& log);
  // Stops the child.
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  // The exit status (128 + signal if a signal ended the child), or nullopt while the child runs.
  std::optional<int> ExitStatus();
  // Sends SIGTERM, and SIGKILL if the child has not ended after five seconds. Returns its exit status.
  int Stop();
  pid_t pid() const { return pid_; }

 private:
  explicit ChildProcess(pid_t pid) : pid_(pid) {}

  const pid_t pid_;
  std::optional<int> exit_status_;
};

// Runs `command` in the shell until it ends; returns the text of both outputs, and the exit status. Calls `waiting`
// after each period of `silence` without output.
struct ShellResult {
  int exit_status;
  std::string output;
};
inline constexpr absl::Duration kShellSilence = absl::Seconds(10);
absl::StatusOr<ShellResult> RunShell(
    const std::string& command, const std::function<void()>& waiting = [] {}, absl::Duration silence = kShellSilence);

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_DEMO_CHILD_PROCESS_H_
