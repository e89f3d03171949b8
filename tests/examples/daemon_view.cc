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
#include "daemon/authz/policy_holder.h"
#include "daemon/base/clock.h"
#include "daemon/board/board_store.h"
#include "daemon/history/chunk.h"
#include "daemon/history/history.h"
#include "daemon/history/layout.h"
#include "daemon/http/site.h"
#include "daemon/identity/credentials.h"
#include "daemon/mailbox/block_peeker.h"
#include "daemon/mailbox/check_against.h"
#include "daemon/marks/mark_book.h"
#include "daemon/metrics/self_metrics.h"
#include "daemon/snapshot/capacities.h"
#include "daemon/snapshot/clock_settings.h"
#include "daemon/snapshot/clock_state.h"
#include "daemon/snapshot/complement.h"
#include "daemon/snapshot/coverage.h"
#include "daemon/snapshot/device_snapshot.h"
#include "daemon/snapshot/fake_rotation.h"
#include "daemon/snapshot/fake_topology.h"
#include "daemon/snapshot/level.h"
#include "daemon/snapshot/live_block.h"
#include "daemon/snapshot/live_reader.h"
#include "daemon/snapshot/publication_thread.h"
#include "daemon/snapshot/ratio.h"
#include "daemon/snapshot/rotation.h"
#include "daemon/snapshot/sealed_by.h"
#include "daemon/snapshot/store.h"
#include "daemon/snapshot/topology.h"
#include "daemon/snapshot/utilisation.h"
#include "daemon/stream/change_stream.h"
#include "daemon/stream/heartbeat.h"
#include "daemon/stream/resume_token.h"
#include "daemon/stream/sample_stream.h"
#include "daemon/stream/stream_content.h"
#include "daemon/stream/stream_message.h"
#include "daemon/stream/stream_position.h"
#include "daemon/stream/stream_request.h"
#include "daemon/stream/whole_message.h"
#include "daemon/view/absent_name_notice.h"
#include "daemon/view/access_entry.h"
#include "daemon/view/admin.h"
#include "daemon/view/board_event_cursor.h"
#include "daemon/view/clock_queries.h"
#include "daemon/view/counting_queries.h"
#include "daemon/view/decision_log.h"
#include "daemon/view/exchange_queries.h"
#include "daemon/view/fake_live_reader.h"
#include "daemon/view/fake_past.h"
#include "daemon/view/history_reader.h"
#include "daemon/view/history_window.h"
#include "daemon/view/mark_queries.h"
#include "daemon/view/peek_reader.h"
#include "daemon/view/queries.h"
#include "daemon/view/reader.h"
#include "daemon/view/reference_policy.h"
#include "daemon/view/replay.h"
#include "daemon/view/rotation_queries.h"
#include "daemon/view/rotation_settings.h"
#include "daemon/view/row_filter.h"
#include "daemon/view/sensor_history_reader.h"
#include "daemon/view/sensor_message.h"
#include "daemon/view/sensor_queries.h"
#include "daemon/view/snapshot_bodies.h"
#include "daemon/view/snapshot_message.h"
#include "daemon/view/state_items.h"
#include "daemon/view/tenure.h"
#include "daemon/view/topology_views.h"
#include "daemon/view/update_notifier.h"
#include "daemon/view/view.h"
#include "daemon/view/view_groups.h"
#include "daemon/view/visible_boards.h"
#include "proto/audit/entry.h"
#include "proto/base/status_macros.h"
#include "proto/mailbox/catalog.h"
#include "proto/mailbox/snapshot.h"
#include "sideband/v1/counting.pb.h"
#include "sideband/v1/telemetry.pb.h"

namespace sideband::daemon {
namespace {

void Show(const EventSet& events);
void Show(const std::vector<VisibleDevice>& devices);

void UseAbsentNameNotice(Reader& reader, const std::vector<NamedVm>& vms_with_keys,
                         const std::vector<PlacedEvent>& events_of_ratios, const AbsentNameNotice::Report& warn,
                         const AbsentNameNotice::Report& fail) {
  //@ daemon/view/absent_name_notice.h
}

void UseAccessEntry(Reader& reader, const Credentials& credentials, const std::string& target) {
  //@ daemon/view/access_entry.h
}

void UseDecisionLog(const Policy& policy, const Principal& principal, const Resource& resource, AuditEntry& entry) {
  //@ daemon/view/decision_log.h
}

void UseFakeLiveReader(const PeekQuery& query, const LiveReader::Done& done, const PeekedBlock& block) {
  //@ daemon/view/fake_live_reader.h
}

void UsePeekReader(Reader& reader, LiveReader& live, const Caller& caller, const sideband::v1::PeekRequest& request,
                   const PeekReader::Done& finish) {
  //@ daemon/view/peek_reader.h
}

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

void UseFakePast(const Caller& caller, const sideband::v1::GetHistoryRequest& request) {
  //@ daemon/view/fake_past.h
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

void UseStateItems(const VisibleDevice& device, const VisibleBoard& board, const RowFilter& filter,
                   const Clock& clock) {
  //@ daemon/view/state_items.h
}

absl::Status UseQueries(Reader& reader, const Caller& caller, const sideband::v1::ListDevicesRequest& request) {
  //@ daemon/view/queries.h
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

void UseReferencePolicy(const Universe& universe) {
  //@ daemon/view/reference_policy.h
}

absl::Status UseRowFilter(const sideband::v1::GetSnapshotRequest& request, const std::vector<VisibleDevice>& devices) {
  //@ daemon/view/row_filter.h
  return absl::OkStatus();
}

void Send(const std::string& body, const std::string& moment);

void UseSnapshotBodies(Reader& reader, const std::unique_ptr<SelfMetrics>& metrics, const VisibleDevice& device,
                       const RowFilter& filter) {
  //@ daemon/view/snapshot_bodies.h
}

void UseSnapshotMessage(sideband::v1::GetSnapshotResponse& response, const VisibleDevice& device,
                        const RowFilter& filter) {
  //@ daemon/view/snapshot_message.h
}

void UseTopologyViews(Reader& reader, const Caller& caller, const DeviceInfo& device, const ChunkView& chunk) {
  const Layout& layout = chunk.layout();
  //@ daemon/view/topology_views.h
}

void UseUpdateNotifier(Store& store, PolicyHolder& policy, UpdateListener& streams) {
  //@ daemon/view/update_notifier.h
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

absl::Status UseRotationSettings(const sideband::v1::SetRotationRequest& request, const mailbox::Catalog& catalog,
                                 const EventSet& readable, const mailbox::RotationPlan& plan,
                                 mailbox::RotationRequest& wanted, sideband::v1::RotationPlan& out) {
  //@ daemon/view/rotation_settings.h
  return absl::OkStatus();
}

void UseVisibleBoards(const BoardStore& store, const Caller& caller, Reader& reader, const Clock& clock) {
  const auto Show = [](const VisibleBoard&) {};
  //@ daemon/view/visible_boards.h
}

void UseSensorMessage(const VisibleBoard& board, const SensorNames& names, absl::Duration now,
                      sideband::v1::GetSensorsResponse& response) {
  //@ daemon/view/sensor_message.h
}

absl::Status UseSensorQueries(Reader& reader, const BoardStore& boards, const Caller& caller,
                              const sideband::v1::GetSensorsRequest& request) {
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

absl::Status UseSensorHistoryReader(const SensorQueries& sensors, SensorHistory& history, const Caller& caller,
                                    const sideband::v1::GetSensorHistoryRequest& request) {
  //@ daemon/view/sensor_history_reader.h
  return absl::OkStatus();
}

void UseBoardEventCursor(const BoardStore& boards, size_t device) {
  const auto Send = [](const BoardEventCursor::Message&) {};
  //@ daemon/view/board_event_cursor.h
}

absl::Status UseClockQueries(Reader& reader, const Caller& caller, const sideband::v1::ListClocksRequest& request) {
  //@ daemon/view/clock_queries.h
  return absl::OkStatus();
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

void UseHeartbeat(Heartbeat& heartbeat, const Clock& clock) {
  //@ daemon/stream/heartbeat.h
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

void UseStreamMessage(SnapshotBodies& bodies, const VisibleDevice& device, const RowFilter& filter) {
  //@ daemon/stream/stream_message.h
}

void UseWholeMessage(const StreamMessage& message) {
  //@ daemon/stream/whole_message.h
}

void UseStreamPosition(const StreamPosition& reached) {
  //@ daemon/stream/stream_position.h
}

absl::Status UseStreamRequest(const sideband::v1::SubscribeRequest& message) {
  //@ daemon/stream/stream_request.h
  return absl::OkStatus();
}

void Show(const Mark& mark);

absl::Status UseMarkBook(MarkBook& book, size_t device, const Uuid& vm, const Mark& mark, const Clock& clock,
                         uint64_t requested_ns, const mailbox::Snapshot& raw, absl::Time host_time,
                         absl::Duration host_time_error, double rate_max) {
  //@ daemon/marks/mark_book.h
  return absl::OkStatus();
}

void Render(const DeviceSnapshot& snapshot);

void Use(uint16_t vm);
void Show(double share);

void UseCapacities(const mailbox::Catalog& catalog, const mailbox::VmInfo& vm, double count, size_t event,
                   double reference_cycles) {
  //@ daemon/snapshot/capacities.h
}

void UseComplement() {
  //@ daemon/snapshot/complement.h
}

void UseCoverage(const mailbox::Catalog& catalog, const mailbox::Snapshot& snapshot, size_t row, size_t event) {
  //@ daemon/snapshot/coverage.h
}

void Show(uint64_t value, uint64_t lower);

void UseRotation(const mailbox::Catalog& catalog, const mailbox::Snapshot& snapshot, size_t row, size_t event) {
  //@ daemon/snapshot/rotation.h
}

void UseFakeRotation() {
  //@ daemon/snapshot/fake_rotation.h
}

void UseLevel(const mailbox::BlockHeader& block) {
  //@ daemon/snapshot/level.h
}

void Use(uint16_t event, uint64_t count);

void UseLiveBlock(BlockPeeker& peeker, const mailbox::BlockHeader& block, uint64_t boot) {
  //@ daemon/snapshot/live_block.h
}

void UseLiveReader(LiveReader& live, size_t device, const PeekQuery& query, const LiveReader::Done& done) {
  //@ daemon/snapshot/live_reader.h
}

void UseUtilisation(const DeviceSnapshot& snapshot, size_t index, size_t event) {
  //@ daemon/snapshot/utilisation.h
}

void UseFakeTopology() {
  //@ daemon/snapshot/fake_topology.h
}

void UsePublicationThread(Store& store, Site& site) {
  //@ daemon/snapshot/publication_thread.h
}

void UseRatio(const DeviceInfo& device, const Topology& topology, std::span<const double> rates_of_row) {
  //@ daemon/snapshot/ratio.h
}

void UseStore(Store& store, std::shared_ptr<const DeviceSnapshot> snapshot) {
  //@ daemon/snapshot/store.h
}

void UseClockSettings() {
  //@ daemon/snapshot/clock_settings.h
}

void Show(const std::string& name, const ClockState& clock);

void UseClockState(const DeviceSnapshot& snapshot, const mailbox::Catalog& catalog) {
  //@ daemon/snapshot/clock_state.h
}

void Require(size_t device);

void UseSealedBy(const DeviceInfo& info, size_t device) {
  //@ daemon/snapshot/sealed_by.h
}

}  // namespace
}  // namespace sideband::daemon
