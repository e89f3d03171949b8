// SPDX-License-Identifier: Apache-2.0
#include "daemon/stream/stream_content.h"

#include <algorithm>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "daemon/stream/resume_token.h"
#include "proto/base/status_macros.h"

namespace sideband::daemon {
namespace {

using sideband::v1::Filter;
using sideband::v1::SubscribeRequest;

constexpr absl::Duration kSampleIntervalMin = absl::Milliseconds(10);
constexpr absl::Duration kHeartbeatMin = absl::Seconds(1);
constexpr int64_t kSecondsMax = 24 * 3600;

absl::StatusOr<absl::Duration> IntervalOf(const google::protobuf::Duration& asked, absl::Duration least,
                                          const char* field) {
  const bool sane =
      asked.seconds() >= 0 && asked.seconds() <= kSecondsMax && asked.nanos() >= 0 && asked.nanos() < 1'000'000'000;
  // absl::Duration saturates, so this is safe before the range check.
  const absl::Duration interval = absl::Seconds(asked.seconds()) + absl::Nanoseconds(asked.nanos());
  if (!sane || interval < least || interval > absl::Seconds(kSecondsMax)) {
    return absl::InvalidArgumentError(absl::StrCat(field, ": must be from ", absl::FormatDuration(least), " to 24h"));
  }
  return interval;
}

absl::Status CheckModes(const SubscribeRequest& request) {
  if (request.mode() != SubscribeRequest::MODE_ONCE && request.mode() != SubscribeRequest::MODE_STREAM) {
    return absl::InvalidArgumentError("mode: must be MODE_ONCE or MODE_STREAM");
  }
  switch (request.stream_mode()) {
    case SubscribeRequest::STREAM_MODE_UNSPECIFIED:
    case SubscribeRequest::STREAM_MODE_SAMPLE:
    case SubscribeRequest::STREAM_MODE_ON_CHANGE:
      return absl::OkStatus();
    default:
      return absl::InvalidArgumentError("stream_mode: must be STREAM_MODE_SAMPLE or STREAM_MODE_ON_CHANGE");
  }
}

absl::Status CheckFilter(const Filter& filter) {
  const auto is_long = [](const std::string& name) { return name.size() > StreamRequest::kNameBytesMax; };
  const auto too_long = [](const char* field) {
    return absl::InvalidArgumentError(
        absl::StrCat(field, ": a name has at most ", StreamRequest::kNameBytesMax, " bytes"));
  };
  if (is_long(filter.device())) return too_long("filter.device");
  if (is_long(filter.vm())) return too_long("filter.vm");
  if (is_long(filter.context())) return too_long("filter.context");
  if (std::ranges::any_of(filter.events(), is_long)) return too_long("filter.events");
  if (filter.events_size() > StreamRequest::kEventsMax) {
    return absl::InvalidArgumentError(absl::StrCat("filter.events: at most ", StreamRequest::kEventsMax));
  }
  return absl::OkStatus();
}

// Refuses what has a meaning for samples only.
absl::Status CheckOnChange(const SubscribeRequest& request) {
  const char* const field = request.has_sample_interval()  ? "sample_interval"
                            : request.sensors()            ? "sensors"
                            : request.suppress_redundant() ? "suppress_redundant"
                                                           : nullptr;
  if (field == nullptr) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(field, ": requires STREAM_MODE_SAMPLE"));
}

}  // namespace

absl::StatusOr<StreamRequest> StreamRequest::Parse(const SubscribeRequest& request) {
  SIDEBAND_RETURN_IF_ERROR(CheckModes(request));
  SIDEBAND_RETURN_IF_ERROR(CheckFilter(request.filter()));
  const Filter& filter = request.filter();
  StreamRequest parsed{.filter = RowFilter(filter),
                       .names_rows = !filter.vm().empty() || !filter.context().empty() || filter.events_size() > 0,
                       .once = request.mode() == SubscribeRequest::MODE_ONCE,
                       .on_change = request.stream_mode() == SubscribeRequest::STREAM_MODE_ON_CHANGE,
                       .sensors = request.sensors(),
                       .suppress_redundant = request.suppress_redundant()};
  if (parsed.on_change) SIDEBAND_RETURN_IF_ERROR(CheckOnChange(request));
  if (request.has_sample_interval()) {
    SIDEBAND_ASSIGN_OR_RETURN(parsed.sample_interval,
                              IntervalOf(request.sample_interval(), kSampleIntervalMin, "sample_interval"));
  }
  if (request.has_heartbeat_interval()) {
    SIDEBAND_ASSIGN_OR_RETURN(parsed.heartbeat_interval,
                              IntervalOf(request.heartbeat_interval(), kHeartbeatMin, "heartbeat_interval"));
  }
  if (parsed.sensors && parsed.names_rows) {
    return absl::InvalidArgumentError("sensors: the filter names a VM, context or event, which boards do not have");
  }
  if (request.resume_token().size() > kResumeTokenBytesMax) {
    return absl::InvalidArgumentError(absl::StrCat("resume_token: at most ", kResumeTokenBytesMax, " bytes"));
  }
  return parsed;
}

}  // namespace sideband::daemon
