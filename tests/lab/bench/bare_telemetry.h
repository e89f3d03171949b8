// SPDX-License-Identifier: Apache-2.0
//
// The least that a C++ gRPC server can do for the same bytes: GetSnapshot and Subscribe answered with constant buffers,
// without identities, limits, audit or a gate.
//   BareTelemetry bare(answer, update);
//   builder.RegisterService(&bare);
//   bare.SendUpdate();   // to every stream that has taken the last one
#ifndef SIDEBAND_TESTS_LAB_BENCH_BARE_TELEMETRY_H_
#define SIDEBAND_TESTS_LAB_BENCH_BARE_TELEMETRY_H_

#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include <set>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "sideband/v1/telemetry.grpc.pb.h"

namespace sideband::bench {

using RawTelemetry = v1::Telemetry::WithRawCallbackMethod_GetSnapshot<
    v1::Telemetry::WithRawCallbackMethod_Subscribe<v1::Telemetry::Service>>;

// Thread-safe. The server must be shut down before it is destroyed.
class BareTelemetry final : public RawTelemetry {
 public:
  BareTelemetry(grpc::ByteBuffer answer, grpc::ByteBuffer update);

  grpc::ServerUnaryReactor* GetSnapshot(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                                        grpc::ByteBuffer* response) override;
  // Begins with one update.
  grpc::ServerWriteReactor<grpc::ByteBuffer>* Subscribe(grpc::CallbackServerContext* context,
                                                        const grpc::ByteBuffer* request) override;
  void SendUpdate() ABSL_LOCKS_EXCLUDED(mu_);

 private:
  class UpdateStream;

  const grpc::ByteBuffer answer_, update_;
  absl::Mutex mu_;
  std::set<UpdateStream*> streams_ ABSL_GUARDED_BY(mu_);
};

// The usual server: GetSnapshot answered with a constant message, which gRPC serialises at each call. Thread-safe.
class ConstantTelemetry final : public v1::Telemetry::CallbackService {
 public:
  explicit ConstantTelemetry(v1::GetSnapshotResponse answer) : answer_(std::move(answer)) {}

  grpc::ServerUnaryReactor* GetSnapshot(grpc::CallbackServerContext* context, const v1::GetSnapshotRequest* request,
                                        v1::GetSnapshotResponse* response) override;

 private:
  const v1::GetSnapshotResponse answer_;
};

}  // namespace sideband::bench

#endif  // SIDEBAND_TESTS_LAB_BENCH_BARE_TELEMETRY_H_
