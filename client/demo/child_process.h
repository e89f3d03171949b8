// SPDX-License-Identifier: Apache-2.0
//
// A program that runs beside this one and ends with it.
//   SIDEBAND_ASSIGN_OR_RETURN(const auto daemon, ChildProcess::Start({"sidebandd", "--config", path}, log_path));
//   daemon->Stop();
#ifndef SIDEBAND_CLIENT_DEMO_CHILD_PROCESS_H_
#define SIDEBAND_CLIENT_DEMO_CHILD_PROCESS_H_

#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace sideband::client {

// Not thread-safe.
class ChildProcess {
 public:
  // `arguments` starts with the program, which is looked for as a shell would. Its standard output and error go to
  // `log`. It is in a process group of its own, so that Ctrl-C is for us alone, and the system ends it if we die.
  static absl::StatusOr<std::unique_ptr<ChildProcess>> Start(const std::vector<std::string>& arguments,
                                                             const std::string& log);
  // Stops.
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  // Its exit status (128 + signal where one ended it), or nothing while it runs.
  std::optional<int> ExitStatus();
  // SIGTERM, and SIGKILL if it has not ended after five seconds. Returns its exit status.
  int Stop();

 private:
  explicit ChildProcess(pid_t pid) : pid_(pid) {}

  const pid_t pid_;
  std::optional<int> exit_status_;
};

// Runs `command` with the shell to its end and returns what it printed, on both outputs, and its exit status.
struct ShellResult {
  int exit_status;
  std::string output;
};
absl::StatusOr<ShellResult> RunShell(const std::string& command);

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_DEMO_CHILD_PROCESS_H_
