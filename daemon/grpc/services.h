// SPDX-License-Identifier: Apache-2.0
//
// The gRPC services as thin translators: who asks, what, and the plain classes that answer.
#ifndef SIDEBAND_DAEMON_GRPC_SERVICES_H_
#define SIDEBAND_DAEMON_GRPC_SERVICES_H_

#include "daemon/grpc/service_context.h"
#include "sideband/v1/telemetry.grpc.pb.h"

namespace sideband::daemon {

// Thread-safe.
class TelemetryService final : public sideband::v1::Telemetry::CallbackService {
 public:
  explicit TelemetryService(ServiceContext context) : context_(context) {}

  grpc::ServerUnaryReactor* ListDevices(grpc::CallbackServerContext* call,
                                        const sideband::v1::ListDevicesRequest* request,
                                        sideband::v1::ListDevicesResponse* response) override;
  grpc::ServerUnaryReactor* ListEvents(grpc::CallbackServerContext* call,
                                       const sideband::v1::ListEventsRequest* request,
                                       sideband::v1::ListEventsResponse* response) override;
  grpc::ServerUnaryReactor* ListScopes(grpc::CallbackServerContext* call,
                                       const sideband::v1::ListScopesRequest* request,
                                       sideband::v1::ListScopesResponse* response) override;
  grpc::ServerUnaryReactor* GetSnapshot(grpc::CallbackServerContext* call,
                                        const sideband::v1::GetSnapshotRequest* request,
                                        sideband::v1::GetSnapshotResponse* response) override;
  grpc::ServerUnaryReactor* GetHistory(grpc::CallbackServerContext* call,
                                       const sideband::v1::GetHistoryRequest* request,
                                       sideband::v1::GetHistoryResponse* response) override;
  grpc::ServerWriteReactor<sideband::v1::SubscribeResponse>* Subscribe(
      grpc::CallbackServerContext* call, const sideband::v1::SubscribeRequest* request) override;

 private:
  const ServiceContext context_;
};

// Thread-safe.
class ConfidentialService final : public sideband::v1::Confidential::CallbackService {
 public:
  explicit ConfidentialService(ServiceContext context) : context_(context) {}

  grpc::ServerWriteReactor<sideband::v1::SealedRecord>* SubscribeSealed(
      grpc::CallbackServerContext* call, const sideband::v1::SubscribeSealedRequest* request) override;

 private:
  const ServiceContext context_;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_GRPC_SERVICES_H_
