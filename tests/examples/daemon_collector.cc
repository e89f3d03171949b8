// SPDX-License-Identifier: Apache-2.0
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "daemon/audit/audit_sink.h"
#include "daemon/authz/policy_holder.h"
#include "daemon/base/clock.h"
#include "daemon/base/retry_after.h"
#include "daemon/board/board_reader.h"
#include "daemon/board/board_store.h"
#include "daemon/collector/board_bursts.h"
#include "daemon/collector/board_snapshot.h"
#include "daemon/collector/bus_share.h"
#include "daemon/collector/collector_thread.h"
#include "daemon/collector/confidentiality.h"
#include "daemon/collector/confidentiality_book.h"
#include "daemon/collector/conservation.h"
#include "daemon/collector/creation_file.h"
#include "daemon/collector/creation_times.h"
#include "daemon/collector/device_board.h"
#include "daemon/collector/device_collector.h"
#include "daemon/collector/device_marks.h"
#include "daemon/collector/device_peeks.h"
#include "daemon/collector/device_rotations.h"
#include "daemon/collector/device_seals.h"
#include "daemon/collector/device_triggers.h"
#include "daemon/collector/estimated_rows.h"
#include "daemon/collector/fair_share.h"
#include "daemon/collector/fake_context.h"
#include "daemon/collector/gated_rows.h"
#include "daemon/collector/log_limit.h"
#include "daemon/collector/mark_router.h"
#include "daemon/collector/peek_queue.h"
#include "daemon/collector/peek_router.h"
#include "daemon/collector/pipeline_increments.h"
#include "daemon/collector/redact.h"
#include "daemon/collector/rotation_router.h"
#include "daemon/collector/rotation_sum.h"
#include "daemon/collector/seal_router.h"
#include "daemon/collector/trigger_router.h"
#include "daemon/mailbox/mailbox_session.h"
#include "daemon/mailbox/snapshot_reader.h"
#include "daemon/metrics/collection_metrics.h"
#include "daemon/sealing/sealer_set.h"
#include "daemon/snapshot/device_snapshot.h"
#include "daemon/snapshot/store.h"
#include "daemon/snapshot/topology.h"
#include "daemon/transport/transport.h"
#include "proto/base/status_macros.h"
#include "proto/base/uuid.h"
#include "proto/mailbox/snapshot.h"

namespace sideband::daemon {
namespace {

void Publish(const Topology& topology);

void Answer(const PeekQueue::Peek& peek);

absl::Status UseBusShare(const Clock& clock, absl::Duration cost, absl::Duration actual, const absl::Status& used_up) {
  //@ daemon/collector/bus_share.h
  return absl::OkStatus();
}

absl::Status UseFairShare(size_t asker, const Clock& clock, absl::Duration cost, absl::Duration actual,
                          const absl::Status& used_up) {
  //@ daemon/collector/fair_share.h
  return absl::OkStatus();
}

void UsePeekQueue(const Clock& clock, const PeekQuery& query, absl::Duration time, const LiveReader::Done& done) {
  //@ daemon/collector/peek_queue.h
}

void UseDevicePeeks(size_t device, MailboxSession& session, const Store& store, CollectionMetrics& metrics,
                    const Clock& clock, const std::function<void()>& wake, const PeekQuery& query,
                    const LiveReader::Done& done, bool is_readable, absl::Duration due) {
  //@ daemon/collector/device_peeks.h
}

void UseDeviceDirectory(size_t device, DevicePeeks& peeks, const PeekQuery& query, const LiveReader::Done& done) {
  //@ daemon/collector/device_directory.h
}

void UsePeekRouter(size_t device, DevicePeeks& peeks, const PeekQuery& query, const LiveReader::Done& done) {
  //@ daemon/collector/peek_router.h
}

void UseDeviceTriggers(MailboxSession& session, std::function<void()> wake, DeviceTriggers::Done done,
                       bool is_readable) {
  //@ daemon/collector/device_triggers.h
}

void UseDeviceRotations(size_t device, MailboxSession& session, const Store& store, const Clock& clock,
                        const std::function<void()>& wake, const RotationOrder& order, RotationSink::Done done,
                        bool is_readable) {
  //@ daemon/collector/device_rotations.h
}

void UseRotationRouter(size_t device, DeviceRotations& rotations, const RotationOrder& order, RotationSink::Done done) {
  //@ daemon/collector/rotation_router.h
}

void UseTriggerRouter(size_t device, DeviceTriggers& triggers, DeviceTriggers::Done done) {
  //@ daemon/collector/trigger_router.h
}

void UseCollectorThread(size_t device, std::unique_ptr<Transport> transport, Store& store, SealerSet& sealers,
                        ConfidentialityBook& book, const PolicyHolder& policy, AuditSink& audit,
                        CollectionMetrics& metrics, const Clock& clock) {
  //@ daemon/collector/collector_thread.h
}

void UseConfidentiality(const SealerSet& sealers, const TakenSnapshot& taken) {
  //@ daemon/collector/confidentiality.h
}

void UseConfidentialityBook(const std::unique_ptr<SealerSet>& sealers, const std::unique_ptr<ExchangeBook>& exchanges,
                            const PolicyHolder& policy, const std::shared_ptr<const Topology>& topology,
                            uint64_t boot_id) {
  //@ daemon/collector/confidentiality_book.h
}

void CheckSnapshot(CollectionMetrics& metrics, const std::string& device, const Topology& topology,
                   const TakenSnapshot& taken) {
  //@ daemon/collector/conservation.h
}

void UsePipelineIncrements(const mailbox::Snapshot& snapshot) {
  const auto Publish = [](const mailbox::PipelineStatistics&) {};
  //@ daemon/collector/pipeline_increments.h
}

absl::Status UseCreationFile(const Uuid& uuid, const CreationTimes& times) {
  //@ daemon/collector/creation_file.h
  return absl::OkStatus();
}

absl::Status UseCreationTimes(const CreationFile& file, const Uuid& uuid,
                              const std::shared_ptr<DeviceSnapshot>& snapshot, absl::Time host_time,
                              absl::Duration host_time_error, absl::Duration steady_time, bool device_row_is_new) {
  //@ daemon/collector/creation_times.h
  return absl::OkStatus();
}

void UseDeviceCollector(MailboxSession& session, Store& store, SealerSet& sealers, ConfidentialityBook& book,
                        const PolicyHolder& policy, AuditSink& audit, CollectionMetrics& metrics, const Clock& clock) {
  //@ daemon/collector/device_collector.h
}

void UseFakeContext(const Uuid& vm, MailboxSession& session) {
  //@ daemon/collector/fake_context.h
}

void UseGatedRows(const Topology& topology, const std::shared_ptr<DeviceSnapshot>& snapshot) {
  //@ daemon/collector/gated_rows.h
}

void UseEstimatedRows(const DeviceSnapshot* before, const std::unique_ptr<DeviceSnapshot>& snapshot) {
  //@ daemon/collector/estimated_rows.h
}

void UseRotationSum(const Topology& topology, const DeviceSnapshot& before, mailbox::Snapshot& shown, size_t block) {
  const mailbox::BlockRotation kNone;
  //@ daemon/collector/rotation_sum.h
}

void UseRedact(const Topology& topology, mailbox::Snapshot raw, const std::shared_ptr<const DeviceSnapshot>& before,
               uint32_t seconds, bool is_first_of_boot) {
  //@ daemon/collector/redact.h
}

void UseDeviceMarks(size_t device, MailboxSession& session, const Store& store, CollectionMetrics& metrics,
                    const Clock& clock, const std::function<void()>& wake, const Mark& mark, BookmarkSink::Done done,
                    bool is_readable) {
  //@ daemon/collector/device_marks.h
}

void UseMarkRouter(size_t device, DeviceMarks& marks, const BookmarkOrder& order, BookmarkSink::Done done) {
  //@ daemon/collector/mark_router.h
}

void Answer(SealWriter* writer);

void UseDeviceSeals(MailboxSession& session, const Clock& clock, const std::function<void()>& wake, uint16_t vm,
                    bool is_readable) {
  //@ daemon/collector/device_seals.h
}

absl::Status UseSealRouter(const Store& store, size_t device, DeviceSeals& seals, const SealedVm& vm,
                           const Bytes& request, const GuestSealer::Done<Bytes>& done) {
  //@ daemon/collector/seal_router.h
  return absl::OkStatus();
}

void UseBoardSnapshot(size_t device, const BoardReader& reader, const BoardTime& answered, Store& store) {
  //@ daemon/collector/board_snapshot.h
}

void WaitUntil(absl::Duration steady_time);

absl::Status RunNext();

void UseLogLimit(LogLimit<5>& limit, const Clock& clock) {
  //@ daemon/collector/log_limit.h
}

absl::Status UseBoardBursts(MailboxSession& session, BusLock& lock, absl::Duration due, absl::Duration now) {
  //@ daemon/collector/board_bursts.h
  return absl::OkStatus();
}

void UseDeviceBoard(size_t device, MailboxSession& session, BusLock& lock, const Store& store, BoardStore* boards,
                    const Clock& clock, const absl::Status& status, absl::Duration next_snapshot) {
  //@ daemon/collector/device_board.h
}

}  // namespace
}  // namespace sideband::daemon
