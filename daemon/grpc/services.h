// SPDX-License-Identifier: Apache-2.0
//
// The gRPC services as thin translators: who asks, what, and the plain classes that answer. They take and give bytes
// (grpc::ByteBuffer), so that an answer that waits for its reader is held as it is sent, a fifth of what its message
// takes.
#ifndef SIDEBAND_DAEMON_GRPC_SERVICES_H_
#define SIDEBAND_DAEMON_GRPC_SERVICES_H_

#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include "daemon/grpc/service_context.h"
#include "sideband/v1/telemetry.grpc.pb.h"

namespace sideband::daemon {

using UnaryReactor = grpc::ServerUnaryReactor;
using WriteReactor = grpc::ServerWriteReactor<grpc::ByteBuffer>;

// All methods of sideband.v1.Telemetry, as bytes.
using RawTelemetry = sideband::v1::Telemetry::WithRawCallbackMethod_ListDevices<
    sideband::v1::Telemetry::WithRawCallbackMethod_ListEvents<sideband::v1::Telemetry::WithRawCallbackMethod_ListScopes<
        sideband::v1::Telemetry::WithRawCallbackMethod_GetSnapshot<
            sideband::v1::Telemetry::WithRawCallbackMethod_GetHistory<
                sideband::v1::Telemetry::WithRawCallbackMethod_Subscribe<sideband::v1::Telemetry::Service>>>>>>;
using RawConfidential =
    sideband::v1::Confidential::WithRawCallbackMethod_SubscribeSealed<sideband::v1::Confidential::Service>;

// Thread-safe.
class TelemetryService final : public RawTelemetry {
 public:
  explicit TelemetryService(ServiceContext context) : context_(context) {}

  UnaryReactor* ListDevices(grpc::CallbackServerContext* call, const grpc::ByteBuffer* request,
                            grpc::ByteBuffer* response) override;
  UnaryReactor* ListEvents(grpc::CallbackServerContext* call, const grpc::ByteBuffer* request,
                           grpc::ByteBuffer* response) override;
  UnaryReactor* ListScopes(grpc::CallbackServerContext* call, const grpc::ByteBuffer* request,
                           grpc::ByteBuffer* response) override;
  UnaryReactor* GetSnapshot(grpc::CallbackServerContext* call, const grpc::ByteBuffer* request,
                            grpc::ByteBuffer* response) override;
  UnaryReactor* GetHistory(grpc::CallbackServerContext* call, const grpc::ByteBuffer* request,
                           grpc::ByteBuffer* response) override;
  WriteReactor* Subscribe(grpc::CallbackServerContext* call, const grpc::ByteBuffer* request) override;

 private:
  const ServiceContext context_;
};

// Thread-safe.
class ConfidentialService final : public RawConfidential {
 public:
  explicit ConfidentialService(ServiceContext context) : context_(context) {}

  WriteReactor* SubscribeSealed(grpc::CallbackServerContext* call, const grpc::ByteBuffer* request) override;

 private:
  const ServiceContext context_;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_GRPC_SERVICES_H_
