// SPDX-License-Identifier: Apache-2.0
//
// Takes snapshots of a device: latch, read, decode, and the catalogue that describes them. Each snapshot is relative to
// the last acknowledged one, so that unchanged counters are not sent. BusBudget is the time for which one snapshot
// occupies the bus, computed from the bus clock and the device's size.
//   SnapshotReader reader(session, clock);
//   SIDEBAND_ASSIGN_OR_RETURN(TakenSnapshot taken, reader.Take());
//   const BusBudget budget = BudgetOf(*taken.topology, /*bus_hz=*/100'000, /*window_bytes=*/255);
//   if (interval < budget.least) return Refuse(interval, budget.least);
//   Keep(std::move(taken));
//   const absl::Status status = reader.Acknowledge();
#ifndef SIDEBAND_DAEMON_MAILBOX_SNAPSHOT_READER_H_
#define SIDEBAND_DAEMON_MAILBOX_SNAPSHOT_READER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "daemon/base/clock.h"
#include "daemon/mailbox/device_commands.h"
#include "daemon/mailbox/mailbox_session.h"
#include "daemon/snapshot/topology.h"
#include "proto/mailbox/snapshot.h"

namespace sideband::daemon {

struct BusBudget {
  absl::Duration least;  // no counter has changed; a shorter interval cannot be met
  absl::Duration most;   // every counter has changed, and nothing compresses
};

// Assumes no retries and no clock stretching. `bus_hz` must be above 0, `window_bytes` 1 to 255.
BusBudget BudgetOf(const Topology& topology, uint32_t bus_hz, uint32_t window_bytes);

// INVALID_ARGUMENT with the reason unless the snapshot belongs to this topology: equal hash, equal number of counters,
// no clocks or one of each domain, and exactly one block for each scope of the topology, the device's block first.
absl::Status CheckAgainst(const Topology& topology, const mailbox::Snapshot& snapshot);

// A complete snapshot and the time of its latch.
struct TakenSnapshot {
  TakenSnapshot() = default;
  TakenSnapshot(TakenSnapshot&&) = default;
  TakenSnapshot& operator=(TakenSnapshot&&) = default;

  mailbox::Snapshot raw;                     // includes confidential VMs' counters; excluded from core dumps
  std::shared_ptr<const Topology> topology;  // raw has passed CheckAgainst(*topology, raw)
  PlacedTime latched;                        // by the exchange alone
  absl::Duration steady_time;
  // The host's raw clock before and after the exchange (Clock::Raw).
  absl::Duration raw_before, raw_after;
  WallReading wall;          // after the exchange: if the wall clock was set during it, the new time counts
  absl::Duration suspended;  // as of Clock::Suspended, then
};

// Used by one thread at a time. The constructor's arguments must outlive this object.
class SnapshotReader {
 public:
  // Total number of latches for one snapshot. A snapshot is latched again if it was superseded or corrupted while it
  // was read, or if the catalogue has changed meanwhile.
  static constexpr int kLatchesMax = 3;

  SnapshotReader(MailboxSession& session, const Clock& clock) : session_(session), clock_(clock) {}

  // After an error the next call starts from the beginning: it checks the extension and requests a complete snapshot.
  absl::StatusOr<TakenSnapshot> Take();
  // Whether the last taken snapshot is acknowledged and of the boot and the catalogue that the change was made from.
  // False after an error of Take.
  bool IsOfBase(const ConfigChange& change) const;
  // Like Take, but the latch is that of a change of the configuration: the result is the last snapshot of the old
  // revision. `committed` is set if the change is in force, even if the snapshot could not be read; its counts are then
  // in the next one. An error of the change leaves everything as it is. FAILED_PRECONDITION unless IsOfBase(change).
  absl::StatusOr<TakenSnapshot> TakeClosing(ConfigWriter& writer, const ConfigChange& change,
                                            std::optional<CommittedConfig>& committed);
  // Makes the last taken snapshot the base of the next one. The next latch names it, which acknowledges it to the
  // device. A separate command is sent only if a block was retired, so that the device may free the block now. ABORTED
  // if another controller has latched since, which is harmless.
  absl::Status Acknowledge();

 private:
  absl::Status CheckExtension();
  using LatchStep = std::function<absl::StatusOr<Latched>()>;
  absl::StatusOr<TakenSnapshot> LatchAndRead(const LatchStep& latch);
  void Keep(const mailbox::Snapshot& raw);
  void StartAnew();
  absl::Status FollowCatalog(const mailbox::Snapshot& raw);

  MailboxSession& session_;
  const Clock& clock_;
  bool extension_checked_ = false;
  std::shared_ptr<const Topology> topology_;  // shared with the taken snapshots
  uint64_t boot_id_ = 0;                      // of topology_
  // The candidate for base_. The counters of VMs that the device reports as confidential are removed. It may still
  // contain confidential counts: in the device's row, those of a VM that has ended, or of a VM that the device reports
  // as open.
  std::optional<mailbox::Snapshot> taken_;
  std::optional<mailbox::Snapshot> base_;  // the last acknowledged snapshot; likewise
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_MAILBOX_SNAPSHOT_READER_H_
