// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "daemon/audit/audit_sink.h"
#include "daemon/authz/absent_names.h"
#include "daemon/authz/decision.h"
#include "daemon/authz/policy.h"
#include "daemon/base/clock.h"
#include "daemon/board/board_store.h"
#include "daemon/history/chunk.h"
#include "daemon/history/history.h"
#include "daemon/http/site.h"
#include "daemon/identity/identity.h"
#include "daemon/mailbox/snapshot_reader.h"
#include "daemon/metrics/self_metrics.h"
#include "daemon/snapshot/coverage.h"
#include "daemon/snapshot/device_info.h"
#include "daemon/snapshot/device_snapshot.h"
#include "daemon/snapshot/fake_topology.h"
#include "daemon/snapshot/live_reader.h"
#include "daemon/snapshot/message.h"
#include "daemon/snapshot/ratio.h"
#include "daemon/snapshot/store.h"
#include "daemon/snapshot/topology.h"
#include "daemon/snapshot/utilisation.h"
#include "daemon/stream/change_stream.h"
#include "daemon/stream/resume_token.h"
#include "daemon/stream/sample_stream.h"
#include "daemon/stream/stream_content.h"
#include "daemon/view/admin.h"
#include "daemon/view/counting_queries.h"
#include "daemon/view/exchange_queries.h"
#include "daemon/view/fake_world.h"
#include "daemon/view/history_reader.h"
#include "daemon/view/history_window.h"
#include "daemon/view/mark_queries.h"
#include "daemon/view/reader.h"
#include "daemon/view/replay.h"
#include "daemon/view/rotation_queries.h"
#include "daemon/view/row_filter.h"
#include "daemon/view/sensor_queries.h"
#include "daemon/view/snapshot_message.h"
#include "daemon/view/state_items.h"
#include "daemon/view/telemetry_queries.h"
#include "daemon/view/tenure.h"
#include "daemon/view/view.h"
#include "daemon/view/view_groups.h"
#include "proto/audit/chain.h"
#include "proto/base/status_macros.h"
#include "proto/mailbox/catalog.h"
#include "proto/mailbox/snapshot.h"
#include "sideband/v1/counting.pb.h"
#include "sideband/v1/telemetry.pb.h"

namespace sideband::daemon {
namespace {

void Show(const EventSet& events);
void Show(const std::vector<VisibleDevice>& devices);

absl::Status UseAdmin(Reader& reader, decltype(Admin::Parts::trigger) trigger, decltype(Admin::Parts::reload) reload,
                      const Caller& caller, const Credentials& peer, const sideband::v1::ReloadRequest& request,
                      Admin::Done<sideband::v1::ReloadResponse> done) {
  //@ daemon/view/admin.h
  return absl::OkStatus();
}

absl::Status UseExchangeQueries(Reader& reader, GuestSealer& sealer, const Caller& caller,
                                const sideband::v1::ChallengeRequest& request,
                                ExchangeQueries::Done<sideband::v1::ChallengeResponse> done) {
  //@ daemon/view/exchange_queries.h
  return absl::OkStatus();
}

absl::Status UseHistoryReader(Reader& reader, const Store& store, const History& history, const Caller& caller,
                              const sideband::v1::GetHistoryRequest& request) {
  //@ daemon/view/history_reader.h
  return absl::OkStatus();
}

void Send(const sideband::v1::Snapshot& update);

void UseReplay(Reader& reader, const History* history, const VisibleDevice& device, const Caller& caller,
               const RowFilter& filter) {
  //@ daemon/view/replay.h
}

absl::Status UseTelemetryQueries(Reader& reader, LiveReader& live, const Caller& caller,
                                 const sideband::v1::ListDevicesRequest& request,
                                 const sideband::v1::PeekRequest& peek_request, const PeekReader::Done& finish) {
  //@ daemon/view/telemetry_queries.h
  return absl::OkStatus();
}

struct Kept {
  explicit Kept(const Caller&) {}
};

void UseViewGroups(const Caller& caller) {
  //@ daemon/view/view_groups.h
}

void UseReader(Store& store, PolicyHolder& policy_holder, const Clock& clock, AuditSink& audit,
               const Credentials& credentials) {
  //@ daemon/view/reader.h
}

absl::Status UseRowFilter(const sideband::v1::GetSnapshotRequest& request, const std::vector<VisibleDevice>& devices) {
  //@ daemon/view/row_filter.h
  return absl::OkStatus();
}

void Send(const std::string& body, const std::string& moment);

void UseSnapshotBodies(Reader& reader, const std::unique_ptr<SelfMetrics>& metrics, const VisibleDevice& device,
                       const RowFilter& filter) {
  //@ daemon/view/snapshot_message.h
}

void UseView(const View& view, const mailbox::BlockHeader& block) {
  //@ daemon/view/view.h
}

absl::Status UseCountingQueries(Reader& reader, CountingBook& book, const Caller& caller,
                                const sideband::v1::GetCountingRequest& request) {
  //@ daemon/view/counting_queries.h
  return absl::OkStatus();
}

absl::Status UseRotationQueries(Reader& reader, RotationSink* sink, const Caller& caller,
                                const sideband::v1::GetRotationRequest& request,
                                const sideband::v1::SetRotationRequest& change,
                                RotationDone<sideband::v1::SetRotationResponse> done) {
  //@ daemon/view/rotation_queries.h
  return absl::OkStatus();
}

absl::Status UseSensorQueries(Reader& reader, const BoardStore& boards, SensorHistory& history, const Caller& caller,
                              const sideband::v1::GetSensorsRequest& request,
                              const sideband::v1::GetSensorHistoryRequest& history_request) {
  //@ daemon/view/sensor_queries.h
  return absl::OkStatus();
}

absl::StatusOr<sideband::v1::GetHistoryResponse> UseHistoryWindow(const sideband::v1::GetHistoryRequest& request,
                                                                  const AnswerSize& size) {
  const auto Build = [](const HistoryWindow&) { return std::optional<sideband::v1::GetHistoryResponse>(); };
  //@ daemon/view/history_window.h
  return absl::ResourceExhaustedError("");
}

void UseTenure(Reader& reader, const Caller& caller, const mailbox::VmInfo& vm, const Mark& mark) {
  const auto Show = [](const Mark&) {};
  //@ daemon/view/tenure.h
}

void UseBoardEventCursor(const BoardStore& boards, size_t device) {
  const auto Send = [](const BoardEventCursor::Message&) {};
  //@ daemon/view/state_items.h
}

absl::Status UseMarkQueries(Reader& reader, MarkBook& book, BookmarkSink& sink, const Caller& caller,
                            const sideband::v1::MarkRequest& request, MarkQueries::Done done,
                            const sideband::v1::GetSpanRequest& span_request) {
  //@ daemon/view/mark_queries.h
  return absl::OkStatus();
}

void Begin();
void Resume(const StreamPosition& position);
void Send(const StreamMessage& message);
void Send(const sideband::v1::StateChange& change);
void SendSync();

void UseChangeStream(const StreamRequest& request, const SensorQueries& sensors, const MarkQueries& marks,
                     const StreamSight& sight) {
  //@ daemon/stream/change_stream.h
}

absl::Status UseResumeToken(const std::string& identity, const sideband::v1::SubscribeRequest& request,
                            const StreamPosition& reached, sideband::v1::SubscribeResponse& response) {
  //@ daemon/stream/resume_token.h
  return absl::OkStatus();
}

void UseSampleStream(const StreamRequest& request, Reader& reader, SnapshotBodies& bodies, const HistoryReader& history,
                     const StreamSight& sight) {
  //@ daemon/stream/sample_stream.h
}

void UseStreamContent(StreamContent& content, const StreamSight& sight) {
  //@ daemon/stream/stream_content.h
}

void Render(const DeviceSnapshot& snapshot);

void Use(uint16_t vm);
void Show(double share);

void Require(size_t device);

void Show(const std::string& name, const ClockState& clock);
void Show(uint64_t value, uint64_t lower);

void UseDeviceInfo(const DeviceInfo& info, size_t device, const DeviceSnapshot& snapshot,
                   const mailbox::Catalog& catalog) {
  //@ daemon/snapshot/device_info.h
}

void UseCoverage(const mailbox::Catalog& catalog, const mailbox::Snapshot& snapshot, size_t row, size_t event,
                 const mailbox::VmInfo& vm, double count, double reference_cycles) {
  //@ daemon/snapshot/coverage.h
}

void UseDeviceSnapshot(const mailbox::BlockHeader& block) {
  //@ daemon/snapshot/device_snapshot.h
}

void UseLiveReader(LiveReader& live, size_t device, const LiveReader::Done& done, const mailbox::BlockHeader& block,
                   uint64_t boot) {
  //@ daemon/snapshot/live_reader.h
}

void UseUtilisation(const DeviceSnapshot& snapshot, size_t index, size_t event) {
  //@ daemon/snapshot/utilisation.h
}

void UseFakeTopology() {
  //@ daemon/snapshot/fake_topology.h
}

void UseRatio(const DeviceInfo& device, const Topology& topology, std::span<const double> rates_of_row) {
  //@ daemon/snapshot/ratio.h
}

void UseStore(Store& store, std::shared_ptr<const DeviceSnapshot> snapshot, Site& site) {
  //@ daemon/snapshot/store.h
}

absl::Status UseMessage(sideband::v1::ListScopesResponse& response, const VisibleDevice& device,
                        const Topology& topology, const mailbox::BlockHeader& block, const DeviceSnapshot& snapshot,
                        sideband::v1::HistoryPoint& point, const sideband::v1::GetHistoryRequest& request) {
  //@ daemon/snapshot/message.h
  return absl::OkStatus();
}

}  // namespace
}  // namespace sideband::daemon
