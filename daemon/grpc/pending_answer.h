// SPDX-License-Identifier: Apache-2.0
//
// A unary call that is answered later, from any thread, and may be cancelled until then.
//   const std::shared_ptr<PendingAnswer> pending = PendingAnswer::Make(response, on_answer);
//   Ask([pending](const absl::StatusOr<grpc::ByteBuffer>& answer) { pending->Answer(answer); });
//   pending->SetCancel(withdraw);
//   return pending->reactor();
#ifndef SIDEBAND_DAEMON_GRPC_PENDING_ANSWER_H_
#define SIDEBAND_DAEMON_GRPC_PENDING_ANSWER_H_

#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include <functional>
#include <memory>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "daemon/grpc/grpc_status.h"

namespace sideband::daemon {

// Thread-safe. gRPC uses it until OnDone.
class PendingAnswer final : public grpc::ServerUnaryReactor {
 public:
  // Called once, with the answer, before gRPC gets it.
  using OnAnswer = std::function<void(const absl::StatusOr<grpc::ByteBuffer>& answer)>;
  // Withdraws what would answer the call; returns false if it answers nevertheless.
  using Cancel = std::function<bool()>;

  // `response` is the call's.
  static std::shared_ptr<PendingAnswer> Make(grpc::ByteBuffer& response, OnAnswer on_answer) {
    std::shared_ptr<PendingAnswer> pending(new PendingAnswer(response, std::move(on_answer)));
    pending->self_ = pending;
    return pending;
  }

  // For gRPC, once.
  grpc::ServerUnaryReactor* reactor() { return this; }

  // The first answer is sent; others are dropped.
  void Answer(const absl::StatusOr<grpc::ByteBuffer>& answer) ABSL_LOCKS_EXCLUDED(mu_) {
    {
      absl::MutexLock lock(&mu_);
      if (std::exchange(is_answered_, true)) return;
    }
    on_answer_(answer);
    if (answer.ok()) response_ = *answer;
    Finish(ToGrpcStatus(answer.status()));
  }

  // `cancel` is called when the client gives up: at once if it has already.
  void SetCancel(Cancel cancel) ABSL_LOCKS_EXCLUDED(mu_) {
    {
      absl::MutexLock lock(&mu_);
      if (!is_cancelled_) {
        cancel_ = std::move(cancel);
        return;
      }
    }
    GiveUp(cancel);
  }

  // Whether the client has given up.
  bool is_cancelled() const ABSL_LOCKS_EXCLUDED(mu_) {
    absl::MutexLock lock(&mu_);
    return is_cancelled_;
  }

  void OnCancel() override ABSL_LOCKS_EXCLUDED(mu_) {
    Cancel cancel;
    {
      absl::MutexLock lock(&mu_);
      is_cancelled_ = true;
      cancel = std::exchange(cancel_, nullptr);
    }
    if (cancel != nullptr) GiveUp(cancel);
  }

  void OnDone() override { self_.reset(); }

 private:
  PendingAnswer(grpc::ByteBuffer& response, OnAnswer on_answer)
      : response_(response), on_answer_(std::move(on_answer)) {}

  void GiveUp(const Cancel& cancel) {
    if (cancel()) Answer(absl::CancelledError("the client has cancelled the call"));
  }

  grpc::ByteBuffer& response_;
  const OnAnswer on_answer_;
  std::shared_ptr<PendingAnswer> self_;  // gRPC's reference; reset by its last call

  mutable absl::Mutex mu_;
  bool is_answered_ ABSL_GUARDED_BY(mu_) = false;
  bool is_cancelled_ ABSL_GUARDED_BY(mu_) = false;
  Cancel cancel_ ABSL_GUARDED_BY(mu_);
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_GRPC_PENDING_ANSWER_H_
