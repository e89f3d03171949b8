// SPDX-License-Identifier: Apache-2.0
//
// Carries the steps of a source (a Subscription, a SealedSubscription) over gRPC, one write at a time: the next message
// is made only when the last one has been taken, so that nothing queues up. Whoever holds too much already of what they
// have not taken waits for the next message until they have.
#ifndef SIDEBAND_DAEMON_GRPC_STREAM_REACTOR_H_
#define SIDEBAND_DAEMON_GRPC_STREAM_REACTOR_H_

#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "daemon/grpc/calls_under_way.h"
#include "daemon/grpc/grpc_status.h"
#include "daemon/grpc/message_bytes.h"
#include "daemon/grpc/stream_registry.h"
#include "daemon/grpc/stream_step.h"

namespace sideband::daemon {

// Thread-safe. Owned by the registry until gRPC is done with it.
//
// Invariant: at most one thread is the pump, from the moment it sets busy_ until it clears it; a write under way keeps
// busy_ set. Only the pump touches source_, bytes_ and share_ or starts a gRPC operation, and it does so without the
// lock.
template <typename Source>
class StreamReactor final : public grpc::ServerWriteReactor<grpc::ByteBuffer>,
                            public Stream,
                            public std::enable_shared_from_this<StreamReactor<Source>> {
 public:
  using Message = typename Source::Message;
  using DoneFunction = std::function<void(const absl::Status&)>;

  // `on_done` is told how the stream ended. `registry` must outlive it.
  StreamReactor(Source source, StreamRegistry& registry, std::unique_ptr<CallsUnderWay::Share> share,
                DoneFunction on_done)
      : source_(std::move(source)), share_(std::move(share)), registry_(registry), on_done_(std::move(on_done)) {}

  void Wake() override { Pump(); }
  void Stop() override { End(absl::UnavailableError("shutting down")); }

  void OnWriteDone(bool good) override {
    bytes_.Clear();
    share_->Hold(0);
    if (!good) RequestEnd(absl::CancelledError("the reader is gone"));
    RunPump();
  }
  void OnCancel() override { End(absl::CancelledError("cancelled")); }
  void OnDone() override {
    const auto self = this->shared_from_this();
    on_done_(TakeEnd().value_or(absl::OkStatus()));
    registry_.Remove(this);
  }

 private:
  void End(absl::Status status) {
    RequestEnd(std::move(status));
    Pump();
  }

  // The first reason counts.
  void RequestEnd(absl::Status status) {
    absl::MutexLock lock(&mu_);
    if (!end_) end_ = std::move(status);
  }

  // Becomes the pump, or leaves word with whoever is.
  void Pump() {
    {
      absl::MutexLock lock(&mu_);
      woken_ = true;
      if (busy_) return;
      busy_ = true;
    }
    RunPump();
  }

  // Only as the pump.
  void RunPump() {
    while (true) {
      if (const auto end = TakeEnd()) return Finish(ToGrpcStatus(*end));
      StreamStep<Message> step = NextStep();
      if (const auto* message = std::get_if<Message>(&step)) {
        if (Write(*message)) return;  // still the pump, until OnWriteDone
      } else if (auto* end = std::get_if<StreamEnd>(&step)) {
        RequestEnd(std::move(end->status));
      } else if (Rest()) {
        return;
      }
    }
  }

  // False where the stream has to end instead.
  bool Write(const Message& message) {
    auto bytes = Serialized(message);
    if (!bytes.ok()) {
      RequestEnd(bytes.status());
      return false;
    }
    bytes_ = *std::move(bytes);
    share_->Hold(bytes_.Length());
    this->StartWrite(&bytes_);
    return true;
  }

  // Waits where there is no room; the registry wakes streams every now and then.
  StreamStep<Message> NextStep() { return share_->IsFull() ? source_.Wait() : source_.Next(); }

  // The reason to end, if there is one; and notes that what has happened so far is about to be looked at.
  std::optional<absl::Status> TakeEnd() {
    absl::MutexLock lock(&mu_);
    woken_ = false;
    return end_;
  }

  // Stops being the pump unless there is news already.
  bool Rest() {
    absl::MutexLock lock(&mu_);
    if (woken_) return false;
    busy_ = false;
    return true;
  }

  // The pump's.
  Source source_;
  grpc::ByteBuffer bytes_;  // of the message under way
  const std::unique_ptr<CallsUnderWay::Share> share_;
  // Constant.
  StreamRegistry& registry_;
  const DoneFunction on_done_;

  absl::Mutex mu_;
  bool busy_ ABSL_GUARDED_BY(mu_) = false;   // there is a pump
  bool woken_ ABSL_GUARDED_BY(mu_) = false;  // since the pump last looked
  std::optional<absl::Status> end_ ABSL_GUARDED_BY(mu_);
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_GRPC_STREAM_REACTOR_H_
