// SPDX-License-Identifier: Apache-2.0
//
// Collects snapshots of one device: latch, read, decode, seal, redact, publish, acknowledge.
//   DeviceCollector collector(0, session, {store, sealers, book, policy, audit, metrics, clock});
//   const absl::Status status = collector.CollectOnce();
#ifndef SIDEBAND_DAEMON_COLLECTOR_DEVICE_COLLECTOR_H_
#define SIDEBAND_DAEMON_COLLECTOR_DEVICE_COLLECTOR_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "daemon/audit/audit_sink.h"
#include "daemon/authz/policy.h"
#include "daemon/base/clock.h"
#include "daemon/collector/confidentiality.h"
#include "daemon/collector/creation_times.h"
#include "daemon/collector/device_clocks.h"
#include "daemon/collector/log_limit.h"
#include "daemon/collector/published_rows.h"
#include "daemon/counting/followers.h"
#include "daemon/mailbox/mailbox_session.h"
#include "daemon/mailbox/snapshot_reader.h"
#include "daemon/metrics/area_metrics.h"
#include "daemon/sealing/exchange_book.h"
#include "daemon/sealing/sealer_set.h"
#include "daemon/snapshot/store.h"

namespace sideband::daemon {

class BoardStore;
class BusJobs;
class MarkBook;
template <typename Served>
class DeviceDirectory;

// Dependencies shared by the collectors of all devices. All of them must outlive the collectors.
struct CollectorContext {
  Store& store;
  SealerSet& sealers;
  ConfidentialityBook& confidential;
  const PolicyHolder& policy;  // its version is written to audit entries
  AuditSink& audit;
  CollectionMetrics& metrics;
  const Clock& clock;
  const CreationFile* creation_file = nullptr;  // stores created times across restarts; nullptr: not stored
  CountingBook* counting = nullptr;             // what devices are to count; nullptr: as they do
  DeviceDirectory<BusJobs>* buses = nullptr;  // where callers find the jobs of a device; nullptr: there are no callers
  MarkBook* marks = nullptr;                  // that are read from snapshots; nullptr: there are none
  LineBook* lines = nullptr;                  // of trigger lines; nullptr: there are none
  ExchangeBook* exchanges = nullptr;          // of keys with guests; nullptr: there are none
  BoardStore* boards = nullptr;               // of what base commands report; nullptr: they are not used
};

// Used by one thread at a time. `session` and the members of `context` must outlive this object.
class DeviceCollector {
 public:
  DeviceCollector(size_t device, MailboxSession& session, const CollectorContext& context);

  // Collects and publishes one snapshot. After an error nothing was published, unless only the acknowledgement failed.
  // The next call starts from the beginning.
  absl::Status CollectOnce();
  // Counts a collection that could not begin, and returns its error.
  absl::Status Miss(const absl::Status& why);

 private:
  // FAILED_PRECONDITION if the device's bus is too slow for its configured interval.
  absl::Status CheckInterval(const Topology& topology) const;
  // ALREADY_EXISTS if another configured device already reports this UUID. Two devices with one UUID would share VMs,
  // sealing epochs and series.
  absl::Status CheckUuid(const Topology& topology) const;
  // FAILED_PRECONDITION if the device has sent a confidential VM's blocks, and is required to seal them, or has sealed
  // them before.
  absl::Status CheckSealing(const Topology& topology, const mailbox::Snapshot& raw);
  // Returns the reported topology with the required confidentiality set, and reports refusals.
  std::shared_ptr<const Topology> Judge(const TakenSnapshot& taken);
  void ReportRefusal(const Confidentiality::Refusal& refusal);
  void ReportSealed(const std::vector<SealedVmRecord>& sealed);
  absl::Status Publish(TakenSnapshot taken);
  // Returns the created times of the shown rows. Changed times are saved before they are published.
  std::vector<absl::Time> Created(const mailbox::Snapshot& shown, const TakenSnapshot& taken, bool device_row_is_new);
  // How the device's row starts if it cannot continue.
  RowStart StartOfRow(const TakenSnapshot& taken);
  void RestoreCreationTimes(const Uuid& uuid);
  // The device's own fits of its clocks, of a device with a grid. Without them less is known, and nothing is lost.
  std::optional<mailbox::ClockHulls> ReadHulls(const Topology& topology, uint32_t trigger_id);
  // When the snapshot was latched, by the host's clock: as the exchange has it, or closer.
  void PlaceInTime(const TakenSnapshot& taken, DeviceSnapshot& snapshot);
  void PlaceOnLine(const TakenSnapshot& taken, const HostInstant& latched, DeviceSnapshot& snapshot);
  // The next snapshot. Its latch may be that of a pending change of what is counted.
  absl::StatusOr<TakenSnapshot> Take();
  // Makes the device count what it is to count.
  void Follow(std::optional<uint32_t> revision);
  // Adds what the pipeline has done, if the snapshot reports it, to the daemon's metrics.
  void ReportPipeline(const DeviceSnapshot& snapshot, const mailbox::PipelineStatistics& statistics);
  bool IsBoardAlone(const absl::Status& status) const;
  // Counts ratios above 1, which are not visible in the published numbers.
  void ReportQuality(const DeviceSnapshot& snapshot);

  const size_t device_;
  std::shared_ptr<const DeviceInfo> info_;  // shared with the store; read at the start of each collection
  const CollectorContext context_;
  MailboxSession& session_;
  SnapshotReader reader_;
  CountingFollower counting_;
  RotationFollower rotation_;
  GridFollower grid_;
  LineDriver line_;
  PipelineIncrements pipeline_;
  DeviceClocks clocks_;
  HostClock host_clock_;
  LogLimit<64> refusals_;
  std::string hull_error_;           // of the last attempt; empty: none
  std::set<Uuid> sealed_by_device_;  // VMs that the device has sealed
  CreationTimes creation_times_;
  bool is_save_overdue_ = false;  // the last attempt to save them has failed
  std::optional<Uuid> restored_;  // the UUID for which Load() was attempted
  // Whether restored_ has the last run that published a snapshot; without it, any run may have published a device row.
  bool knows_earlier_runs_ = false;
  uint64_t publication_ = 0;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_COLLECTOR_DEVICE_COLLECTOR_H_
