// SPDX-License-Identifier: Apache-2.0
#include "client/cli/command.h"

#include <string>
#include <utility>

#include "absl/strings/cord.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "client/cli/handshake_cause.h"
#include "client/lib/channel.h"
#include "client/lib/rpc_status.h"
#include "proto/base/status_macros.h"
#include "proto/base/text.h"

namespace sideband::client {
namespace {

// Appends the token's expiry to a rejection by the daemon if the token has expired. Other errors are returned
// unchanged.
absl::Status WithTokenExpiry(const absl::Status& status, const CommandContext& context) {
  if (!IsRemote(status) || !(absl::IsUnauthenticated(status) || absl::IsPermissionDenied(status))) return status;
  const auto config = context.Config();
  if (!config.ok() || config->token_file.empty()) return status;
  const auto token = LoadToken(config->token_file);
  if (!token.ok()) return status;
  const auto expiry = TokenExpiry(*token);
  if (!expiry.has_value() || *expiry > context.Now()) return status;
  const std::string when = absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", *expiry, absl::UTCTimeZone());
  return MarkRemote(absl::Status(
      status.code(), absl::StrCat(status.message(), " (the token in ", config->token_file, " expired at ", when, ")")));
}

// gRPC's words for a handshake that fails are of the transport: in their place, what is wrong with which file.
absl::Status WithHandshakeCause(const absl::Status& status, const CommandContext& context) {
  if (!IsRemote(status) || !absl::IsUnavailable(status)) return status;
  const auto config = context.Config();
  const std::string cause = config.ok() ? HandshakeCause(*config, context.Now()) : "";
  if (cause.empty()) return status;
  absl::Status told = absl::UnavailableError(absl::StrCat(config->address, ": ", cause));
  status.ForEachPayload([&](absl::string_view url, const absl::Cord& payload) { told.SetPayload(url, payload); });
  return told;
}

constexpr char kExitCodeUrl[] = "sideband.client/exit_code";

}  // namespace

void CommandContext::Note(const std::string& note) {
  // An error of the host's daemon begins with its address.
  const bool has_host = host_.empty() || absl::StartsWith(note, absl::StrCat(host_, ":"));
  // Several hosts may have something to say at the same time.
  ABSL_CONST_INIT static absl::Mutex mu(absl::kConstInit);
  const absl::MutexLock lock(&mu);
  // A failure to write to standard error cannot be reported anywhere.
  (void)environment_.err.Write(
      absl::StrCat("sideband: ", Visible(has_host ? note : absl::StrCat(host_, ": ", note)), "\n"));
}

CommandContext CommandContext::For(const std::string& host) const {
  ClientConfig flags = flags_;
  flags.address = host;
  CommandContext context(environment_, config_file_, std::move(flags));
  context.host_ = host;
  return context;
}

absl::Status CommandContext::Explain(const absl::Status& status) const {
  return WithHandshakeCause(WithTokenExpiry(status, *this), *this);
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
  if (AddressesOf(config).size() > 1) {
    return absl::InvalidArgumentError(absl::StrCat("address '", config.address,
                                                   "': this command asks one daemon; several are for devices, get, "
                                                   "watch and top"));
  }
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

absl::Status WithExitCode(absl::Status status, int code) {
  // A view, not a string: clang from 18 on names Cord's constructor for strings otherwise than g++, by which Debian's
  // Abseil is compiled, and programs would not link.
  status.SetPayload(kExitCodeUrl, absl::Cord(absl::AlphaNum(code).Piece()));
  return status;
}

std::optional<int> ExitCode(const absl::Status& status) {
  const auto payload = status.GetPayload(kExitCodeUrl);
  int code = 0;
  if (!payload || !absl::SimpleAtoi(std::string(*payload), &code)) return std::nullopt;
  return code;
}

}  // namespace sideband::client
