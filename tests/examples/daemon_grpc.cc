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
#include <prometheus/registry.h>

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "daemon/base/clock.h"
#include "daemon/board/board_reading.h"
#include "daemon/board/board_store.h"
#include "daemon/config/config.h"
#include "daemon/exposition/exposition.h"
#include "daemon/exposition/exposition_cache.h"
#include "daemon/exposition/text_buffer.h"
#include "daemon/grpc/admission.h"
#include "daemon/grpc/call_limits.h"
#include "daemon/grpc/grpc_message.h"
#include "daemon/grpc/grpc_server.h"
#include "daemon/grpc/grpc_server_fixture.h"
#include "daemon/grpc/service_context.h"
#include "daemon/grpc/service_host.h"
#include "daemon/grpc/services.h"
#include "daemon/grpc/stream_reactor.h"
#include "daemon/grpc/subscription.h"
#include "daemon/http/http_exchange.h"
#include "daemon/identity/identity.h"
#include "daemon/metrics/area_metrics.h"
#include "daemon/metrics/expect_metric.h"
#include "daemon/metrics/families.h"
#include "daemon/metrics/self_metrics.h"
#include "daemon/sealing/sealer_set.h"
#include "daemon/snapshot/device_snapshot.h"
#include "daemon/view/reader.h"
#include "daemon/view/sensor_queries.h"
#include "daemon/view/view.h"
#include "proto/audit/chain.h"
#include "proto/base/status_macros.h"
#include "proto/exposition/prometheus_text.h"
#include "proto/mailbox/catalog.h"
#include "proto/mailbox/snapshot.h"
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

absl::Status UseCallLimits(CallsUnderWay& under_way, const sideband::v1::GetSnapshotResponse& answer, Reader& reader,
                           const std::string& identity, const std::shared_ptr<Stream>& stream) {
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

absl::Status UseSubscription(const StreamSources& sources, const Credentials& credentials,
                             const sideband::v1::SubscribeRequest& request) {
  //@ daemon/grpc/subscription.h
  return absl::OkStatus();
}

void Finish(const absl::Status& status);

void UseAreaMetrics(AuditMetrics& audit, const std::vector<AuditEntry>& entries, ListenerMetrics& listeners,
                    RequestMetrics& requests, const absl::Status& status, CollectionMetrics& metrics,
                    absl::Duration took) {
  //@ daemon/metrics/area_metrics.h
}

void UseExpectMetric(const std::unique_ptr<SelfMetrics>& metrics) {
  //@ daemon/metrics/expect_metric.h
}

void UseFamilies(prometheus::Registry& registry) {
  //@ daemon/metrics/families.h
}

absl::Status UseSelfMetrics(absl::Duration took, std::string& body) {
  //@ daemon/metrics/self_metrics.h
  return absl::OkStatus();
}

void Write(const std::string& labels);

void UseExposition(Reader& reader, const Caller& caller, const std::vector<VisibleDevice>& devices, TextBuffer& body) {
  //@ daemon/exposition/exposition.h
}

void UseExpositionCache(ExpositionCache& cache, const Caller& caller, const std::vector<VisibleDevice>& devices,
                        const std::string& own_metrics, HttpResponse& response) {
  //@ daemon/exposition/exposition_cache.h
}

void UseTextBuffer(size_t family_bytes_max, const std::string& ages, const std::shared_ptr<const TextBuffer>& text) {
  //@ daemon/exposition/text_buffer.h
}

}  // namespace
}  // namespace sideband::daemon
