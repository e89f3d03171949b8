// SPDX-License-Identifier: Apache-2.0
#include "client/top/feed.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "client/cli/options.h"
#include "client/cli/stream.h"
#include "client/lib/rpc_status.h"
#include "proto/base/status_macros.h"

namespace sideband::client::top {
namespace {

// The period of boards' sensors, which no stream brings.
constexpr absl::Duration kSensorPeriod = absl::Seconds(2);
// Devices come and go by reloads of the daemon only; their snapshots arrive in the stream.
constexpr int kSensorPeriodsPerList = 5;

bool HasEvent(const v1::ListEventsResponse& response, const FeedOptions& options) {
  return std::ranges::any_of(response.devices(), [&](const auto& device) {
    return IsChosen(options.model.devices, device.device()) &&
           std::ranges::any_of(device.events(), [&](const v1::Event& event) { return event.name() == options.event; });
  });
}

// The daemon's NOT_FOUND for what this caller does not see.
absl::Status CheckNames(const FeedOptions& options, TelemetryClient& client) {
  const std::vector<std::string>& devices = options.model.devices;
  if (devices.empty() && options.event.empty()) return absl::OkStatus();
  const auto events = ListFor(devices, [&](const std::string& device) {
    v1::ListEventsRequest request;
    request.set_device(device);
    return client.ListEvents(request);
  });
  if (!events.ok()) return ExplainNotFound(events.status(), {.devices = devices}, client);
  if (options.event.empty() || HasEvent(*events, options)) return absl::OkStatus();
  v1::GetSnapshotRequest request;
  request.mutable_filter()->add_events(options.event);
  return ExplainNotFound(client.GetSnapshot(request).status(), {.events = {options.event}}, client);
}

}  // namespace

absl::StatusOr<std::unique_ptr<Feed>> Feed::Start(CommandContext& context, std::unique_ptr<TelemetryClient> client,
                                                  FeedOptions options, std::function<void()> on_change) {
  SIDEBAND_RETURN_IF_ERROR(CheckNames(options, *client));
  std::unique_ptr<Feed> feed(new Feed(context, std::move(options), std::move(client), std::move(on_change)));
  SIDEBAND_RETURN_IF_ERROR(feed->List());
  feed->Begin(absl::OkStatus());
  return feed;
}

std::unique_ptr<Feed> Feed::StartAbsent(CommandContext& context, FeedOptions options, std::function<void()> on_change,
                                        const absl::Status& why) {
  std::unique_ptr<Feed> feed(new Feed(context, std::move(options), nullptr, std::move(on_change)));
  feed->Change([&](Model& model) {
    model.connection = absl::StrCat(why.message(), "; connecting again");
    model.is_synced = true;
  });
  feed->Begin(why);
  return feed;
}

void Feed::Begin(const absl::Status& first) {
  thread_ = std::thread([this, first] {
    const absl::Status ended = Run(first);
    {
      absl::MutexLock lock(&mu_);
      ended_ = ended;
    }
    on_change_();
  });
}

Feed::Feed(CommandContext& context, FeedOptions options, std::unique_ptr<TelemetryClient> client,
           std::function<void()> on_change)
    : context_(context),
      options_(std::move(options)),
      on_change_(std::move(on_change)),
      client_(std::move(client)),
      reconnection_([this](const std::string& line) { Change([&](Model& model) { model.connection = line; }); },
                    [this](absl::Duration delay) { return context_.Wait(delay); },
                    {.has_new_credentials = [this] { return context_.HasNewCredentials(); },
                     .waits_for_first = client_ == nullptr}),
      model_(options_.model) {}

Feed::~Feed() {
  // The cancellation is that of all hosts: a feed that has not begun must not end those of the others.
  if (!thread_.joinable()) return;
  context_.cancellation().Cancel();
  thread_.join();
}

void Feed::Read(const std::function<void(const Model&)>& reader) const {
  absl::MutexLock lock(&mu_);
  reader(model_);
}

absl::Status Feed::ended() const {
  absl::MutexLock lock(&mu_);
  return ended_;
}

void Feed::Change(const std::function<void(Model&)>& change) {
  {
    absl::MutexLock lock(&mu_);
    change(model_);
  }
  on_change_();
}

absl::Status Feed::List() {
  SIDEBAND_ASSIGN_OR_RETURN(const auto devices, client_->ListDevices({}));
  SIDEBAND_ASSIGN_OR_RETURN(const auto scopes, client_->ListScopes({}));
  Change([&](Model& model) {
    model.Apply(devices, context_.Now());
    model.Apply(scopes);
  });
  return absl::OkStatus();
}

// An older daemon has no such service. After an error nothing is known.
void Feed::ReadSensors() {
  bool has_board = false;
  Read([&](const Model& model) { has_board = model.HasBoard(); });
  if (!has_board) return;
  const auto sensors = client_->GetSensors({});
  Change([&](Model& model) { model.Apply(sensors.ok() ? *sensors : v1::GetSensorsResponse()); });
}

bool Feed::Tick() {
  // An error of a listing is the stream's own soon.
  if (++ticks_ % kSensorPeriodsPerList == 0) (void)List();
  ReadSensors();
  return true;
}

void Feed::OnResponse(const v1::SubscribeResponse& response) {
  reconnection_.Received();
  Change([&](Model& model) {
    model.connection.clear();
    if (response.has_update()) model.Apply(response.update(), context_.Now());
    model.is_synced |= response.sync_response();
  });
}

// Ends with an error, or with OK at the cancellation.
absl::Status Feed::Stream() {
  v1::SubscribeRequest request;
  request.set_mode(v1::SubscribeRequest::MODE_STREAM);
  request.set_stream_mode(v1::SubscribeRequest::STREAM_MODE_SAMPLE);
  SetSampleInterval(options_.model.sample_interval, request);
  // The model leaves out what a filter cannot.
  const std::vector<std::string>& devices = options_.model.devices;
  if (devices.size() == 1 && !IsPattern(devices[0])) request.mutable_filter()->set_device(devices[0]);
  const auto on_response = [this](const v1::SubscribeResponse& response) { return OnResponse(response), true; };
  const StreamTick tick{.period = kSensorPeriod, .action = [this] { return Tick(); }};
  ReadSensors();
  const absl::Status ended = client_->Subscribe(request, on_response, tick);
  if (!ended.ok() || context_.cancellation().cancelled()) return ended;
  return MarkRemote(absl::UnavailableError("the server ended the stream"));
}

absl::Status Feed::Run(absl::Status ended) {
  if (client_ != nullptr) ended = Stream();
  while (!ended.ok()) {
    if (!reconnection_.Again(ended)) return context_.cancellation().cancelled() ? absl::OkStatus() : ended;
    // A new client rereads certificates and token.
    client_.reset();
    auto connected = reconnection_.Connect(context_);
    if (!connected.ok()) return context_.cancellation().cancelled() ? absl::OkStatus() : connected.status();
    client_ = *std::move(connected);
    // Devices may have come and gone meanwhile; an error is the stream's own soon.
    (void)List();
    ended = Stream();
  }
  return ended;
}

absl::StatusOr<std::unique_ptr<Feeds>> Feeds::Start(CommandContext& context, const FeedOptions& options,
                                                    const std::function<void()>& on_change) {
  SIDEBAND_ASSIGN_OR_RETURN(std::vector<Host> hosts, HostsOf(context));
  std::unique_ptr<Feeds> feeds(new Feeds(context, std::move(hosts)));
  std::vector<absl::StatusOr<std::unique_ptr<Feed>>> started(feeds->hosts_.size());
  SIDEBAND_RETURN_IF_ERROR(AskEach(feeds->hosts_, [&](size_t i, std::unique_ptr<TelemetryClient> client) {
    started[i] = Feed::Start(feeds->hosts_[i].context, std::move(client), options, on_change);
  }));
  for (size_t i = 0; i < started.size(); ++i) {
    SIDEBAND_RETURN_IF_ERROR(feeds->errors_.Add(feeds->hosts_[i], started[i].status()));
  }
  if (std::ranges::none_of(started, [](const auto& feed) { return feed.ok(); })) return feeds->Result();
  for (size_t i = 0; i < started.size(); ++i) {
    Host& host = feeds->hosts_[i];
    if (started[i].ok()) {
      feeds->feeds_.push_back({host, *std::move(started[i])});
    } else if (const absl::Status why = started[i].status(); MayOpenAgain(why, {.waits_for_first = true})) {
      feeds->feeds_.push_back({host, Feed::StartAbsent(host.context, options, on_change, why)});
    }
  }
  return feeds;
}

std::vector<HostModel> Feeds::Read() const {
  std::vector<HostModel> hosts;
  for (const Entry& entry : feeds_) {
    HostModel& host = hosts.emplace_back(HostModel{.host = entry.host.name});
    entry.feed->Read([&](const Model& model) { host.model = model; });
    if (const absl::Status ended = entry.feed->ended(); !ended.ok()) {
      host.model.connection = std::string(ended.message());
      host.model.is_synced = true;
    }
    std::string& connection = host.model.connection;
    if (!connection.empty() && !absl::StartsWith(connection, host.host)) {
      connection = absl::StrCat(host.host, ": ", connection);
    }
  }
  return hosts;
}

absl::Status Feeds::Result() {
  for (const Entry& entry : feeds_) SIDEBAND_RETURN_IF_ERROR(errors_.Add(entry.host, entry.feed->ended()));
  return errors_.Result();
}

absl::Status Feeds::ended() const {
  absl::Status ended;
  for (const Entry& entry : feeds_) {
    ended = entry.feed->ended();
    if (ended.ok()) break;
  }
  return ended;
}

}  // namespace sideband::client::top
