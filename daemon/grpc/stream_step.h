// SPDX-License-Identifier: Apache-2.0
//
// What a stream does next, decided by plain classes that know nothing of gRPC:
//   const StreamStep<Message> step = source.Next();
//   if (const auto* message = std::get_if<Message>(&step)) …   // send it, then ask again
#ifndef SIDEBAND_DAEMON_GRPC_STREAM_STEP_H_
#define SIDEBAND_DAEMON_GRPC_STREAM_STEP_H_

#include <variant>

#include "absl/status/status.h"

namespace sideband::daemon {

// Ask again after the next publication, policy change or second.
struct StreamWait {};

// The stream is over; OK where it has done what it was asked for.
struct StreamEnd {
  absl::Status status;
};

template <typename Message>
using StreamStep = std::variant<Message, StreamWait, StreamEnd>;

// The answer to whoever is nobody, whatever the reason.
inline absl::Status NobodyError() { return absl::UnauthenticatedError("the caller's identity is not in the policy"); }

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_GRPC_STREAM_STEP_H_
