// SPDX-License-Identifier: Apache-2.0
//
// One call of Subscribe, read message by message, each with its own patience.
//   SubscribeCall call(channel, request, "host:9878", cancellation);
//   v1::SubscribeResponse response;
//   while (call.Read(absl::Seconds(20), response) == SubscribeCall::Outcome::kMessage) Use(response);
//   const absl::Status status = call.Finish();
// TelemetryClient::Subscribe() is for callers that only wait for callbacks.
#ifndef SIDEBAND_CLIENT_LIB_SUBSCRIBE_CALL_H_
#define SIDEBAND_CLIENT_LIB_SUBSCRIBE_CALL_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "client/lib/cancellation.h"
#include "sideband/v1/telemetry.pb.h"

namespace grpc {
class Channel;
}

namespace sideband::client {

// Not thread-safe, but for the cancellation, which must outlive the call. The destructor cancels a call that has not
// ended.
class SubscribeCall {
 public:
  enum class Outcome {
    kMessage,
    // Nothing has come within the patience. The call goes on.
    kSilence,
    // There are no more messages: Finish() says why.
    kEnded,
  };

  // Begins the call. `peer` is the prefix of error messages.
  SubscribeCall(const std::shared_ptr<grpc::Channel>& channel, const v1::SubscribeRequest& request, std::string peer,
                Cancellation& cancellation);
  ~SubscribeCall();
  SubscribeCall(const SubscribeCall&) = delete;
  SubscribeCall& operator=(const SubscribeCall&) = delete;

  // Waits for the next message, for at most `patience`, which may be infinite. `response` is changed by kMessage only.
  Outcome Read(absl::Duration patience, v1::SubscribeResponse& response);

  // Cancels a call that has not ended, and returns its status: OK if the server has ended it so, and else an error that
  // is marked as remote (rpc_status.h). To be called once, and as the last function.
  absl::Status Finish();

 private:
  struct Call;

  const std::string peer_;
  const std::unique_ptr<Call> call_;
};

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_LIB_SUBSCRIBE_CALL_H_
