// SPDX-License-Identifier: Apache-2.0
//
// Takes snapshots of one device and publishes them: latch, read, decode, seal, redact, publish, acknowledge.
//   DeviceCollector collector(0, store, session, sealers, metrics, clock);
//   const absl::Status status = collector.CollectOnce();
#ifndef SIDEBAND_DAEMON_COLLECTOR_DEVICE_COLLECTOR_H_
#define SIDEBAND_DAEMON_COLLECTOR_DEVICE_COLLECTOR_H_

#include "absl/status/status.h"
#include "daemon/base/clock.h"
#include "daemon/collector/creation_times.h"
#include "daemon/mailbox/mailbox_session.h"
#include "daemon/mailbox/snapshot_reader.h"
#include "daemon/metrics/self_metrics.h"
#include "daemon/sealing/sealer_set.h"
#include "daemon/store/store.h"

namespace sideband::daemon {

// Used by one thread at a time; what it is given must outlive it.
class DeviceCollector {
 public:
  DeviceCollector(size_t device, Store& store, MailboxSession& session, SealerSet& sealers, SelfMetrics& metrics,
                  const Clock& clock);

  // One snapshot. After an error nothing is published (except where only the acknowledgement failed), and the next call
  // starts from the beginning.
  absl::Status CollectOnce();

 private:
  // FAILED_PRECONDITION where the device's bus is too slow for its interval.
  absl::Status CheckInterval(const Topology& topology) const;
  // ALREADY_EXISTS where another device of the configuration is the one that says this UUID of itself: two under one
  // UUID would share VMs, sealing epochs and series.
  absl::Status CheckUuid(const Topology& topology) const;
  absl::Status Publish(TakenSnapshot taken);
  // What of the snapshot's quality its own numbers do not show.
  void ReportQuality(const DeviceSnapshot& snapshot);

  const size_t device_;
  Store& store_;
  const MailboxSession& session_;
  SealerSet& sealers_;
  SelfMetrics& metrics_;
  const Clock& clock_;
  SnapshotReader reader_;
  CreationTimes creation_times_;
  uint64_t publication_ = 0;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_COLLECTOR_DEVICE_COLLECTOR_H_
