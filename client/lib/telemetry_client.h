// SPDX-License-Identifier: Apache-2.0
//
// The daemon's services as functions, and one call of Subscribe that is read message by message.
//   TelemetryClient client(channel, {.peer = "host:9878"}, cancellation);
//   SIDEBAND_ASSIGN_OR_RETURN(const v1::GetSnapshotResponse response, client.GetSnapshot(request));
//   client.Subscribe(subscription, [&](const v1::SubscribeResponse& response) { return more; });
#ifndef SIDEBAND_CLIENT_LIB_TELEMETRY_CLIENT_H_
#define SIDEBAND_CLIENT_LIB_TELEMETRY_CLIENT_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/lib/cancellation.h"
#include "proto/base/bytes.h"
#include "sideband/v1/admin.pb.h"
#include "sideband/v1/counting.pb.h"
#include "sideband/v1/sensors.pb.h"
#include "sideband/v1/telemetry.pb.h"

namespace grpc {
class Channel;
}

namespace sideband::client {

// Something to do regularly while a stream is open, whether or not messages arrive.
struct StreamTick {
  absl::Duration period = absl::InfiniteDuration();
  std::function<bool()> action;  // returns whether the stream continues
};

// Thread-safe. Errors of calls are marked as remote (rpc_status.h) and have one-line messages. The cancellation must
// outlive the client: once cancelled, single calls end with CANCELLED and streams with OK.
class TelemetryClient {
 public:
  struct Options {
    // Prefix of error messages.
    std::string peer;
    // Deadline of a single call, including the connection. Streams have no deadline.
    absl::Duration deadline = absl::Seconds(10);
  };

  TelemetryClient(const std::shared_ptr<grpc::Channel>& channel, Options options, Cancellation& cancellation);
  ~TelemetryClient();

  absl::StatusOr<v1::ListDevicesResponse> ListDevices(const v1::ListDevicesRequest& request);
  absl::StatusOr<v1::ListEventsResponse> ListEvents(const v1::ListEventsRequest& request);
  absl::StatusOr<v1::ListScopesResponse> ListScopes(const v1::ListScopesRequest& request);
  absl::StatusOr<v1::GetSnapshotResponse> GetSnapshot(const v1::GetSnapshotRequest& request);
  absl::StatusOr<v1::GetHistoryResponse> GetHistory(const v1::GetHistoryRequest& request);
  absl::StatusOr<v1::PeekResponse> Peek(const v1::PeekRequest& request);
  absl::StatusOr<v1::MarkResponse> Mark(const v1::MarkRequest& request);
  absl::StatusOr<v1::ListMarksResponse> ListMarks(const v1::ListMarksRequest& request);
  absl::StatusOr<v1::GetSpanResponse> GetSpan(const v1::GetSpanRequest& request);
  absl::StatusOr<v1::ListClocksResponse> ListClocks(const v1::ListClocksRequest& request);
  absl::StatusOr<v1::ListSensorsResponse> ListSensors(const v1::ListSensorsRequest& request);
  absl::StatusOr<v1::GetSensorsResponse> GetSensors(const v1::GetSensorsRequest& request);
  absl::StatusOr<v1::GetSensorHistoryResponse> GetSensorHistory(const v1::GetSensorHistoryRequest& request);
  absl::StatusOr<v1::GetCountingResponse> GetCounting(const v1::GetCountingRequest& request);
  absl::StatusOr<v1::SetCountingResponse> SetCounting(const v1::SetCountingRequest& request);
  absl::StatusOr<v1::GetRotationResponse> GetRotation(const v1::GetRotationRequest& request);
  absl::StatusOr<v1::SetRotationResponse> SetRotation(const v1::SetRotationRequest& request);
  absl::StatusOr<v1::LearnRotationResponse> LearnRotation(const v1::LearnRotationRequest& request);
  absl::StatusOr<v1::ReloadResponse> Reload(const v1::ReloadRequest& request);
  absl::StatusOr<v1::TriggerResponse> Trigger(const v1::TriggerRequest& request);
  absl::StatusOr<v1::RotateKeysResponse> RotateKeys(const v1::RotateKeysRequest& request);
  absl::StatusOr<v1::ChallengeResponse> Challenge(const v1::ChallengeRequest& request);
  absl::StatusOr<v1::ExchangeResponse> Exchange(const v1::ExchangeRequest& request);

  // Whether the daemon has a fresh device (gRPC's health service). The daemon neither audits the call nor counts it
  // against a quota.
  absl::StatusOr<bool> IsServing();

  // Returns OK when the server ends the stream with OK, when a callback returns false, or at the cancellation; else the
  // call's error. The callbacks run on the calling thread; no messages are read meanwhile. A Subscribe with heartbeats
  // ends with UNAVAILABLE when nothing has come for two of them, unless the daemon is one that sends none.
  absl::Status Subscribe(const v1::SubscribeRequest& request,
                         const std::function<bool(const v1::SubscribeResponse&)>& on_response,
                         const StreamTick& tick = {});
  absl::Status SubscribeSealed(const v1::SubscribeSealedRequest& request,
                               const std::function<bool(ByteSpan record)>& on_record, const StreamTick& tick = {});
  absl::Status WatchBoardEvents(const v1::WatchBoardEventsRequest& request,
                                const std::function<bool(const v1::WatchBoardEventsResponse&)>& on_response,
                                const StreamTick& tick = {});

 private:
  struct Stubs;

  const Options options_;
  Cancellation& cancellation_;
  const std::unique_ptr<Stubs> stubs_;
};

// One call of Subscribe, read message by message, each with its own patience. TelemetryClient::Subscribe() is for
// callers that only wait for callbacks.
//
//   SubscribeCall call(channel, request, "host:9878", cancellation);
//   while (call.Read(absl::Seconds(20), response) == SubscribeCall::Outcome::kMessage) Use(response);
//   const absl::Status status = call.Finish();
//
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

#endif  // SIDEBAND_CLIENT_LIB_TELEMETRY_CLIENT_H_
