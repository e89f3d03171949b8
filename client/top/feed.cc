// SPDX-License-Identifier: Apache-2.0
#include "client/top/feed.h"

#include <utility>

#include "client/lib/rpc_status.h"
#include "proto/base/status_macros.h"

namespace sideband::client::top {
namespace {

// Of boards' sensors, which no stream brings.
constexpr absl::Duration kSensorPeriod = absl::Seconds(2);
// Devices come and go by reloads of the daemon only; their snapshots arrive in the stream.
constexpr int kSensorPeriodsPerList = 5;

}  // namespace

absl::StatusOr<std::unique_ptr<Feed>> Feed::Start(CommandContext& context, std::function<void()> on_change) {
  SIDEBAND_ASSIGN_OR_RETURN(auto client, context.Connect());
  std::unique_ptr<Feed> feed(new Feed(context, std::move(client), std::move(on_change)));
  SIDEBAND_RETURN_IF_ERROR(feed->List());
  feed->thread_ = std::thread([raw = feed.get()] {
    const absl::Status ended = raw->Run();
    {
      absl::MutexLock lock(&raw->mu_);
      raw->ended_ = ended;
    }
    raw->on_change_();
  });
  return feed;
}

Feed::Feed(CommandContext& context, std::unique_ptr<TelemetryClient> client, std::function<void()> on_change)
    : context_(context),
      on_change_(std::move(on_change)),
      client_(std::move(client)),
      reconnection_([this](const std::string& line) { Change([&](Model& model) { model.connection = line; }); },
                    [this](absl::Duration delay) { return context_.Wait(delay); },
                    {.has_new_credentials = [this] { return context_.HasNewCredentials(); }}) {}

Feed::~Feed() {
  context_.cancellation().Cancel();
  if (thread_.joinable()) thread_.join();
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
  });
}

// Ends with an error, or with OK at the cancellation.
absl::Status Feed::Stream() {
  v1::SubscribeRequest request;
  request.set_mode(v1::SubscribeRequest::MODE_STREAM);
  request.set_stream_mode(v1::SubscribeRequest::STREAM_MODE_SAMPLE);
  const auto on_response = [this](const v1::SubscribeResponse& response) { return OnResponse(response), true; };
  const StreamTick tick{.period = kSensorPeriod, .action = [this] { return Tick(); }};
  ReadSensors();
  const absl::Status ended = client_->Subscribe(request, on_response, tick);
  if (!ended.ok() || context_.cancellation().cancelled()) return ended;
  return MarkRemote(absl::UnavailableError("the server ended the stream"));
}

absl::Status Feed::Run() {
  for (;;) {
    const absl::Status ended = Stream();
    if (ended.ok()) return ended;
    if (!reconnection_.Again(ended)) return context_.cancellation().cancelled() ? absl::OkStatus() : ended;
    // A new client rereads certificates and token.
    client_.reset();
    auto connected = reconnection_.Connect(context_);
    if (!connected.ok()) return context_.cancellation().cancelled() ? absl::OkStatus() : connected.status();
    client_ = *std::move(connected);
    // Devices may have come and gone meanwhile; an error is the stream's own soon.
    (void)List();
  }
}

}  // namespace sideband::client::top
