// SPDX-License-Identifier: Apache-2.0
//
// One connection of a stream, as Subscription needs it: client/lib/subscribe_call.h, or a script in tests.
//   v1::SubscribeResponse response;
//   while (source.Read(absl::Seconds(20), response) == ResponseSource::Outcome::kMessage) Use(response);
//   const absl::Status status = source.Finish();
#ifndef SIDEBAND_CLIENT_CPP_RESPONSE_SOURCE_H_
#define SIDEBAND_CLIENT_CPP_RESPONSE_SOURCE_H_

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "client/lib/subscribe_call.h"
#include "sideband/v1/telemetry.pb.h"

namespace sideband::library {

// As SubscribeCall, whose comments hold.
class ResponseSource {
 public:
  using Outcome = client::SubscribeCall::Outcome;

  virtual ~ResponseSource() = default;
  virtual Outcome Read(absl::Duration patience, v1::SubscribeResponse& response) = 0;
  virtual absl::Status Finish() = 0;
};

}  // namespace sideband::library

#endif  // SIDEBAND_CLIENT_CPP_RESPONSE_SOURCE_H_
