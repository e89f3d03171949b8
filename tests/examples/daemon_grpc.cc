// SPDX-License-Identifier: Apache-2.0
#include <grpc/support/time.h>
#include <grpcpp/channel.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>
#include <grpcpp/server_context.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>
#include <grpcpp/support/status.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "daemon/base/clock.h"
#include "daemon/config/config.h"
#include "daemon/grpc/admission.h"
#include "daemon/grpc/call_limits.h"
#include "daemon/grpc/grpc_message.h"
#include "daemon/grpc/grpc_server.h"
#include "daemon/grpc/grpc_server_fixture.h"
#include "daemon/grpc/service_context.h"
#include "daemon/grpc/service_host.h"
#include "daemon/grpc/services.h"
#include "daemon/grpc/stream_reactor.h"
#include "daemon/grpc/stream_registry.h"
#include "daemon/grpc/stream_step.h"
#include "daemon/grpc/subscription.h"
#include "daemon/identity/identity.h"
#include "daemon/metrics/self_metrics.h"
#include "daemon/sealing/sealer_set.h"
#include "daemon/view/reader.h"
#include "proto/base/status_macros.h"
#include "sideband/v1/telemetry.pb.h"

namespace sideband::daemon {
namespace {

absl::Status Answer(const Caller& caller);
void Finish(const grpc::Status& status);
void Reject(absl::Duration retry_after);
void Send(const StreamMessage& message);

void UseAdmission(const ServiceContext& context, grpc::CallbackServerContext& call,
                  const sideband::v1::GetSnapshotRequest& request) {
  //@ daemon/grpc/admission.h
}

absl::Status UseCallsUnderWay(CallsUnderWay& under_way, const sideband::v1::GetSnapshotResponse& answer) {
  //@ daemon/grpc/call_limits.h
  return absl::OkStatus();
}

absl::Status UseGrpcServer(const Config& config, Reader& reader, const std::unique_ptr<SelfMetrics>& metrics) {
  //@ daemon/grpc/grpc_server.h
  return absl::OkStatus();
}

//@ daemon/grpc/grpc_server_fixture.h

absl::Status UseMessageBytes(const sideband::v1::GetSnapshotResponse& response,
                             sideband::v1::GetSnapshotRequest& request) {
  //@ daemon/grpc/grpc_message.h
  return absl::OkStatus();
}

void UseServiceHost(const ServiceContext& context, int fd, gpr_timespec deadline) {
  //@ daemon/grpc/service_host.h
}

void UseServices(const ServiceContext& context, grpc::ServerBuilder& builder) {
  //@ daemon/grpc/services.h
}

absl::Status UseStreamReactor(Subscription source, StreamRegistry& registry, const std::string& identity,
                              std::unique_ptr<CallsUnderWay::Share> share,
                              const std::shared_ptr<const ConnectionStanding>& connection,
                              const StreamReactor<Subscription>::DoneFunction& on_done) {
  //@ daemon/grpc/stream_reactor.h
  return absl::OkStatus();
}

absl::Status UseStreamRegistry(Reader& reader, const std::string& identity, const std::shared_ptr<Stream>& stream) {
  //@ daemon/grpc/stream_registry.h
  return absl::OkStatus();
}

void UseStreamStep(Subscription& source) {
  using Message = Subscription::Message;
  //@ daemon/grpc/stream_step.h
}

absl::Status UseSubscription(const StreamSources& sources, const Credentials& credentials,
                             const sideband::v1::SubscribeRequest& request) {
  //@ daemon/grpc/subscription.h
  return absl::OkStatus();
}

void Finish(const absl::Status& status);

}  // namespace
}  // namespace sideband::daemon
