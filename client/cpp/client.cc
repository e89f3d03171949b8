// SPDX-License-Identifier: Apache-2.0
//
// The functions that the public headers declare: calls, streams, errors, times and rates.
#include "sideband/client.h"

#include <cstdlib>
#include <optional>
#include <unordered_map>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "client/cpp/client_state.h"
#include "client/cpp/snapshot_values.h"
#include "client/cpp/stream_values.h"
#include "client/lib/channel.h"
#include "proto/base/status_macros.h"
#include "sideband/error.h"
#include "sideband/rates.h"
#include "sideband/stream.h"
#include "sideband/time.h"

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

// The key of one life of a scope's counters.
std::string LifeKey(const Scope& scope) { return library::ScopeKey(scope) + ':' + std::to_string(scope.generation); }

bool IsExact(const Counter& counter) { return !counter.estimate && (!counter.coverage || *counter.coverage == 1); }

std::optional<Increase> IncreaseOf(const Counter& earlier, const Counter& later, double seconds) {
  // Estimates may fall.
  if (later.count < earlier.count) return std::nullopt;
  const uint64_t count = later.count - earlier.count;
  return Increase{.event = later.event,
                  .count = count,
                  .per_second = static_cast<double>(count) / seconds,
                  .exact = IsExact(earlier) && IsExact(later)};
}

ScopeIncreases IncreasesOf(const ScopeCounters& earlier, const ScopeCounters& later, double seconds) {
  ScopeIncreases row{.scope = later.scope};
  std::unordered_map<std::string_view, const Counter*> before;
  for (const Counter& counter : earlier.counters) before.emplace(counter.event, &counter);
  for (const Counter& counter : later.counters) {
    const auto found = before.find(counter.event);
    if (found == before.end()) continue;
    if (auto increase = IncreaseOf(*found->second, counter, seconds)) row.increases.push_back(*std::move(increase));
  }
  return row;
}

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

const char* ErrorCodeName(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::kInvalidArgument:
      return "InvalidArgument";
    case ErrorCode::kNotFound:
      return "NotFound";
    case ErrorCode::kUnauthenticated:
      return "Unauthenticated";
    case ErrorCode::kPermissionDenied:
      return "PermissionDenied";
    case ErrorCode::kFailedPrecondition:
      return "FailedPrecondition";
    case ErrorCode::kResourceExhausted:
      return "ResourceExhausted";
    case ErrorCode::kUnavailable:
      return "Unavailable";
    case ErrorCode::kDeadlineExceeded:
      return "DeadlineExceeded";
    case ErrorCode::kCancelled:
      return "Cancelled";
    case ErrorCode::kAborted:
      return "Aborted";
    case ErrorCode::kUnimplemented:
      return "Unimplemented";
    case ErrorCode::kProtocol:
      return "Protocol";
    case ErrorCode::kInternal:
      return "Internal";
  }
  return "Unknown";
}

std::string FormatTime(Time time) noexcept {
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(std::chrono::floor<std::chrono::milliseconds>(time - day));
  return absl::StrFormat("%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", static_cast<int>(date.year()),
                         static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()), clock.hours().count(),
                         clock.minutes().count(), clock.seconds().count(), clock.subseconds().count());
}

std::vector<ScopeIncreases> IncreasesBetween(const Snapshot& earlier, const Snapshot& later) noexcept {
  std::vector<ScopeIncreases> rows;
  const double seconds = std::chrono::duration<double>(later.reference_time - earlier.reference_time).count();
  if (earlier.device != later.device || earlier.boot_id != later.boot_id || seconds <= 0) return rows;
  std::unordered_map<std::string, const ScopeCounters*> before;
  for (const ScopeCounters& row : earlier.scopes) before.emplace(LifeKey(row.scope), &row);
  for (const ScopeCounters& row : later.scopes) {
    const auto found = before.find(LifeKey(row.scope));
    if (found != before.end()) rows.push_back(IncreasesOf(*found->second, row, seconds));
  }
  return rows;
}

}  // namespace sideband
