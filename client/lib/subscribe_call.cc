// SPDX-License-Identifier: Apache-2.0
#include "client/lib/subscribe_call.h"

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/completion_queue.h>

#include <utility>

#include "client/lib/grpc_deadline.h"
#include "client/lib/rpc_status.h"
#include "sideband/v1/telemetry.grpc.pb.h"

namespace sideband::client {

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
