// SPDX-License-Identifier: Apache-2.0
//
// What a subcommand of `sideband` is. A new one is a class here or in another folder, and a line in commands.cc.
//   class GetCommand final : public Command { … };
//   std::unique_ptr<Command> NewGetCommand() { return std::make_unique<GetCommand>(); }
#ifndef SIDEBAND_CLIENT_CLI_COMMAND_H_
#define SIDEBAND_CLIENT_CLI_COMMAND_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "client/cli/output.h"
#include "client/lib/cancellation.h"
#include "client/lib/config.h"
#include "client/lib/telemetry_client.h"

namespace CLI {
class App;
}

namespace sideband::client {

// What the program gets from outside. All must outlive the run.
struct Environment {
  Output& out;
  // Comes with Ctrl-C.
  Cancellation& cancellation;
  GetEnv get_env;
  // Connect, or a test's own way.
  std::function<absl::StatusOr<std::shared_ptr<grpc::Channel>>(const ClientConfig&)> connect;
  // The calendar time.
  std::function<absl::Time()> now = absl::Now;
};

// One run of a command.
class CommandContext {
 public:
  // `config_file` and `flags` as given on the command line, empty where not.
  CommandContext(Environment& environment, std::string config_file, ClientConfig flags)
      : environment_(environment), config_file_(std::move(config_file)), flags_(std::move(flags)) {}

  Output& out() { return environment_.out; }
  Cancellation& cancellation() { return environment_.cancellation; }
  absl::Time Now() const { return environment_.now(); }
  // The configuration that applies: file, then flags.
  absl::StatusOr<ClientConfig> Config() const;
  // A client for the daemon that the configuration names.
  absl::StatusOr<std::unique_ptr<TelemetryClient>> Connect();

 private:
  Environment& environment_;
  const std::string config_file_;
  const ClientConfig flags_;
};

class Command {
 public:
  virtual ~Command() = default;
  virtual std::string name() const = 0;
  virtual std::string description() const = 0;
  // Adds options, which are stored in the command, and a footer with examples.
  virtual void Define(CLI::App& app) = 0;
  // After the command line has been parsed. An error that is not remote (rpc_status.h) and of the kind that
  // ReportAndExitCode takes for a mistake in the input ends the program with 2, every other with 1.
  virtual absl::Status Run(CommandContext& context) = 0;
};

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_CLI_COMMAND_H_
