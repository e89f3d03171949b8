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
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "daemon/base/body.h"
#include "daemon/base/clock.h"
#include "daemon/board/board_reading.h"
#include "daemon/board/board_store.h"
#include "daemon/config/config.h"
#include "daemon/exposition/board_families.h"
#include "daemon/exposition/device_families.h"
#include "daemon/exposition/device_labels.h"
#include "daemon/exposition/exposition.h"
#include "daemon/exposition/exposition_cache.h"
#include "daemon/exposition/frame.h"
#include "daemon/exposition/gzip.h"
#include "daemon/exposition/scrape_filter.h"
#include "daemon/exposition/text_buffer.h"
#include "daemon/grpc/admission.h"
#include "daemon/grpc/calls_under_way.h"
#include "daemon/grpc/grpc_server.h"
#include "daemon/grpc/grpc_server_fixture.h"
#include "daemon/grpc/grpc_status.h"
#include "daemon/grpc/message_bytes.h"
#include "daemon/grpc/raw_client.h"
#include "daemon/grpc/request_quota.h"
#include "daemon/grpc/service_context.h"
#include "daemon/grpc/service_host.h"
#include "daemon/grpc/services.h"
#include "daemon/grpc/stream_reactor.h"
#include "daemon/grpc/stream_registry.h"
#include "daemon/grpc/stream_step.h"
#include "daemon/grpc/subscription.h"
#include "daemon/http/http_message.h"
#include "daemon/http/http_server.h"
#include "daemon/identity/connection_standing.h"
#include "daemon/identity/credentials.h"
#include "daemon/message/scope_message.h"
#include "daemon/message/time_message.h"
#include "daemon/metrics/audit_metrics.h"
#include "daemon/metrics/collection_metrics.h"
#include "daemon/metrics/expect_metric.h"
#include "daemon/metrics/families.h"
#include "daemon/metrics/listener_metrics.h"
#include "daemon/metrics/request_metrics.h"
#include "daemon/metrics/self_metrics.h"
#include "daemon/sealing/sealer_set.h"
#include "daemon/service/fake_manager.h"
#include "daemon/service/inherited_sockets.h"
#include "daemon/service/keeper.h"
#include "daemon/service/pulse.h"
#include "daemon/service/service_manager.h"
#include "daemon/snapshot/device_snapshot.h"
#include "daemon/snapshot/level.h"
#include "daemon/snapshot/topology.h"
#include "daemon/view/reader.h"
#include "daemon/view/view.h"
#include "daemon/view/visible_boards.h"
#include "proto/audit/entry.h"
#include "proto/base/status_macros.h"
#include "proto/exposition/text.h"
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

absl::Status UseCallsUnderWay(CallsUnderWay& under_way, const sideband::v1::GetSnapshotResponse& answer) {
  //@ daemon/grpc/calls_under_way.h
  return absl::OkStatus();
}

absl::Status UseGrpcServer(const Config& config, Reader& reader, const std::unique_ptr<SelfMetrics>& metrics) {
  //@ daemon/grpc/grpc_server.h
  return absl::OkStatus();
}

//@ daemon/grpc/grpc_server_fixture.h

void UseGrpcStatus() {
  //@ daemon/grpc/grpc_status.h
}

absl::Status UseMessageBytes(const sideband::v1::GetSnapshotResponse& response,
                             sideband::v1::GetSnapshotRequest& request) {
  //@ daemon/grpc/message_bytes.h
  return absl::OkStatus();
}

void UseRawClient(const std::shared_ptr<grpc::Channel>& channel) {
  //@ daemon/grpc/raw_client.h
}

void UseRequestQuota(const Clock& clock) {
  //@ daemon/grpc/request_quota.h
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

void UseFakeManager() {
  //@ daemon/service/fake_manager.h
}

absl::Status UseInheritedSockets(HttpServer::Options& options) {
  //@ daemon/service/inherited_sockets.h
  return absl::OkStatus();
}

void UseKeeper(ServiceManager& manager, Pulse& pulse, const Pulse::Post& post) {
  //@ daemon/service/keeper.h
}

void UsePulse(const Clock& clock, const std::unique_ptr<HttpServer>& http) {
  //@ daemon/service/pulse.h
}

void UseServiceManager() {
  //@ daemon/service/service_manager.h
}

void UseScopeMessage(sideband::v1::ListScopesResponse& response, const VisibleDevice& device, const Topology& topology,
                     const mailbox::BlockHeader& block) {
  //@ daemon/message/scope_message.h
}

absl::Status UseTimeMessage(const DeviceSnapshot& snapshot, sideband::v1::HistoryPoint& point,
                            const sideband::v1::GetHistoryRequest& request) {
  //@ daemon/message/time_message.h
  return absl::OkStatus();
}

void UseAuditMetrics(AuditMetrics& metrics, const std::vector<AuditEntry>& entries) {
  //@ daemon/metrics/audit_metrics.h
}

void UseCollectionMetrics(CollectionMetrics& metrics, absl::Duration took) {
  //@ daemon/metrics/collection_metrics.h
}

void UseExpectMetric(const std::unique_ptr<SelfMetrics>& metrics) {
  //@ daemon/metrics/expect_metric.h
}

void UseFamilies(prometheus::Registry& registry) {
  //@ daemon/metrics/families.h
}

void UseListenerMetrics(ListenerMetrics& metrics) {
  //@ daemon/metrics/listener_metrics.h
}

void UseRequestMetrics(RequestMetrics& metrics, const absl::Status& status) {
  //@ daemon/metrics/request_metrics.h
}

absl::Status UseSelfMetrics(absl::Duration took, std::string& body) {
  //@ daemon/metrics/self_metrics.h
  return absl::OkStatus();
}

void Write(const std::string& labels);

void UseDeviceFamilies(const DeviceFrame& frame, TextBuffer& out) {
  //@ daemon/exposition/device_families.h
}

void UseDeviceLabels(const DeviceInfo& info, const View* view, const mailbox::BlockHeader& block, std::string& out) {
  //@ daemon/exposition/device_labels.h
}

void UseExposition(Reader& reader, const Caller& caller, const std::vector<VisibleDevice>& devices, TextBuffer& body) {
  //@ daemon/exposition/exposition.h
}

void UseExpositionCache(ExpositionCache& cache, const Caller& caller, const std::vector<VisibleDevice>& devices,
                        const std::string& own_metrics, HttpResponse& response) {
  //@ daemon/exposition/exposition_cache.h
}

void UseFrame(const VisibleDevice& device, const DeviceLabels& labels, const ScrapeFilter& filter) {
  //@ daemon/exposition/frame.h
}

void UseGzip(const std::string& text, const std::string& ages) {
  //@ daemon/exposition/gzip.h
}

void UseTextBuffer(size_t family_bytes_max) {
  //@ daemon/exposition/text_buffer.h
}

void UseBoardFamilies(const BoardStore& store, const Caller& caller, const std::vector<VisibleDevice>& devices,
                      const BoardTime& now, std::string& out) {
  //@ daemon/exposition/board_families.h
}

}  // namespace
}  // namespace sideband::daemon
