// SPDX-License-Identifier: Apache-2.0
//
// The next action of a stream, decided by plain classes independent of gRPC:
//   const StreamStep<Message> step = source.Next();
//   if (const auto* message = std::get_if<Message>(&step)) Send(*message);   // then call Next() again
#ifndef SIDEBAND_DAEMON_GRPC_STREAM_STEP_H_
#define SIDEBAND_DAEMON_GRPC_STREAM_STEP_H_

#include <variant>

#include "absl/status/status.h"

namespace sideband::daemon {

// Call Next() again after the next publication, policy change or second.
struct StreamWait {};

// The stream is over; OK where the request has been fulfilled.
struct StreamEnd {
  absl::Status status;
};

template <typename Message>
using StreamStep = std::variant<Message, StreamWait, StreamEnd>;

// The error for every unauthenticated or unlisted caller; it does not reveal the reason.
inline absl::Status UnknownCallerError() {
  return absl::UnauthenticatedError("the caller has no valid credentials, or is not in the policy");
}

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_GRPC_STREAM_STEP_H_
