// SPDX-License-Identifier: Apache-2.0
#include "daemon/grpc/subscription.h"

#include <algorithm>
#include <utility>

#include "proto/base/status_macros.h"

namespace sideband::daemon {
namespace {

using sideband::v1::SubscribeRequest;

constexpr absl::Duration kSampleIntervalMin = absl::Milliseconds(10);
constexpr int64_t kSampleIntervalSecondsMax = 24 * 3600;

// Zero where the request has none: the device's own interval.
absl::StatusOr<absl::Duration> SampleInterval(const SubscribeRequest& request) {
  if (!request.has_sample_interval()) return absl::ZeroDuration();
  const auto& asked = request.sample_interval();
  const bool sane = asked.seconds() >= 0 && asked.seconds() <= kSampleIntervalSecondsMax && asked.nanos() >= 0 &&
                    asked.nanos() < 1'000'000'000;
  // absl::Duration saturates, so this is safe before the range check.
  const absl::Duration interval = absl::Seconds(asked.seconds()) + absl::Nanoseconds(asked.nanos());
  if (!sane || interval < kSampleIntervalMin) {
    return absl::InvalidArgumentError("sample_interval: must be from 10ms to 24h");
  }
  return interval;
}

absl::Status CheckModes(const SubscribeRequest& request) {
  if (request.mode() != SubscribeRequest::MODE_ONCE && request.mode() != SubscribeRequest::MODE_STREAM) {
    return absl::InvalidArgumentError("mode: must be MODE_ONCE or MODE_STREAM");
  }
  if (request.stream_mode() != SubscribeRequest::STREAM_MODE_UNSPECIFIED &&
      request.stream_mode() != SubscribeRequest::STREAM_MODE_SAMPLE) {
    return absl::InvalidArgumentError("stream_mode: must be STREAM_MODE_SAMPLE");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Subscription> Subscription::Create(Reader& reader, SnapshotBodies& bodies, Credentials credentials,
                                                  const SubscribeRequest& request) {
  SIDEBAND_RETURN_IF_ERROR(CheckModes(request));
  SIDEBAND_ASSIGN_OR_RETURN(const absl::Duration sample_interval, SampleInterval(request));
  return Subscription(reader, bodies, std::move(credentials), request, sample_interval);
}

Subscription::Subscription(Reader& reader, SnapshotBodies& bodies, Credentials credentials,
                           const SubscribeRequest& request, absl::Duration sample_interval)
    : reader_(&reader),
      bodies_(&bodies),
      credentials_(std::move(credentials)),
      filter_(request.filter()),
      once_(request.mode() == SubscribeRequest::MODE_ONCE),
      sample_interval_(sample_interval) {}

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

SamplePacer& Subscription::PacerOf(const VisibleDevice& device) {
  return pacers_.try_emplace(device.index, sample_interval_).first->second;
}

std::optional<Subscription::Message> Subscription::NextUpdate(const std::vector<VisibleDevice>& devices) {
  for (size_t i = 0; i < devices.size(); ++i) {
    // Round robin: starts after the device that was sent last.
    const size_t at = (turn_ + i) % devices.size();
    const VisibleDevice& device = devices[at];
    if (device.snapshot == nullptr || !filter_.SelectsDevice(device)) continue;
    SamplePacer& pacer = PacerOf(device);
    const bool is_sent = !synced_ && pacer.has_taken();  // one snapshot per device before sync_response
    if (is_sent || !pacer.Wants(*device.snapshot, device.info->interval)) continue;
    Message message{.update = bodies_->Get(device, filter_)};
    message.fields.set_skipped(pacer.Take(*device.snapshot));
    if (!message.update->body->has_rows) continue;  // the filter selects no row; taken nevertheless
    turn_ = at + 1;
    return message;
  }
  return std::nullopt;
}

StreamStep<Subscription::Message> Subscription::Wait() const {
  if (!reader_->Identify(credentials_)) return StreamEnd{UnknownCallerError()};
  return StreamWait{};
}

StreamStep<Subscription::Message> Subscription::Next() {
  if (once_ && synced_) return StreamEnd{absl::OkStatus()};
  const auto caller = reader_->Identify(credentials_);
  if (!caller) return StreamEnd{UnknownCallerError()};
  const std::vector<VisibleDevice> devices = reader_->Devices(*caller);
  // A name that the caller may no longer read ends the stream, with the same status as an absent one.
  if (const absl::Status found = CheckFilter(devices); !found.ok()) return StreamEnd{found};
  if (auto update = NextUpdate(devices)) return *std::move(update);
  if (synced_) return StreamWait{};
  synced_ = true;
  Message sync;
  sync.fields.set_sync_response(true);
  return sync;
}

}  // namespace sideband::daemon
