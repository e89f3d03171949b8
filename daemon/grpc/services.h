// SPDX-License-Identifier: Apache-2.0
//
// The gRPC services as thin translators between calls and the classes that answer them. They take and return bytes
// (grpc::ByteBuffer), so that an answer that waits for its reader is held as it is sent, in a fifth of its message's
// memory. A new method is a row of the tables in services.cc.
//   const std::unique_ptr<grpc::Service> telemetry = NewTelemetryService(context);
//   builder.RegisterService(telemetry.get());
#ifndef SIDEBAND_DAEMON_GRPC_SERVICES_H_
#define SIDEBAND_DAEMON_GRPC_SERVICES_H_

#include <grpcpp/impl/codegen/service_type.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "daemon/grpc/grpc_message.h"
#include "daemon/grpc/service_context.h"
#include "daemon/stream/stream_content.h"
#include "daemon/view/snapshot_message.h"

namespace sideband::daemon {

// A unary call that is answered later, from any thread, and may be cancelled until then.
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

// Answers with snapshots whose bytes are shared: slices of one buffer, of which a snapshot's body is neither serialised
// nor copied again.
// A SubscribeResponse. INTERNAL where the message is longer than `bytes_max`. The buffer holds the bodies.
absl::StatusOr<grpc::ByteBuffer> Serialized(const StreamMessage& message, size_t bytes_max = kMessageBytesMost);
// A GetSnapshotResponse, likewise.
absl::StatusOr<grpc::ByteBuffer> Serialized(const std::vector<SharedSnapshot>& snapshots,
                                            size_t bytes_max = kMessageBytesMost);

// sideband.v1.Telemetry, Sensors, Confidential, Counting and Admin. Thread-safe; what `context` refers to must outlive
// them.
std::unique_ptr<grpc::Service> NewTelemetryService(const ServiceContext& context);
std::unique_ptr<grpc::Service> NewSensorsService(const ServiceContext& context);
std::unique_ptr<grpc::Service> NewConfidentialService(const ServiceContext& context);
std::unique_ptr<grpc::Service> NewCountingService(const ServiceContext& context);
std::unique_ptr<grpc::Service> NewAdminService(const ServiceContext& context);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_GRPC_SERVICES_H_
