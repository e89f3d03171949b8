// SPDX-License-Identifier: Apache-2.0
#include <grpc/support/log.h>
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <optional>

#include "client/cli/cli.h"
#include "client/cli/commands.h"
#include "client/cli/interrupt.h"
#include "client/cli/output.h"
#include "client/lib/channel.h"

namespace sideband::client {
namespace {

std::optional<std::string> GetVariable(const std::string& name) {
  const char* const value = std::getenv(name.c_str());
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

// Errors are told once, by us; who looks into gRPC itself sets its variable.
void QuietGrpc() {
  if (!GetVariable("GRPC_VERBOSITY").has_value()) gpr_set_log_function([](gpr_log_func_args*) {});
}

int Main(int argc, char** argv) {
  ::signal(SIGPIPE, SIG_IGN);  // a closed pipe is an error of write()
  QuietGrpc();
  FdOutput out(STDOUT_FILENO, "standard output");
  Cancellation cancellation;
  std::optional<InterruptWatcher> watcher;
  Environment environment{
      .out = out, .cancellation = cancellation, .get_env = GetVariable, .connect = [&](const ClientConfig& config) {
        // Only from here on is there something to cancel, and gRPC has no threads yet.
        if (!watcher.has_value()) watcher.emplace(cancellation);
        return Connect(config);
      }};
  const absl::Status status = RunCli({argv + 1, argv + argc}, AllCommands(), environment);
  // Who closed our output has seen enough.
  return out.closed() ? 0 : ReportCli(status);
}

}  // namespace
}  // namespace sideband::client

int main(int argc, char** argv) { return sideband::client::Main(argc, argv); }
