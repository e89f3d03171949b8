// SPDX-License-Identifier: Apache-2.0
//
// The interface of a `sideband` subcommand. A new subcommand is a class here or in another folder, and a line in
// commands.cc.
//   class GetCommand final : public Command {
//    public:
//     std::string name() const override { return "get"; }
//     std::string description() const override { return "Print the newest counters"; }
//     void Define(CLI::App& app) override;
//     absl::Status Run(CommandContext& context) override;
//   };
//   std::unique_ptr<Command> NewGetCommand() { return std::make_unique<GetCommand>(); }
#ifndef SIDEBAND_CLIENT_CLI_COMMAND_H_
#define SIDEBAND_CLIENT_CLI_COMMAND_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "client/cli/console.h"
#include "client/cli/table.h"
#include "client/lib/cancellation.h"
#include "client/lib/channel.h"
#include "client/lib/opener.h"
#include "client/lib/telemetry_client.h"

namespace CLI {
class App;
}

namespace sideband::client {

// An exit status for an error that needs another one than ReportAndExitCode returns. `status` must not be OK; `code` is
// from 1 to 255. A status without a message is one that has been reported already.
absl::Status WithExitCode(absl::Status status, int code);
std::optional<int> ExitCode(const absl::Status& status);

// The program's external dependencies. All referenced objects must outlive the run.
struct Environment {
  Output& out;
  // Standard error, for notes beside the output.
  Output& err;
  // Cancelled by Ctrl-C.
  Cancellation& cancellation;
  GetEnv get_env;
  // Opens the channel; tests replace it.
  std::function<absl::StatusOr<std::shared_ptr<grpc::Channel>>(const ClientConfig&)> connect;
  // The current calendar time.
  std::function<absl::Time()> now = absl::Now;
  // Waits for the duration or until the cancellation; returns whether the cancellation came.
  std::function<bool(absl::Duration)> wait = [&cancelled = cancellation](absl::Duration duration) {
    return cancelled.WaitFor(duration);
  };
  // The size of the terminal that `out` is; nullopt if it is none.
  std::function<std::optional<TerminalSize>()> terminal = [] { return std::optional<TerminalSize>(); };
  // Draws the nonce for a stream of sealed records.
  std::function<absl::StatusOr<envelope::GuestNonce>()> draw_nonce = DrawGuestNonce;
};

// The context of one command run.
class CommandContext {
 public:
  // `config_file` and `flags` are the command line's values; empty if not given.
  CommandContext(Environment& environment, std::string config_file, ClientConfig flags)
      : environment_(environment), config_file_(std::move(config_file)), flags_(std::move(flags)) {}

  Output& out() { return environment_.out; }
  Cancellation& cancellation() { return environment_.cancellation; }
  absl::Time Now() const { return environment_.now(); }
  bool Wait(absl::Duration duration) { return environment_.wait(duration); }
  // Prints a line to standard error, "sideband: note", with control characters made visible. Thread-safe.
  void Note(const std::string& note);
  std::optional<TerminalSize> Terminal() const { return environment_.terminal(); }
  // `style` for the output: lines fit a terminal; elsewhere nothing is cut.
  TableStyle StyleOf(TableStyle style) const;
  const GetEnv& get_env() const { return environment_.get_env; }
  absl::StatusOr<envelope::GuestNonce> DrawNonce() const { return environment_.draw_nonce(); }
  // The effective configuration: the file's values, overridden by the flags.
  absl::StatusOr<ClientConfig> Config() const;
  // A client of the configured daemon.
  absl::StatusOr<std::unique_ptr<TelemetryClient>> Connect();
  // The context for one of several daemons, by its address. Its notes begin with the address.
  CommandContext For(const std::string& host) const;
  // The command's error, with the file's fault if that is the cause.
  absl::Status Explain(const absl::Status& status) const;
  // Whether the files of the credentials have changed since the last Connect(). The thread that calls Connect() calls
  // this, too.
  bool HasNewCredentials() const;

 private:
  absl::Status Locate(const absl::Status& status, const ClientConfig& config) const;

  Environment& environment_;
  const std::string config_file_;
  const ClientConfig flags_;
  std::string host_;   // of several; else empty
  FileStamps stamps_;  // of the last Connect()
};

// Why a TLS connection to the daemon fails. gRPC says "Endpoint read failed" for most causes; a handshake with the same
// files has the verification's result and the daemon's alert. One sentence that begins with the file at fault, or names
// what is wrong with the daemon's certificate. Empty if the handshake succeeds, if no server answers, and for a
// connection without TLS. It connects, and takes some seconds at most.
std::string HandshakeCause(const ClientConfig& config, absl::Time now);

class Command {
 public:
  virtual ~Command() = default;
  virtual std::string name() const = 0;
  virtual std::string description() const = 0;
  // Adds options, which are stored in the command, and a footer with examples.
  virtual void Define(CLI::App& app) = 0;
  // Called after the command line has been parsed. An error that is not remote (rpc_status.h) and that
  // ReportAndExitCode classifies as an input mistake ends the program with 2, every other error with 1. WithExitCode
  // overrides both.
  virtual absl::Status Run(CommandContext& context) = 0;

  // Under which title `sideband --help` lists it.
  const std::string& group() const { return group_; }
  void set_group(std::string group) { group_ = std::move(group); }

 private:
  std::string group_ = "Tools";
};

// Factories of this folder's subcommands; client/commands.cc lists all subcommands.

// `sideband devices`: lists the devices that the caller may see.
std::unique_ptr<Command> NewDevicesCommand();
// `sideband events`: lists the events that the devices count.
std::unique_ptr<Command> NewEventsCommand();
// `sideband scopes`: lists the VMs and contexts whose counters the caller may read.
std::unique_ptr<Command> NewScopesCommand();
// `sideband get`: prints the newest counters; with --since, past counters.
std::unique_ptr<Command> NewGetCommand();
// `sideband peek`: prints a few counters as they are now.
std::unique_ptr<Command> NewPeekCommand();
// `sideband watch`: prints counters as the daemon reads them, until Ctrl-C.
std::unique_ptr<Command> NewWatchCommand();
// `sideband health`: reports whether the daemon serves, for probes.
std::unique_ptr<Command> NewHealthCommand();
// `sideband admin`: what operators on the daemon's machine may do.
std::unique_ptr<Command> NewAdminCommand();
// `sideband counting`: shows, sets and explains who is counted.
std::unique_ptr<Command> NewCountingCommand();
// `sideband rotation`: shows, plans and sets which events are multiplexed on the counters.
std::unique_ptr<Command> NewRotationCommand();
// `sideband mark`, `marks`, `span`: instants of a VM's work, and the counts between two of them.
std::unique_ptr<Command> NewMarkCommand();
std::unique_ptr<Command> NewMarksCommand();
std::unique_ptr<Command> NewSpanCommand();
// `sideband clocks`: lists the clocks of a device.
std::unique_ptr<Command> NewClocksCommand();
// `sideband sensors`: prints the measurements of boards.
std::unique_ptr<Command> NewSensorsCommand();
// `sideband board events`: prints the events of boards.
std::unique_ptr<Command> NewBoardCommand();
// `sideband hpc`: reads counters by registers, inside a guest.
std::unique_ptr<Command> NewHpcCommand();
// `sideband export`: serves a confidential VM's counters to a Prometheus inside it.
std::unique_ptr<Command> NewExportCommand();
// `sideband unseal`: opens sealed records with the VM's key.
std::unique_ptr<Command> NewUnsealCommand();
// `sideband audit`: verifies and prints the daemon's audit log files.
std::unique_ptr<Command> NewAuditCommand();
// `sideband completion SHELL`: prints the completion for a shell, as //client:manual does.
std::unique_ptr<Command> NewCompletionCommand();
// `sideband i2cdev -- COMMAND …`: runs a program that uses /dev/i2c-N on a virtual bus.
std::unique_ptr<Command> NewI2cDevCommand();

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_CLI_COMMAND_H_
