// SPDX-License-Identifier: Apache-2.0
#include "client/lib/telemetry_client.h"

#include <grpc/support/time.h>
#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/completion_queue.h>

#include <utility>

#include "client/lib/rpc_status.h"
#include "grpc/health/v1/health.grpc.pb.h"
#include "proto/base/status_macros.h"
#include "sideband/v1/admin.grpc.pb.h"
#include "sideband/v1/counting.grpc.pb.h"
#include "sideband/v1/sensors.grpc.pb.h"
#include "sideband/v1/telemetry.grpc.pb.h"

namespace sideband::client {
namespace {

using HealthService = grpc::health::v1::Health;
using grpc::health::v1::HealthCheckRequest;
using grpc::health::v1::HealthCheckResponse;

template <typename Stub, typename Request, typename Response>
absl::StatusOr<Response> Call(Stub& stub, grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&, Response*),
                              const Request& request, const TelemetryClient::Options& options,
                              Cancellation& cancellation) {
  grpc::ClientContext context;
  // A time span: gRPC adds it to its monotonic clock.
  context.set_deadline(gpr_time_from_millis(absl::ToInt64Milliseconds(options.deadline), GPR_TIMESPAN));
  const Cancellation::Hook hook(cancellation, [&context] { context.TryCancel(); });
  Response response;
  const grpc::Status status = (stub.*method)(&context, request, &response);
  if (!status.ok()) return FromRpc(status, options.peer, context.GetServerTrailingMetadata());
  return response;
}

// A deadline of gRPC's queues, by its monotonic clock. The duration may be infinite; it is cut to milliseconds.
gpr_timespec DeadlineAfter(absl::Duration duration) {
  if (duration == absl::InfiniteDuration()) return gpr_inf_future(GPR_CLOCK_MONOTONIC);
  return gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC),
                      gpr_time_from_millis(absl::ToInt64Milliseconds(duration), GPR_TIMESPAN));
}

absl::Duration HeartbeatOf(const v1::SubscribeRequest& request) {
  if (!request.has_heartbeat_interval()) return absl::InfiniteDuration();
  return absl::Seconds(request.heartbeat_interval().seconds()) +
         absl::Nanoseconds(request.heartbeat_interval().nanos());
}

// Waits for one operation at a time, runs the ticks that are due meanwhile, and gives up a stream that is silent.
class TickingQueue {
 public:
  TickingQueue(grpc::ClientContext& context, const StreamTick& tick)
      : context_(context), tick_(tick), due_(DeadlineAfter(tick.period)) {}
  ~TickingQueue() { queue_.Shutdown(); }

  grpc::CompletionQueue& queue() { return queue_; }
  bool interested() const { return interested_; }
  bool is_silent() const { return is_silent_; }

  // Cancels the call: Finish() would otherwise wait for the server to end the stream.
  void LoseInterest() {
    interested_ = false;
    context_.TryCancel();
  }

  // From now on, the stream is silent when an operation takes longer.
  void ExpectWithin(absl::Duration patience) { patience_ = patience; }

  // Waits for the pending operation and returns whether it succeeded.
  bool Wait() {
    void* tag = nullptr;
    bool ok = false;
    const gpr_timespec silent_at = DeadlineAfter(patience_);
    while (
        queue_.AsyncNext(&tag, &ok, interested_ ? Earlier(due_, silent_at) : DeadlineAfter(absl::InfiniteDuration())) ==
        grpc::CompletionQueue::TIMEOUT) {
      if (IsPast(silent_at)) {
        is_silent_ = true;
        LoseInterest();
      } else {
        RunTick();
      }
    }
    // A busy stream never lets the wait time out.
    if (interested_ && IsPast(due_)) RunTick();
    return ok;
  }

 private:
  static bool IsPast(gpr_timespec time) { return gpr_time_cmp(time, gpr_now(GPR_CLOCK_MONOTONIC)) <= 0; }
  static gpr_timespec Earlier(gpr_timespec a, gpr_timespec b) { return gpr_time_cmp(a, b) <= 0 ? a : b; }

  void RunTick() {
    if (!tick_.action()) LoseInterest();
    due_ = DeadlineAfter(tick_.period);
  }

  grpc::ClientContext& context_;
  const StreamTick& tick_;
  gpr_timespec due_;
  absl::Duration patience_ = absl::InfiniteDuration();
  bool interested_ = true;
  bool is_silent_ = false;
  grpc::CompletionQueue queue_;
};

// For how long a stream may be silent after this message.
absl::Duration PatienceAfter(const v1::SubscribeResponse& response, absl::Duration heartbeat) {
  // A daemon without heartbeats does not number its responses.
  return response.sequence() == 0 ? absl::InfiniteDuration() : 2 * heartbeat;
}
template <typename Message>
absl::Duration PatienceAfter(const Message&, absl::Duration) {
  return absl::InfiniteDuration();
}

// Reads until the stream ends or a callback returns false. `prepare` creates the call on context and queue. Without
// heartbeats `heartbeat` is infinite.
template <typename Message, typename Prepare, typename OnMessage>
absl::Status ReadStream(Prepare prepare, OnMessage on_message, const StreamTick& tick,
                        const TelemetryClient::Options& options, Cancellation& cancellation,
                        absl::Duration heartbeat = absl::InfiniteDuration()) {
  grpc::ClientContext context;
  const Cancellation::Hook hook(cancellation, [&context] { context.TryCancel(); });
  TickingQueue waiting(context, tick);
  const auto reader = prepare(context, waiting.queue());
  reader->StartCall(nullptr);
  waiting.Wait();
  Message message;
  while (waiting.interested()) {
    reader->Read(&message, nullptr);
    if (!waiting.Wait()) break;
    waiting.ExpectWithin(PatienceAfter(message, heartbeat));
    if (waiting.interested() && !on_message(message)) waiting.LoseInterest();
  }
  const bool interested = waiting.interested();
  grpc::Status status;
  reader->Finish(&status, nullptr);
  waiting.Wait();
  if (waiting.is_silent()) {
    return FromRpc(grpc::Status(grpc::StatusCode::UNAVAILABLE, "nothing was received for two heartbeats"),
                   options.peer);
  }
  // The status is then CANCELLED, which this side has caused.
  if (!interested || cancellation.cancelled()) return absl::OkStatus();
  return FromRpc(status, options.peer, context.GetServerTrailingMetadata());
}

}  // namespace

struct TelemetryClient::Stubs {
  std::unique_ptr<v1::Telemetry::Stub> telemetry;
  std::unique_ptr<v1::Confidential::Stub> confidential;
  std::unique_ptr<v1::Counting::Stub> counting;
  std::unique_ptr<v1::Sensors::Stub> sensors;
  std::unique_ptr<v1::Admin::Stub> admin;
  std::unique_ptr<HealthService::Stub> health;
};

TelemetryClient::TelemetryClient(const std::shared_ptr<grpc::Channel>& channel, Options options,
                                 Cancellation& cancellation)
    : options_(std::move(options)),
      cancellation_(cancellation),
      stubs_(std::make_unique<Stubs>(Stubs{.telemetry = v1::Telemetry::NewStub(channel),
                                           .confidential = v1::Confidential::NewStub(channel),
                                           .counting = v1::Counting::NewStub(channel),
                                           .sensors = v1::Sensors::NewStub(channel),
                                           .admin = v1::Admin::NewStub(channel),
                                           .health = HealthService::NewStub(channel)})) {}

TelemetryClient::~TelemetryClient() = default;

absl::StatusOr<v1::ListDevicesResponse> TelemetryClient::ListDevices(const v1::ListDevicesRequest& request) {
  return Call(*stubs_->telemetry, &v1::Telemetry::Stub::ListDevices, request, options_, cancellation_);
}

absl::StatusOr<v1::ReloadResponse> TelemetryClient::Reload(const v1::ReloadRequest& request) {
  return Call(*stubs_->admin, &v1::Admin::Stub::Reload, request, options_, cancellation_);
}

absl::StatusOr<v1::TriggerResponse> TelemetryClient::Trigger(const v1::TriggerRequest& request) {
  return Call(*stubs_->admin, &v1::Admin::Stub::Trigger, request, options_, cancellation_);
}

absl::StatusOr<v1::RotateKeysResponse> TelemetryClient::RotateKeys(const v1::RotateKeysRequest& request) {
  return Call(*stubs_->admin, &v1::Admin::Stub::RotateKeys, request, options_, cancellation_);
}

absl::StatusOr<v1::ChallengeResponse> TelemetryClient::Challenge(const v1::ChallengeRequest& request) {
  return Call(*stubs_->confidential, &v1::Confidential::Stub::Challenge, request, options_, cancellation_);
}

absl::StatusOr<v1::ExchangeResponse> TelemetryClient::Exchange(const v1::ExchangeRequest& request) {
  return Call(*stubs_->confidential, &v1::Confidential::Stub::Exchange, request, options_, cancellation_);
}

absl::StatusOr<v1::GetCountingResponse> TelemetryClient::GetCounting(const v1::GetCountingRequest& request) {
  return Call(*stubs_->counting, &v1::Counting::Stub::GetCounting, request, options_, cancellation_);
}

absl::StatusOr<v1::SetCountingResponse> TelemetryClient::SetCounting(const v1::SetCountingRequest& request) {
  return Call(*stubs_->counting, &v1::Counting::Stub::SetCounting, request, options_, cancellation_);
}

absl::StatusOr<v1::GetRotationResponse> TelemetryClient::GetRotation(const v1::GetRotationRequest& request) {
  return Call(*stubs_->counting, &v1::Counting::Stub::GetRotation, request, options_, cancellation_);
}

absl::StatusOr<v1::SetRotationResponse> TelemetryClient::SetRotation(const v1::SetRotationRequest& request) {
  return Call(*stubs_->counting, &v1::Counting::Stub::SetRotation, request, options_, cancellation_);
}

absl::StatusOr<v1::LearnRotationResponse> TelemetryClient::LearnRotation(const v1::LearnRotationRequest& request) {
  return Call(*stubs_->counting, &v1::Counting::Stub::LearnRotation, request, options_, cancellation_);
}

absl::StatusOr<v1::ListEventsResponse> TelemetryClient::ListEvents(const v1::ListEventsRequest& request) {
  return Call(*stubs_->telemetry, &v1::Telemetry::Stub::ListEvents, request, options_, cancellation_);
}

absl::StatusOr<v1::ListScopesResponse> TelemetryClient::ListScopes(const v1::ListScopesRequest& request) {
  return Call(*stubs_->telemetry, &v1::Telemetry::Stub::ListScopes, request, options_, cancellation_);
}

absl::StatusOr<v1::GetSnapshotResponse> TelemetryClient::GetSnapshot(const v1::GetSnapshotRequest& request) {
  return Call(*stubs_->telemetry, &v1::Telemetry::Stub::GetSnapshot, request, options_, cancellation_);
}

absl::StatusOr<v1::GetHistoryResponse> TelemetryClient::GetHistory(const v1::GetHistoryRequest& request) {
  return Call(*stubs_->telemetry, &v1::Telemetry::Stub::GetHistory, request, options_, cancellation_);
}

absl::StatusOr<v1::PeekResponse> TelemetryClient::Peek(const v1::PeekRequest& request) {
  return Call(*stubs_->telemetry, &v1::Telemetry::Stub::Peek, request, options_, cancellation_);
}

absl::StatusOr<v1::MarkResponse> TelemetryClient::Mark(const v1::MarkRequest& request) {
  return Call(*stubs_->telemetry, &v1::Telemetry::Stub::Mark, request, options_, cancellation_);
}

absl::StatusOr<v1::ListMarksResponse> TelemetryClient::ListMarks(const v1::ListMarksRequest& request) {
  return Call(*stubs_->telemetry, &v1::Telemetry::Stub::ListMarks, request, options_, cancellation_);
}

absl::StatusOr<v1::GetSpanResponse> TelemetryClient::GetSpan(const v1::GetSpanRequest& request) {
  return Call(*stubs_->telemetry, &v1::Telemetry::Stub::GetSpan, request, options_, cancellation_);
}

absl::StatusOr<v1::ListClocksResponse> TelemetryClient::ListClocks(const v1::ListClocksRequest& request) {
  return Call(*stubs_->telemetry, &v1::Telemetry::Stub::ListClocks, request, options_, cancellation_);
}

absl::StatusOr<v1::ListSensorsResponse> TelemetryClient::ListSensors(const v1::ListSensorsRequest& request) {
  return Call(*stubs_->sensors, &v1::Sensors::Stub::ListSensors, request, options_, cancellation_);
}

absl::StatusOr<v1::GetSensorsResponse> TelemetryClient::GetSensors(const v1::GetSensorsRequest& request) {
  return Call(*stubs_->sensors, &v1::Sensors::Stub::GetSensors, request, options_, cancellation_);
}

absl::StatusOr<v1::GetSensorHistoryResponse> TelemetryClient::GetSensorHistory(
    const v1::GetSensorHistoryRequest& request) {
  return Call(*stubs_->sensors, &v1::Sensors::Stub::GetSensorHistory, request, options_, cancellation_);
}

absl::StatusOr<bool> TelemetryClient::IsServing() {
  SIDEBAND_ASSIGN_OR_RETURN(const auto response, Call(*stubs_->health, &HealthService::Stub::Check,
                                                      HealthCheckRequest(), options_, cancellation_));
  return response.status() == HealthCheckResponse::SERVING;
}

absl::Status TelemetryClient::Subscribe(const v1::SubscribeRequest& request,
                                        const std::function<bool(const v1::SubscribeResponse&)>& on_response,
                                        const StreamTick& tick) {
  return ReadStream<v1::SubscribeResponse>(
      [&](auto& context, auto& queue) { return stubs_->telemetry->PrepareAsyncSubscribe(&context, request, &queue); },
      on_response, tick, options_, cancellation_, HeartbeatOf(request));
}

absl::Status TelemetryClient::WatchBoardEvents(
    const v1::WatchBoardEventsRequest& request,
    const std::function<bool(const v1::WatchBoardEventsResponse&)>& on_response, const StreamTick& tick) {
  return ReadStream<v1::WatchBoardEventsResponse>(
      [&](auto& context, auto& queue) {
        return stubs_->sensors->PrepareAsyncWatchBoardEvents(&context, request, &queue);
      },
      on_response, tick, options_, cancellation_);
}

absl::Status TelemetryClient::SubscribeSealed(const v1::SubscribeSealedRequest& request,
                                              const std::function<bool(ByteSpan record)>& on_record,
                                              const StreamTick& tick) {
  return ReadStream<v1::SealedRecord>(
      [&](auto& context, auto& queue) {
        return stubs_->confidential->PrepareAsyncSubscribeSealed(&context, request, &queue);
      },
      [&](const v1::SealedRecord& message) { return on_record(AsBytes(message.record())); }, tick, options_,
      cancellation_);
}

struct SubscribeCall::Call {
  enum class State { kStarting, kIdle, kReading, kEnded, kFinished };

  Call(const std::shared_ptr<grpc::Channel>& channel, const v1::SubscribeRequest& request, Cancellation& cancellation)
      : hook(cancellation, [this] { context.TryCancel(); }),
        stub(v1::Telemetry::NewStub(channel)),
        reader(stub->PrepareAsyncSubscribe(&context, request, &queue)) {
    reader->StartCall(nullptr);
  }

  // The end of the pending operation: at most one is.
  void Complete(bool ok) { state = ok ? State::kIdle : State::kEnded; }

  grpc::ClientContext context;
  const Cancellation::Hook hook;
  const std::unique_ptr<v1::Telemetry::Stub> stub;
  grpc::CompletionQueue queue;
  const std::unique_ptr<grpc::ClientAsyncReader<v1::SubscribeResponse>> reader;
  v1::SubscribeResponse message;
  State state = State::kStarting;
};

SubscribeCall::SubscribeCall(const std::shared_ptr<grpc::Channel>& channel, const v1::SubscribeRequest& request,
                             std::string peer, Cancellation& cancellation)
    : peer_(std::move(peer)), call_(std::make_unique<Call>(channel, request, cancellation)) {}

SubscribeCall::~SubscribeCall() {
  if (call_->state != Call::State::kFinished) Finish().IgnoreError();
  call_->queue.Shutdown();
}

SubscribeCall::Outcome SubscribeCall::Read(absl::Duration patience, v1::SubscribeResponse& response) {
  const gpr_timespec deadline = DeadlineAfter(patience);
  while (call_->state != Call::State::kEnded) {
    if (call_->state == Call::State::kIdle) {
      call_->reader->Read(&call_->message, nullptr);
      call_->state = Call::State::kReading;
    }
    const bool was_reading = call_->state == Call::State::kReading;
    void* tag = nullptr;
    bool ok = false;
    if (call_->queue.AsyncNext(&tag, &ok, deadline) == grpc::CompletionQueue::TIMEOUT) return Outcome::kSilence;
    call_->Complete(ok);
    if (was_reading && ok) {
      response.Swap(&call_->message);
      return Outcome::kMessage;
    }
  }
  return Outcome::kEnded;
}

absl::Status SubscribeCall::Finish() {
  void* tag = nullptr;
  bool ok = false;
  if (call_->state != Call::State::kEnded) call_->context.TryCancel();
  // A cancelled operation ends at once; gRPC wants to have returned it before the next.
  if (call_->state == Call::State::kStarting || call_->state == Call::State::kReading) call_->queue.Next(&tag, &ok);
  grpc::Status status;
  call_->reader->Finish(&status, nullptr);
  call_->queue.Next(&tag, &ok);
  call_->state = Call::State::kFinished;
  return FromRpc(status, peer_, call_->context.GetServerTrailingMetadata());
}

}  // namespace sideband::client
