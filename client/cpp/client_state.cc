// SPDX-License-Identifier: Apache-2.0
#include "client/cpp/client_state.h"

#include <utility>

#include "absl/memory/memory.h"
#include "absl/time/time.h"
#include "client/lib/channel.h"
#include "client/lib/telemetry_client.h"
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

namespace {

class CallSource final : public ResponseSource {
 public:
  CallSource(const std::shared_ptr<grpc::Channel>& channel, const v1::SubscribeRequest& request, std::string peer,
             client::Cancellation& cancellation)
      : call_(channel, request, std::move(peer), cancellation) {}

  Outcome Read(absl::Duration patience, v1::SubscribeResponse& response) override {
    return call_.Read(patience, response);
  }
  absl::Status Finish() override { return call_.Finish(); }

 private:
  client::SubscribeCall call_;
};

}  // namespace

StreamState::StreamState(client::ClientConfig config, StreamOptions options)
    : config_(std::move(config)), random_(std::random_device()()), subscription_(options, MakeEnvironment(options)) {}

Subscription::Environment StreamState::MakeEnvironment(const StreamOptions& options) {
  return {.peer = config_.address,
          .open = [this](const v1::SubscribeRequest& request) { return Open(request); },
          .wait =
              [this, given = options.sleep](absl::Duration delay) {
                if (given) return given(absl::ToChronoNanoseconds(delay));
                cancellation_.WaitFor(delay);
              },
          .is_cancelled = [this] { return cancellation_.cancelled(); },
          .has_new_credentials = [this] { return client::CredentialStamps(config_) != stamps_; },
          .random = [this] { return std::uniform_real_distribution<>()(random_); }};
}

absl::StatusOr<std::unique_ptr<ResponseSource>> StreamState::Open(const v1::SubscribeRequest& request) {
  stamps_ = client::CredentialStamps(config_);
  // A channel of its own for each connection: it has the files as they are, and none of gRPC's delays.
  SIDEBAND_ASSIGN_OR_RETURN(const auto channel, client::Connect(config_));
  return std::make_unique<CallSource>(channel, request, config_.address, cancellation_);
}

}  // namespace sideband::library
