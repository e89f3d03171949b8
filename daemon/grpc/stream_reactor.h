// SPDX-License-Identifier: Apache-2.0
//
// Sends the steps of a source (Subscription, SealedSubscription) over gRPC, one write at a time: the next message is
// made only when gRPC has taken the last one, so nothing queues up. While the identity is at its limit of unread bytes,
// no message is made.
//   auto stream = std::make_shared<StreamReactor<Subscription>>(
//       std::move(source), registry, std::move(share), connection, on_done);
//   SIDEBAND_RETURN_IF_ERROR(registry.Add(identity, stream));
//   stream->Wake();
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
#include "absl/time/time.h"
#include "daemon/base/clock.h"
#include "daemon/grpc/call_limits.h"
#include "daemon/grpc/grpc_message.h"
#include "daemon/grpc/subscription.h"
#include "daemon/identity/identity.h"

namespace sideband::daemon {

// For how long a stream's reader has not taken the message that is being written.
inline absl::Status ReaderTooSlowError() {
  return absl::DeadlineExceededError("the reader has taken nothing for two heartbeats");
}

// Not thread-safe. The clock must outlive it.
class WriteWatch {
 public:
  enum class Verdict {
    kGood,
    kFinish,  // the patience is over
    kCancel,  // and so much time again: the reader does not even take the status
  };

  // Without a clock (nullptr) the patience is endless.
  WriteWatch(const Clock* clock, absl::Duration patience) : clock_(clock), patience_(patience) {}

  void Begin() {
    if (clock_ != nullptr && patience_ != absl::InfiniteDuration()) since_ = clock_->Steady();
  }
  void End() { since_.reset(); }
  // Each of the other verdicts comes once for a write, in their order.
  Verdict Check() {
    if (!since_) return Verdict::kGood;
    const absl::Duration waited = clock_->Steady() - *since_;
    if (waited < patience_) return Verdict::kGood;
    if (!std::exchange(is_finished_, true)) return Verdict::kFinish;
    if (waited < 2 * patience_ || std::exchange(is_cancelled_, true)) return Verdict::kGood;
    return Verdict::kCancel;
  }
  // A stream that was finished writes no more.
  bool is_finished() const { return is_finished_; }

 private:
  const Clock* clock_;
  absl::Duration patience_;
  std::optional<absl::Duration> since_;
  bool is_finished_ = false;
  bool is_cancelled_ = false;
};

// Thread-safe. The registry owns it until gRPC calls OnDone.
//
// Invariant: at most one thread is the pump, from setting busy_ until clearing it. An outstanding write keeps busy_
// set. Only the pump touches source_, bytes_ and share_ or starts a gRPC operation, and it does so without the lock.
// The exception is a write that its reader does not take: Wake() finishes the stream behind it, and there is no pump
// from then on.
template <typename Source>
class StreamReactor final : public grpc::ServerWriteReactor<grpc::ByteBuffer>,
                            public Stream,
                            public std::enable_shared_from_this<StreamReactor<Source>> {
 public:
  using Message = typename Source::Message;
  using DoneFunction = std::function<void(const absl::Status&)>;
  // How long the reader may leave a message untaken. The stream then ends with ReaderTooSlowError(), and if the reader
  // does not take that either, by `cancel`, which is not called after OnDone.
  struct ReaderDeadline {
    const Clock* clock = nullptr;
    absl::Duration patience = absl::InfiniteDuration();
    std::function<void()> cancel = [] {};
  };

  // `on_done` receives the final status. `registry` must outlive this. The stream ends with the error of
  // `connection->Check()` or `CheckAge()`; nullptr: it is not checked.
  StreamReactor(Source source, StreamRegistry& registry, std::unique_ptr<CallsUnderWay::Share> share,
                std::shared_ptr<const ConnectionStanding> connection, DoneFunction on_done,
                ReaderDeadline deadline = {})
      : source_(std::move(source)),
        share_(std::move(share)),
        connection_(std::move(connection)),
        registry_(registry),
        on_done_(std::move(on_done)),
        cancel_(std::move(deadline.cancel)),
        watch_(deadline.clock, deadline.patience) {}

  void Wake() override {
    CheckReader();
    Pump();
  }
  void Stop() override { End(absl::UnavailableError("shutting down")); }

  void OnWriteDone(bool good) override {
    bytes_.Clear();
    share_->Hold(0);
    if (EndWrite()) return;
    if (!good) RequestEnd(absl::CancelledError("the reader is gone"));
    RunPump();
  }
  void OnCancel() override { End(absl::CancelledError("cancelled")); }
  void OnDone() override {
    // Remove() drops the registry's reference, which may be the last one.
    const auto self = this->shared_from_this();
    {
      absl::MutexLock lock(&cancel_mu_);
      cancel_ = nullptr;
    }
    on_done_(TakeEnd().value_or(absl::OkStatus()));
    registry_.Remove(this);
  }

 private:
  // Ends a stream whose reader takes nothing.
  void CheckReader() {
    WriteWatch::Verdict verdict;
    {
      absl::MutexLock lock(&mu_);
      verdict = watch_.Check();
      if (verdict == WriteWatch::Verdict::kFinish && !end_) end_ = ReaderTooSlowError();
    }
    // Behind the outstanding write: a reader that goes on reading sees why its stream has ended.
    if (verdict == WriteWatch::Verdict::kFinish) return this->Finish(ToGrpcStatus(ReaderTooSlowError()));
    if (verdict != WriteWatch::Verdict::kCancel) return;
    // gRPC calls back on its own threads, so that OnDone does not wait for this one.
    absl::MutexLock lock(&cancel_mu_);
    if (cancel_ != nullptr) cancel_();
  }

  // Returns whether the stream was finished behind the write.
  bool EndWrite() {
    absl::MutexLock lock(&mu_);
    watch_.End();
    return watch_.is_finished();
  }

  void End(absl::Status status) {
    RequestEnd(std::move(status));
    Pump();
  }

  // The first status wins.
  void RequestEnd(absl::Status status) {
    absl::MutexLock lock(&mu_);
    if (!end_) end_ = std::move(status);
  }

  // Becomes the pump, or leaves a wake-up for the thread that is the pump.
  void Pump() {
    {
      absl::MutexLock lock(&mu_);
      woken_ = true;
      if (busy_) return;
      busy_ = true;
    }
    RunPump();
  }

  // Called by the pump only.
  void RunPump() {
    while (true) {
      if (const auto end = TakeEnd()) return Finish(ToGrpcStatus(*end));
      StreamStep<Message> step = NextStep();
      if (const auto* message = std::get_if<Message>(&step)) {
        if (Write(*message)) return;  // the pump role passes to OnWriteDone
      } else if (auto* end = std::get_if<StreamEnd>(&step)) {
        RequestEnd(std::move(end->status));
      } else if (Rest()) {
        return;
      }
    }
  }

  // False where serialization failed and the stream must end.
  bool Write(const Message& message) {
    auto bytes = Serialized(message);
    if (!bytes.ok()) {
      RequestEnd(bytes.status());
      return false;
    }
    bytes_ = *std::move(bytes);
    share_->Hold(bytes_.Length());
    {
      absl::MutexLock lock(&mu_);
      watch_.Begin();
    }
    this->StartWrite(&bytes_);
    return true;
  }

  // Does not make a message while the identity is full; the registry retries every second.
  StreamStep<Message> NextStep() {
    absl::Status standing = connection_ == nullptr ? absl::OkStatus() : connection_->Check();
    if (standing.ok() && connection_ != nullptr) standing = connection_->CheckAge();
    if (!standing.ok()) return StreamEnd{std::move(standing)};
    return share_->IsFull() ? source_.Wait() : source_.Next();
  }

  // The status to end with, if any. Clears woken_: wake-ups up to now are covered by the next step.
  std::optional<absl::Status> TakeEnd() {
    absl::MutexLock lock(&mu_);
    woken_ = false;
    return end_;
  }

  // Stops being the pump, unless a wake-up has arrived meanwhile.
  bool Rest() {
    absl::MutexLock lock(&mu_);
    if (woken_) return false;
    busy_ = false;
    return true;
  }

  // Touched by the pump only.
  Source source_;
  grpc::ByteBuffer bytes_;  // the outstanding write
  const std::unique_ptr<CallsUnderWay::Share> share_;
  // Constant after construction.
  const std::shared_ptr<const ConnectionStanding> connection_;  // shared with the gate
  StreamRegistry& registry_;
  const DoneFunction on_done_;

  // Held while the call is cancelled, so that it still exists.
  absl::Mutex cancel_mu_;
  std::function<void()> cancel_ ABSL_GUARDED_BY(cancel_mu_);

  absl::Mutex mu_;
  WriteWatch watch_ ABSL_GUARDED_BY(mu_);
  bool busy_ ABSL_GUARDED_BY(mu_) = false;   // a thread is the pump, or a write is outstanding
  bool woken_ ABSL_GUARDED_BY(mu_) = false;  // a wake-up arrived since the last TakeEnd()
  std::optional<absl::Status> end_ ABSL_GUARDED_BY(mu_);
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_GRPC_STREAM_REACTOR_H_
