// SPDX-License-Identifier: Apache-2.0
#include "client/cpp/client_state.h"

#include <utility>

#include "absl/memory/memory.h"
#include "client/lib/channel.h"
#include "proto/base/status_macros.h"

namespace sideband::library {
Connection::Connection(client::ClientConfig config, absl::Duration deadline)
    : config_(std::move(config)), deadline_(deadline) {}

absl::StatusOr<std::unique_ptr<Connection>> Connection::Open(client::ClientConfig config, absl::Duration deadline) {
  auto connection = absl::WrapUnique(new Connection(std::move(config), deadline));
  absl::MutexLock lock(&connection->mu_);
  SIDEBAND_RETURN_IF_ERROR(connection->Renew(client::CredentialStamps(connection->config_)));
  return connection;
}

std::shared_ptr<client::TelemetryClient> Connection::Telemetry() {
  absl::MutexLock lock(&mu_);
  const client::FileStamps stamps = client::CredentialStamps(config_);
  // Files that do not fit each other are about to: the present connection goes on, and the next call looks again.
  if (is_forgotten_ || stamps != stamps_) Renew(stamps).IgnoreError();
  return telemetry_;
}

void Connection::Forget(const std::shared_ptr<client::TelemetryClient>& failed) {
  absl::MutexLock lock(&mu_);
  if (telemetry_ == failed) is_forgotten_ = true;
}

absl::Status Connection::Renew(const client::FileStamps& stamps) {
  SIDEBAND_ASSIGN_OR_RETURN(const auto channel, client::Connect(config_));
  telemetry_ = std::make_shared<client::TelemetryClient>(
      channel, client::TelemetryClient::Options{.peer = config_.address, .deadline = deadline_}, cancellation_);
  stamps_ = stamps;
  is_forgotten_ = false;
  return absl::OkStatus();
}

}  // namespace sideband::library
