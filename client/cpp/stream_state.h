// SPDX-License-Identifier: Apache-2.0
//
// What a Stream owns: a subscription over gRPC.
//   StreamState state(config, options);
//   const absl::StatusOr<StreamItem> item = state.Next();
#ifndef SIDEBAND_CLIENT_CPP_STREAM_STATE_H_
#define SIDEBAND_CLIENT_CPP_STREAM_STATE_H_

#include <memory>
#include <random>
#include <string>

#include "absl/status/statusor.h"
#include "client/cpp/subscription.h"
#include "client/lib/cancellation.h"
#include "client/lib/config.h"
#include "client/lib/credential_stamps.h"
#include "sideband/stream.h"

namespace sideband::library {

// The same as Stream.
class StreamState {
 public:
  StreamState(client::ClientConfig config, StreamOptions options);

  absl::StatusOr<StreamItem> Next() { return subscription_.Next(); }
  const std::string& resume_token() const { return subscription_.resume_token(); }
  void Cancel() { cancellation_.Cancel(); }

 private:
  absl::StatusOr<std::unique_ptr<ResponseSource>> Open(const v1::SubscribeRequest& request);
  Subscription::Environment MakeEnvironment(const StreamOptions& options);

  const client::ClientConfig config_;
  client::Cancellation cancellation_;
  client::FileStamps stamps_;  // of the present connection
  std::mt19937 random_;
  Subscription subscription_;
};

}  // namespace sideband::library

#endif  // SIDEBAND_CLIENT_CPP_STREAM_STATE_H_
