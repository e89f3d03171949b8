// SPDX-License-Identifier: Apache-2.0
//
// What streams tell besides counters: the messages of the API as the library's values, and the request of a stream.
//   Bounds bounds;
//   const Gap gap = ValueOf(response.gap(), bounds);
#ifndef SIDEBAND_CLIENT_CPP_STREAM_VALUES_H_
#define SIDEBAND_CLIENT_CPP_STREAM_VALUES_H_

#include <string>

#include "absl/status/status.h"
#include "client/cpp/bounds.h"
#include "sideband/stream.h"
#include "sideband/v1/telemetry.pb.h"

namespace sideband::library {

Gap ValueOf(const v1::Gap& gap, Bounds& bounds);
Change ValueOf(const v1::StateChange& change, Bounds& bounds);

// INVALID_ARGUMENT naming the option that is out of bounds. What the daemon alone can judge is left to it.
absl::Status CheckOptions(const StreamOptions& options);
// With `resume_token` in place of that of the options.
v1::SubscribeRequest ToMessage(const StreamOptions& options, const std::string& resume_token);

}  // namespace sideband::library

#endif  // SIDEBAND_CLIENT_CPP_STREAM_VALUES_H_
