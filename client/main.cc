// SPDX-License-Identifier: Apache-2.0
#include <grpc/support/log.h>
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <optional>

#include "client/cli/cli.h"
#include "client/cli/console.h"
#include "client/commands.h"
#include "client/lib/channel.h"
#include "proto/base/errors.h"

namespace sideband::client {
namespace {

std::optional<std::string> GetVariable(const std::string& name) {
  const char* const value = std::getenv(name.c_str());
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

// The program reports errors itself. GRPC_VERBOSITY enables gRPC's log for debugging.
void QuietGrpc() {
  if (!GetVariable("GRPC_VERBOSITY").has_value()) gpr_set_log_function([](gpr_log_func_args*) {});
}

int Main(int argc, char** argv) {
  ::signal(SIGPIPE, SIG_IGN);  // write() then returns EPIPE for a closed pipe
  QuietGrpc();
  FdOutput out(STDOUT_FILENO, "standard output");
  FdOutput err(STDERR_FILENO, "standard error");
  Cancellation cancellation;
  std::optional<InterruptWatcher> watcher;
  Environment environment{.out = out,
                          .err = err,
                          .cancellation = cancellation,
                          .get_env = GetVariable,
                          .connect =
                              [&](const ClientConfig& config) {
                                // Earlier there is no call to cancel. Later is too late: gRPC's threads must inherit
                                // the blocked signals.
                                if (!watcher.has_value()) watcher.emplace(cancellation);
                                return Connect(config);
                              },
                          .terminal = [] { return SizeOfTerminal(STDOUT_FILENO); }};
  const absl::Status status = RunCli({argv + 1, argv + argc}, AllCommands(), environment);
  // A reader that closes the pipe, such as head(1), is not an error.
  return out.closed() ? 0 : ReportCli(status);
}

}  // namespace
}  // namespace sideband::client

int main(int argc, char** argv) {
  return sideband::RunProgram("sideband", [&] { return sideband::client::Main(argc, argv); });
}
