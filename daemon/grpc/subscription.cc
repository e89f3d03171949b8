// SPDX-License-Identifier: Apache-2.0
#include "daemon/grpc/subscription.h"

#include <algorithm>
#include <string>
#include <utility>

#include "daemon/stream/change_stream.h"
#include "daemon/stream/sample_stream.h"
#include "proto/base/status_macros.h"

namespace sideband::daemon {
namespace {

using sideband::v1::Gap;
using sideband::v1::SubscribeRequest;

std::unique_ptr<StreamContent> ContentOf(const StreamRequest& request, const StreamSources& sources) {
  if (request.on_change) {
    return std::make_unique<ChangeStream>(request,
                                          ChangeStream::Sources{.sensors = sources.sensors, .marks = sources.marks});
  }
  return std::make_unique<SampleStream>(
      request,
      SampleStream::Sources{
          .reader = sources.reader, .bodies = sources.bodies, .history = sources.history, .sensors = sources.sensors});
}

// The newest thing that the caller had: of several devices the earliest.
absl::Time NewestOf(const StreamPosition& position) {
  absl::Time newest = position.time;
  for (const DevicePosition& device : position.devices) newest = std::min(newest, device.host_time);
  return newest;
}

}  // namespace

absl::StatusOr<Subscription> Subscription::Create(const StreamSources& sources, Credentials credentials,
                                                  const SubscribeRequest& request) {
  SIDEBAND_ASSIGN_OR_RETURN(const StreamRequest parsed, StreamRequest::Parse(request));
  return Subscription(sources, std::move(credentials), request, parsed);
}

Subscription::Subscription(const StreamSources& sources, Credentials credentials, SubscribeRequest request,
                           const StreamRequest& parsed)
    : sources_(sources),
      credentials_(std::move(credentials)),
      request_(std::move(request)),
      filter_(parsed.filter),
      once_(parsed.once),
      heartbeat_(parsed.heartbeat_interval),
      content_(ContentOf(parsed, sources)) {}

// Repeats the check only where a view has changed since the last call.
absl::Status Subscription::CheckFilter(const std::vector<VisibleDevice>& devices) {
  std::vector<std::shared_ptr<const View>> views;
  for (const VisibleDevice& device : devices) views.push_back(device.view);
  if (is_checked_ && views == checked_) return absl::OkStatus();
  SIDEBAND_RETURN_IF_ERROR(filter_.Check(devices));
  checked_ = std::move(views);
  is_checked_ = true;
  return absl::OkStatus();
}

absl::Status Subscription::Begin(const StreamSight& sight) {
  if (sealer_) return absl::OkStatus();
  SIDEBAND_ASSIGN_OR_RETURN(sealer_, sources_.tokens.Begin(sight.caller.principal.identity, *request_));
  content_->BeginRound();
  heartbeat_.Sent(sight.steady_now);
  resumed_from_ = request_->resume_token();
  if (!resumed_from_.empty()) Resume(*request_, sight);
  request_.reset();
  return absl::OkStatus();
}

void Subscription::Resume(const SubscribeRequest& request, const StreamSight& sight) {
  const auto position = sources_.tokens.Open(sight.caller.principal.identity, request, request.resume_token());
  if (!position) {
    resumption_.push_back(GapMessage("", Gap::REASON_UNKNOWN_TOKEN, absl::InfinitePast(), sight.now));
  } else if (position->policy_version != sight.caller.policy.version) {
    resumption_.push_back(GapMessage("", Gap::REASON_POLICY_CHANGED, NewestOf(*position), sight.now));
  } else {
    for (Message& message : content_->Resume(*position, sight)) resumption_.push_back(std::move(message));
  }
}

std::optional<Subscription::Message> Subscription::NextOfRound(const StreamSight& sight) {
  std::optional<Message> message = content_->NextOfRound(sight);
  if (!message && content_->IsRoundDone(sight)) {
    is_in_round_ = false;
    heartbeat_.Sent(sight.steady_now);
    message.emplace();
    message->fields.set_sync_response(true);
  }
  if (message && message->fields.sync_response()) {
    // Rounds after the first one are heartbeats.
    message->fields.set_heartbeat(synced_);
    synced_ = true;
  }
  return message;
}

std::optional<Subscription::Message> Subscription::NextMessage(const StreamSight& sight) {
  if (!resumption_.empty()) {
    Message message = std::move(resumption_.front());
    resumption_.pop_front();
    // A reader that is cut now has not had the others: it resumes at the same place once more.
    if (!resumption_.empty()) message.fields.set_resume_token(resumed_from_);
    return message;
  }
  if (content_->IsReplaying(sight)) return NextReplayed(sight);
  if (!is_in_round_ && heartbeat_.IsDue(sight.steady_now)) {
    content_->BeginRound();
    is_in_round_ = true;
  }
  return is_in_round_ ? NextOfRound(sight) : content_->NextNews(sight);
}

// The whole state would be out of order. A reader that waits for rows learns that the stream is alive, and how far it
// is.
std::optional<Subscription::Message> Subscription::NextReplayed(const StreamSight& sight) {
  auto message = is_in_round_ ? NextOfRound(sight) : content_->NextNews(sight);
  if (!message && heartbeat_.IsDue(sight.steady_now)) {
    message.emplace();
    message->fields.set_heartbeat(true);
  }
  if (message) heartbeat_.Sent(sight.steady_now);
  return message;
}

absl::Status Subscription::Stamp(const StreamSight& sight, Message& message) {
  message.fields.set_sequence(++sequence_);
  if (!message.fields.resume_token().empty()) return absl::OkStatus();
  StreamPosition position{.policy_version = sight.caller.policy.version, .time = sight.now};
  content_->AddPosition(sight, position);
  SIDEBAND_ASSIGN_OR_RETURN(std::string token, sealer_->Seal(position));
  // One that would be refused is of no use.
  if (token.size() <= kResumeTokenBytesMax) message.fields.set_resume_token(std::move(token));
  return absl::OkStatus();
}

StreamStep<Subscription::Message> Subscription::Wait() const {
  if (!sources_.reader.Identify(credentials_)) return StreamEnd{UnknownCallerError()};
  return StreamWait{};
}

StreamStep<Subscription::Message> Subscription::Next() {
  if (once_ && synced_) return StreamEnd{absl::OkStatus()};
  const auto caller = sources_.reader.Identify(credentials_);
  if (!caller) return StreamEnd{UnknownCallerError()};
  const std::vector<VisibleDevice> devices = sources_.reader.Devices(*caller);
  // A name that the caller may no longer read ends the stream, with the same status as an absent one.
  if (const absl::Status found = CheckFilter(devices); !found.ok()) return StreamEnd{found};
  const Clock& clock = sources_.reader.clock();
  const StreamSight sight{.caller = *caller, .devices = devices, .now = clock.Now(), .steady_now = clock.Steady()};
  if (const absl::Status begun = Begin(sight); !begun.ok()) return StreamEnd{begun};
  auto message = NextMessage(sight);
  if (!message) return StreamWait{};
  if (const absl::Status stamped = Stamp(sight, *message); !stamped.ok()) return StreamEnd{stamped};
  return *std::move(message);
}

}  // namespace sideband::daemon
