// SPDX-License-Identifier: Apache-2.0
//
// Followers make a device follow the daemon, on the thread of its collector, once a snapshot is published: the settings
// of what it counts, the grid of triggers, and the trigger line.
//   LineDriver line(session);
//   line.Follow("gpu0", info.clocks.line);      // once a snapshot is published
//   GridFollower grid(session);
//   grid.Follow("gpu0", info.clocks.trigger_hz, *topology, boot_id);      // once a snapshot is published
//   CountingFollower follower(session, {book, audit, metrics});
//   if (const auto change = follower.NextChange("gpu0")) {
//     taken = reader.TakeClosing(follower.writer(), *change, committed);
//     follower.Tried("gpu0", *change, committed, taken.status());
//   }
//   follower.Follow("gpu0", topology, boot_id, revision);      // once it is published
#ifndef SIDEBAND_DAEMON_COUNTING_COUNTING_FOLLOWER_H_
#define SIDEBAND_DAEMON_COUNTING_COUNTING_FOLLOWER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "daemon/audit/audit_sink.h"
#include "daemon/counting/counting_book.h"
#include "daemon/mailbox/counting_writer.h"
#include "daemon/mailbox/mailbox_session.h"
#include "daemon/metrics/collection_metrics.h"
#include "daemon/snapshot/device_clock.h"
#include "daemon/snapshot/topology.h"

namespace sideband::daemon {

// Sends a pulse on the trigger line for each snapshot of the device that drives it.
//
// Used by one thread at a time. `session` must outlive it.
class LineDriver {
 public:
  explicit LineDriver(MailboxSession& session) : session_(session) {}

  // Asks nothing of a device that does not drive the line. An error is logged when it differs from the last one.
  void Follow(const std::string& device, const TriggerLineSettings& line);

 private:
  MailboxSession& session_;
  std::string error_;  // of the last pulse; empty: none
};

// Gives a device the grid of triggers of the configuration. Once in each boot, and when the daemon begins to read the
// device: what an operator commands later stays, until then or until a reload brings another rate.
//
// Used by one thread at a time. `session` must outlive it.
class GridFollower {
 public:
  explicit GridFollower(MailboxSession& session) : session_(session) {}

  // Without `trigger_hz` nothing is asked of the device. A rate that the device refuses is logged once; other errors
  // are logged when they differ from the last one, and the next call tries again.
  void Follow(const std::string& device, std::optional<uint32_t> trigger_hz, const Topology& topology,
              uint64_t boot_id);

 private:
  absl::Status Set(uint32_t trigger_hz, uint64_t reference_hz);

  MailboxSession& session_;
  std::optional<uint32_t> hz_;  // that is settled: in force, or refused
  std::optional<uint64_t> boot_id_;
  std::string error_;  // of the last attempt; empty: none
};

// Makes a device count what the book says. A change takes the place of an interval's latch, so that there is one an
// interval at most.
//
// Used by one thread at a time. The constructor's arguments must outlive it.
class CountingFollower {
 public:
  struct Context {
    CountingBook* book;  // nullptr: nothing is changed, and no configuration is read
    AuditSink& audit;
    CollectionMetrics& metrics;
  };

  CountingFollower(MailboxSession& session, const Context& context);

  // The change that the device's next latch is to make. To be asked once for each snapshot that is taken. A change that
  // has failed is pending again; after a failed collection only once a snapshot is published again.
  std::optional<ConfigChange> NextChange(const std::string& device);
  ConfigWriter& writer() { return writer_; }
  // How the change has ended: in force if it is committed; else `taken`, the status of the snapshot that it was to
  // close, says why. An error is logged when it differs from that of the last attempt.
  void Tried(const std::string& device, const ConfigChange& change, const std::optional<CommittedConfig>& committed,
             const absl::Status& taken);
  // Reads the configuration where another one is in force than the book knows; `revision` is that of the snapshot,
  // nullopt of a device without gate groups. If it cannot be read, the device is out of sync, an error that differs
  // from the last one is logged, and the next call tries again. Callers' settings that could not be stored are stored
  // again.
  void Follow(const std::string& device, std::shared_ptr<const Topology> topology, uint64_t boot_id,
              std::optional<uint32_t> revision);

 private:
  void Read(const std::string& device, std::shared_ptr<const Topology> topology, uint64_t boot_id);
  void Report(const std::string& device, const ConfigChange& change, const absl::StatusOr<uint32_t>& revision);
  void ReportState(const std::string& device) const;
  void Forget(const std::string& device) const;

  MailboxSession& session_;
  const Context context_;
  ConfigWriter writer_;
  bool has_changed_ = false;               // by the last snapshot, which is therefore of the revision before
  std::string change_error_, read_error_;  // of the last attempt; empty: none
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_COUNTING_COUNTING_FOLLOWER_H_
