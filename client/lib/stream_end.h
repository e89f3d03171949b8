// SPDX-License-Identifier: Apache-2.0
//
// Whether a stream that has ended is opened again: the table that the program and the library for C++ share.
//   if (!MayOpenAgain(ended, {.was_open = true, .has_new_credentials = has_changed})) return ended;
//   Wait(std::max(delay, RetryAfter(ended).value_or(absl::ZeroDuration())));
#ifndef SIDEBAND_CLIENT_LIB_STREAM_END_H_
#define SIDEBAND_CLIENT_LIB_STREAM_END_H_

#include <optional>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace sideband::client {

// For so long, errors of a daemon that is starting, and of files that are being replaced, are not final.
inline constexpr absl::Duration kStartingPatience = absl::Seconds(30);

// Whether it is one of these: NOT_FOUND of the daemon, or an error that is not remote (rpc_status.h).
bool IsStarting(const absl::Status& ended);

// What has become of the stream so far, over all of its connections.
struct StreamPast {
  // A message was received.
  bool was_open = false;
  // A stream that has never been open is opened again, too.
  bool waits_for_first = false;
  // The time that was waited since the last end that was not IsStarting(): a daemon may be away for long before it
  // starts. Absent: no connection was lost before this end.
  std::optional<absl::Duration> starting_for;
  // The files of the credentials have changed since the connection was made.
  bool has_new_credentials = false;
};

// By the status with which a stream has ended, or could not be opened:
//   UNAVAILABLE, CANCELLED, DEADLINE_EXCEEDED   yes: the daemon stops, the connection is lost, the reader was too slow
//   RESOURCE_EXHAUSTED                          yes: a quota has no room for now; no for a message beyond gRPC's limit
//   UNAUTHENTICATED                             with new credentials
//   NOT_FOUND                                   after a loss, for kStartingPatience: the devices are not known yet
//   an error that is not remote                 likewise: files are replaced one after the other
//   others                                      no
// And never before the first message, but for waits_for_first and errors that are remote.
bool MayOpenAgain(const absl::Status& ended, const StreamPast& past);

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_LIB_STREAM_END_H_
