// SPDX-License-Identifier: Apache-2.0
//
// Takes snapshots of one device and publishes them: latch, read, decode, seal, redact, publish, acknowledge.
//   DeviceCollector collector(0, store, session, sealers, metrics, clock);
//   const absl::Status status = collector.CollectOnce();
#ifndef SIDEBAND_DAEMON_COLLECTOR_DEVICE_COLLECTOR_H_
#define SIDEBAND_DAEMON_COLLECTOR_DEVICE_COLLECTOR_H_

#include <memory>

#include "absl/status/statusor.h"
#include "daemon/base/clock.h"
#include "daemon/mailbox/mailbox_session.h"
#include "daemon/metrics/self_metrics.h"
#include "daemon/sealing/sealer_set.h"
#include "daemon/store/store.h"

namespace sideband::daemon {

// Used by one thread at a time; what it is given must outlive it.
class DeviceCollector {
 public:
  // A snapshot that is superseded while it is read is latched anew so often in all.
  static constexpr int kLatchesMax = 3;

  DeviceCollector(size_t device, Store& store, MailboxSession& session, SealerSet& sealers, SelfMetrics& metrics,
                  const Clock& clock);

  // One snapshot. After an error nothing is published (except where only the acknowledgement failed), and the next call
  // starts from the beginning.
  absl::Status CollectOnce();

 private:
  struct Taken {
    Taken() = default;
    Taken(Taken&&) = default;
    Taken& operator=(Taken&&) = default;
    // Whatever became of the snapshot, its counters do not stay behind.
    ~Taken();

    mailbox::Snapshot raw;
    Latched latched;
    absl::Time host_time;
    absl::Duration host_time_error;
    absl::Duration steady_time;
  };

  absl::StatusOr<Taken> LatchAndRead();
  absl::StatusOr<Taken> TakeSnapshot();
  absl::Status FollowCatalog(const mailbox::Snapshot& raw);
  absl::Status Publish(Taken taken);

  const size_t device_;
  Store& store_;
  MailboxSession& session_;
  SealerSet& sealers_;
  SelfMetrics& metrics_;
  const Clock& clock_;

  bool extension_checked_ = false;
  std::shared_ptr<const Topology> topology_;  // shared with the snapshots that were published
  uint64_t boot_id_ = 0;                      // of topology_
  uint64_t publication_ = 0;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_COLLECTOR_DEVICE_COLLECTOR_H_
