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
#include "daemon/collector/bus_jobs.h"
#include "daemon/collector/collector_thread.h"
#include "daemon/collector/confidentiality.h"
#include "daemon/collector/creation_times.h"
#include "daemon/collector/device_board.h"
#include "daemon/collector/device_collector.h"
#include "daemon/collector/fake_context.h"
#include "daemon/collector/log_limit.h"
#include "daemon/collector/published_rows.h"
#include "daemon/collector/redact.h"
#include "daemon/collector/routers.h"
#include "daemon/mailbox/clock_reader.h"
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

void UseBusJobs(MailboxSession& session, const Clock& clock, const std::function<void()>& wake,
                const std::function<void(const absl::Status&)>& done, bool is_readable, absl::Duration due) {
  //@ daemon/collector/bus_jobs.h
}

void UsePublishedRows(const Topology& topology, const std::shared_ptr<const DeviceSnapshot>& before,
                      const std::shared_ptr<DeviceSnapshot>& snapshot, CollectionMetrics& metrics,
                      const std::string& device, const mailbox::Snapshot& raw) {
  //@ daemon/collector/published_rows.h
}

void UseRouters(size_t device, const Store& store, CollectionMetrics& metrics, const Clock& clock,
                const PeekQuery& query, const LiveReader::Done& done) {
  //@ daemon/collector/routers.h
}

void UseCollectorThread(size_t device, std::unique_ptr<Transport> transport, Store& store, SealerSet& sealers,
                        ConfidentialityBook& book, const PolicyHolder& policy, AuditSink& audit,
                        CollectionMetrics& metrics, const Clock& clock) {
  //@ daemon/collector/collector_thread.h
}

void UseConfidentiality(const SealerSet& sealers, const TakenSnapshot& taken) {
  //@ daemon/collector/confidentiality.h
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

void UseRedact(const Topology& topology, mailbox::Snapshot raw, const std::shared_ptr<const DeviceSnapshot>& before,
               uint32_t seconds, bool is_first_of_boot) {
  //@ daemon/collector/redact.h
}

void WaitUntil(absl::Duration steady_time);

absl::Status RunNext();

void UseLogLimit(LogLimit<5>& limit, const Clock& clock) {
  //@ daemon/collector/log_limit.h
}

void UseDeviceBoard(size_t device, MailboxSession& session, BusLock& lock, const Store& store, BoardStore* boards,
                    const Clock& clock, const absl::Status& status, absl::Duration next_snapshot) {
  //@ daemon/collector/device_board.h
}

}  // namespace
}  // namespace sideband::daemon
