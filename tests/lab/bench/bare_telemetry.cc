// SPDX-License-Identifier: Apache-2.0
#include "tests/lab/bench/bare_telemetry.h"

#include <utility>

namespace sideband::bench {

// Deletes itself when gRPC has finished the call.
class BareTelemetry::UpdateStream final : public grpc::ServerWriteReactor<grpc::ByteBuffer> {
 public:
  explicit UpdateStream(BareTelemetry& all) : all_(all) {}

  void Send() {
    absl::MutexLock lock(&mu_);
    if (is_writing_ || is_over_) return;
    is_writing_ = true;
    buffer_ = all_.update_;
    StartWrite(&buffer_);
  }
  void OnWriteDone(bool is_good) override {
    absl::MutexLock lock(&mu_);
    is_writing_ = false;
    buffer_.Clear();
    if (!is_good) End();
  }
  void OnCancel() override {
    absl::MutexLock lock(&mu_);
    End();
  }
  void OnDone() override {
    {
      absl::MutexLock lock(&all_.mu_);
      all_.streams_.erase(this);
    }
    delete this;
  }

 private:
  void End() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    if (!std::exchange(is_over_, true)) Finish(grpc::Status::CANCELLED);
  }

  BareTelemetry& all_;
  grpc::ByteBuffer buffer_;
  absl::Mutex mu_;
  bool is_writing_ ABSL_GUARDED_BY(mu_) = false;
  bool is_over_ ABSL_GUARDED_BY(mu_) = false;
};

BareTelemetry::BareTelemetry(grpc::ByteBuffer answer, grpc::ByteBuffer update)
    : answer_(std::move(answer)), update_(std::move(update)) {}

grpc::ServerUnaryReactor* BareTelemetry::GetSnapshot(grpc::CallbackServerContext* context,
                                                     const grpc::ByteBuffer* /*request*/, grpc::ByteBuffer* response) {
  *response = answer_;  // shares its slices
  grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
  reactor->Finish(grpc::Status::OK);
  return reactor;
}

grpc::ServerWriteReactor<grpc::ByteBuffer>* BareTelemetry::Subscribe(grpc::CallbackServerContext* /*context*/,
                                                                     const grpc::ByteBuffer* /*request*/) {
  auto* const stream = new UpdateStream(*this);
  {
    absl::MutexLock lock(&mu_);
    streams_.insert(stream);
  }
  stream->Send();
  return stream;
}

grpc::ServerUnaryReactor* ConstantTelemetry::GetSnapshot(grpc::CallbackServerContext* context,
                                                         const v1::GetSnapshotRequest* /*request*/,
                                                         v1::GetSnapshotResponse* response) {
  *response = answer_;
  grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
  reactor->Finish(grpc::Status::OK);
  return reactor;
}

void BareTelemetry::SendUpdate() {
  absl::MutexLock lock(&mu_);
  for (UpdateStream* const stream : streams_) stream->Send();
}

}  // namespace sideband::bench
