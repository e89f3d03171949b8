// SPDX-License-Identifier: Apache-2.0
#include "client/cli/command.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "client/lib/channel.h"
#include "proto/base/status_macros.h"
#include "proto/base/visible.h"

namespace sideband::client {

void CommandContext::Note(const std::string& note) {
  // A failure to write to standard error cannot be reported anywhere.
  (void)environment_.err.Write(absl::StrCat("sideband: ", Visible(note), "\n"));
}

TableStyle CommandContext::StyleOf(TableStyle style) const {
  const std::optional<TerminalSize> terminal = Terminal();
  style.cut = terminal.has_value();
  if (terminal) style.columns = terminal->columns;
  return style;
}

absl::StatusOr<ClientConfig> CommandContext::Config() const {
  ClientConfig config;
  if (const auto file = FindClientConfig(config_file_, environment_.get_env); file.has_value()) {
    SIDEBAND_ASSIGN_OR_RETURN(config, LoadClientConfig(*file));
  }
  return Override(std::move(config), flags_);
}

// Says which file should have the setting that a connection lacks.
absl::Status CommandContext::Locate(const absl::Status& status, const ClientConfig& config) const {
  const std::string missing = MissingSetting(config);
  if (missing.empty() || !absl::StartsWith(status.message(), absl::StrCat("no ", missing, " is given"))) return status;
  const auto file = FindClientConfig(config_file_, environment_.get_env);
  if (file) return absl::InvalidArgumentError(absl::StrCat(*file, ": ", missing, " is missing, for ", config.address));
  return absl::InvalidArgumentError(
      absl::StrCat("there is no configuration: neither --config nor $SIDEBAND_CONFIG names a file, and "
                   "~/.config/sideband/client.yaml does not exist; ",
                   config.address, " needs a ", missing));
}

absl::StatusOr<std::unique_ptr<TelemetryClient>> CommandContext::Connect() {
  SIDEBAND_ASSIGN_OR_RETURN(const ClientConfig config, Config());
  stamps_ = CredentialStamps(config);
  const auto connected = environment_.connect(config);
  if (!connected.ok()) return Locate(connected.status(), config);
  const std::shared_ptr<grpc::Channel>& channel = *connected;
  return std::make_unique<TelemetryClient>(channel, TelemetryClient::Options{.peer = config.address}, cancellation());
}

bool CommandContext::HasNewCredentials() const {
  const absl::StatusOr<ClientConfig> config = Config();
  // A configuration that is broken for the moment is reported by the next Connect().
  return !config.ok() || CredentialStamps(*config) != stamps_;
}

}  // namespace sideband::client
