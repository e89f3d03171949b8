// SPDX-License-Identifier: Apache-2.0
//
// Takes snapshots of a device: latch, read, decode, with the catalogue that names what is in them. Each is relative to
// the one that was acknowledged last, so that what has not changed does not travel.
//   SnapshotReader reader(session, clock);
//   SIDEBAND_ASSIGN_OR_RETURN(TakenSnapshot taken, reader.Take());
//   … keep it …
//   const absl::Status status = reader.Acknowledge();
#ifndef SIDEBAND_DAEMON_MAILBOX_SNAPSHOT_READER_H_
#define SIDEBAND_DAEMON_MAILBOX_SNAPSHOT_READER_H_

#include <memory>
#include <optional>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "daemon/base/clock.h"
#include "daemon/mailbox/mailbox_session.h"
#include "daemon/model/topology.h"
#include "proto/mailbox/snapshot.h"

namespace sideband::daemon {

// What was latched, whole. Its counters may be a confidential VM's: they are wiped with it.
struct TakenSnapshot {
  TakenSnapshot() = default;
  TakenSnapshot(TakenSnapshot&&) = default;
  TakenSnapshot& operator=(TakenSnapshot&&) = default;
  ~TakenSnapshot();

  mailbox::Snapshot raw;
  std::shared_ptr<const Topology> topology;  // raw passes CheckAgainst it
  absl::Time host_time;                      // of the latch, with its error to either side
  absl::Duration host_time_error;
  absl::Duration steady_time;
};

// Used by one thread at a time; what it is given must outlive it.
class SnapshotReader {
 public:
  // A snapshot that is superseded or spoiled while it is read, or whose catalogue has changed meanwhile, is latched
  // anew so often in all.
  static constexpr int kLatchesMax = 3;

  SnapshotReader(MailboxSession& session, const Clock& clock) : session_(session), clock_(clock) {}

  // After an error the next call starts from the beginning: it asks for the extension and for a whole snapshot.
  absl::StatusOr<TakenSnapshot> Take();
  // The snapshot taken last is held: the next one is relative to it, which tells the device. It is told at once only
  // where a block was retired, whose place it may then free. ABORTED where another controller has latched since, which
  // does no harm.
  absl::Status Acknowledge();

 private:
  absl::Status CheckExtension();
  absl::StatusOr<TakenSnapshot> LatchAndRead();
  absl::Status FollowCatalog(const mailbox::Snapshot& raw);

  MailboxSession& session_;
  const Clock& clock_;
  bool extension_checked_ = false;
  std::shared_ptr<const Topology> topology_;  // shared with the snapshots that were taken
  uint64_t boot_id_ = 0;                      // of topology_
  std::optional<mailbox::Snapshot> taken_;    // what would become base_; without confidential counters
  std::optional<mailbox::Snapshot> base_;     // what was acknowledged; likewise
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_MAILBOX_SNAPSHOT_READER_H_
