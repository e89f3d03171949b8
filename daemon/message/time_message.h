// SPDX-License-Identifier: Apache-2.0
//
// Times and durations as protocol buffers' well-known types, and back.
//   SetTime(snapshot.host_time, *point.mutable_host_time());
//   SIDEBAND_ASSIGN_OR_RETURN(const absl::Time since, TimeOf(request.since(), "since"));
#ifndef SIDEBAND_DAEMON_MESSAGE_TIME_MESSAGE_H_
#define SIDEBAND_DAEMON_MESSAGE_TIME_MESSAGE_H_

#include <google/protobuf/duration.pb.h>
#include <google/protobuf/timestamp.pb.h>

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace sideband::daemon {

void SetTime(absl::Time from, google::protobuf::Timestamp& to);
void SetDuration(absl::Duration from, google::protobuf::Duration& to);

// The time of cycles of a clock, rounded down, 2^64 - 1 at most; 0 where the clock is unknown.
uint64_t NanosecondsOf(uint64_t cycles, uint64_t hertz);

// From a client. INVALID_ARGUMENT "FIELD: …" where the message is outside of the range of its type.
absl::StatusOr<absl::Time> TimeOf(const google::protobuf::Timestamp& from, absl::string_view field);
// Likewise, and where the duration is not above zero.
absl::StatusOr<absl::Duration> PositiveDurationOf(const google::protobuf::Duration& from, absl::string_view field);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_MESSAGE_TIME_MESSAGE_H_
