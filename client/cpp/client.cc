// SPDX-License-Identifier: Apache-2.0
#include "sideband/client.h"

#include <cstdlib>
#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/cpp/answer.h"
#include "client/cpp/client_state.h"
#include "client/cpp/snapshot_values.h"
#include "client/cpp/stream_values.h"
#include "client/lib/channel.h"
#include "client/lib/config.h"
#include "proto/base/status_macros.h"
#include "sideband/stream.h"

namespace sideband {
namespace {

using client::TelemetryClient;
using library::Bounds;

static_assert(kAnswerBytesMax == client::kMessageBytesMax);

std::optional<std::string> GetVariable(const std::string& name) {
  // Nothing for a program with more rights than its user.
  const char* const value = ::secure_getenv(name.c_str());
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

absl::StatusOr<client::ClientConfig> ConfigOf(const ClientOptions& options) {
  const client::ClientConfig given{.address = options.address,
                                   .ca_file = options.ca_file,
                                   .cert_file = options.cert_file,
                                   .key_file = options.key_file,
                                   .token_file = options.token_file,
                                   .server_name = options.server_name};
  const std::optional<std::string> file = client::FindClientConfig(options.config_file, GetVariable);
  if (!file) return client::Override({}, given);
  SIDEBAND_ASSIGN_OR_RETURN(client::ClientConfig config, client::LoadClientConfig(*file));
  return client::Override(std::move(config), given);
}

absl::StatusOr<std::unique_ptr<library::ClientState>> StateOf(const ClientOptions& options) {
  if (options.timeout <= Duration::zero()) return absl::InvalidArgumentError("timeout: must be above 0");
  SIDEBAND_ASSIGN_OR_RETURN(client::ClientConfig config, ConfigOf(options));
  SIDEBAND_ASSIGN_OR_RETURN(auto connection,
                            library::Connection::Open(std::move(config), absl::FromChrono(options.timeout)));
  return std::make_unique<library::ClientState>(std::move(connection));
}

template <typename Request>
Request Of(const std::string& device) {
  Request request;
  request.set_device(device);
  return request;
}

// For responses with a conversion of their own.
constexpr auto kValue = [](const auto& response, Bounds& bounds) { return library::ValueOf(response, bounds); };
constexpr auto kValues = [](const auto& response, Bounds& bounds) { return library::ValuesOf(response, bounds); };

}  // namespace

Result<Client> Client::Connect(const ClientOptions& options) noexcept {
  absl::StatusOr<std::unique_ptr<library::ClientState>> state = StateOf(options);
  if (!state.ok()) return library::ErrorOf(state.status());
  return Client(*std::move(state));
}

Client::Client(std::unique_ptr<library::ClientState> state) noexcept : state_(std::move(state)) {}
Client::Client(Client&&) noexcept = default;
Client& Client::operator=(Client&&) noexcept = default;
Client::~Client() = default;

Result<std::vector<Device>> Client::ListDevices() const noexcept {
  return state_->Call(&TelemetryClient::ListDevices, {}, kValues);
}

Result<std::vector<DeviceEvents>> Client::ListEvents(const std::string& device) const noexcept {
  return state_->Call(&TelemetryClient::ListEvents, Of<v1::ListEventsRequest>(device), kValues);
}

Result<std::vector<Scope>> Client::ListScopes(const std::string& device) const noexcept {
  return state_->Call(&TelemetryClient::ListScopes, Of<v1::ListScopesRequest>(device), kValues);
}

Result<std::vector<Snapshot>> Client::GetSnapshots(const Filter& filter) const noexcept {
  v1::GetSnapshotRequest request;
  *request.mutable_filter() = library::ToMessage(filter);
  return state_->Call(&TelemetryClient::GetSnapshot, request, kValues);
}

Result<History> Client::GetHistory(const HistoryRequest& request) const noexcept {
  if (request.step < Duration::zero()) return Error{ErrorCode::kInvalidArgument, "step: must not be below 0"};
  return state_->Call(&TelemetryClient::GetHistory, library::ToMessage(request), kValue);
}

Result<std::vector<DeviceSensors>> Client::GetSensors(const SensorFilter& filter) const noexcept {
  v1::GetSensorsRequest request;
  *request.mutable_filter() = library::ToMessage(filter);
  return state_->Call(&TelemetryClient::GetSensors, request, kValues);
}

Result<Mark> Client::PlaceMark(const MarkRequest& request) const noexcept {
  return state_->Call(&TelemetryClient::Mark, library::ToMessage(request),
                      [](const auto& response, Bounds& bounds) { return library::ValueOf(response.mark(), bounds); });
}

Result<std::vector<Mark>> Client::ListMarks(const MarkFilter& filter) const noexcept {
  return state_->Call(&TelemetryClient::ListMarks, library::ToMessage(filter), kValues);
}

Result<Span> Client::GetSpan(const SpanRequest& request) const noexcept {
  return state_->Call(&TelemetryClient::GetSpan, library::ToMessage(request), kValue);
}

Result<Stream> Client::Subscribe(const StreamOptions& options) const noexcept {
  if (absl::Status status = library::CheckOptions(options); !status.ok()) return library::ErrorOf(status);
  return Stream(std::make_unique<library::StreamState>(state_->config(), options));
}

Stream::Stream(std::unique_ptr<library::StreamState> state) noexcept : state_(std::move(state)) {}
Stream::Stream(Stream&&) noexcept = default;
Stream& Stream::operator=(Stream&&) noexcept = default;
Stream::~Stream() = default;

Result<StreamItem> Stream::Next() noexcept {
  absl::StatusOr<StreamItem> item = state_->Next();
  if (!item.ok()) return library::ErrorOf(item.status());
  return *std::move(item);
}

std::string Stream::resume_token() const noexcept { return state_->resume_token(); }

void Stream::Cancel() noexcept { state_->Cancel(); }

}  // namespace sideband
