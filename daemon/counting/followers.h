// SPDX-License-Identifier: Apache-2.0
//
// Followers make a device follow the daemon, on the thread of its collector, once a snapshot is published: the settings
// of what it counts, the turns of events on its counters (counter rotation), the grid of triggers, and the trigger
// line. RotationSink takes the turns that callers ask for; RefusalText says why a device may have refused them.
//   LineDriver line(session);
//   line.Follow("gpu0", info.clocks.line);
//   GridFollower grid(session);
//   grid.Follow("gpu0", info.clocks.trigger_hz, *topology, boot_id);
//   RotationFollower rotation(session, audit);
//   rotation.Follow("gpu0", info.rotation, *topology, boot_id);
//   CountingFollower follower(session, {book, audit, metrics});
//   if (const auto change = follower.NextChange("gpu0")) {     // before the snapshot is taken
//     taken = reader.TakeClosing(follower.writer(), *change, committed);
//     follower.Tried("gpu0", *change, committed, taken.status());
//   }
//   follower.Follow("gpu0", topology, boot_id, revision);
#ifndef SIDEBAND_DAEMON_COUNTING_FOLLOWERS_H_
#define SIDEBAND_DAEMON_COUNTING_FOLLOWERS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "daemon/audit/audit_sink.h"
#include "daemon/counting/counting_book.h"
#include "daemon/mailbox/device_commands.h"
#include "daemon/mailbox/mailbox_session.h"
#include "daemon/metrics/area_metrics.h"
#include "daemon/snapshot/device_info.h"
#include "daemon/snapshot/topology.h"
#include "proto/base/uuid.h"
#include "proto/mailbox/catalog.h"
#include "proto/mailbox/rotation.h"
#include "proto/mailbox/rotation_file.h"

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

// To store when a VM or a context fluctuates.
struct LearnRequest {
  uint16_t vm = 0;
  uint16_t context = mailbox::kNoContext;
  bool operator==(const LearnRequest&) const = default;
};

struct RotationOrder {
  uint64_t boot_id = 0;
  std::shared_ptr<const Topology> topology;  // that the numbers of `what` are of
  std::variant<mailbox::RotationRequest, LearnRequest> what;
  size_t asker = 0;  // whose part of the bus's time it uses
};

// The way of new turns of a device's counters to the thread that talks to the device. Thread-safe.
class RotationSink {
 public:
  // Called once, on the thread of the device: as of RotationWriter, or UNAVAILABLE if nothing was asked of the device,
  // also because it has started again, or has another VM or context of the same number.
  using Done = std::function<void(const absl::Status& status)>;

  virtual ~RotationSink() = default;

  // Does not wait for the device. After an error `done` is not called: RESOURCE_EXHAUSTED, with the time of a retry, if
  // too many wait or the asker's part of the bus's time is used up; UNAVAILABLE if the device is no longer read.
  virtual absl::Status Ask(size_t device, RotationOrder order, Done done) = 0;
};

// Why a device may have refused turns. It answers one status for all reasons; those that the request and the device's
// own plan exclude are left out.
//
// "the device refuses this rotation: …", the reasons separated by "; or ". Depends on the request, the catalogue's
// events and gate groups, and the device's own plan alone: it tells nothing of other VMs. Names only events' gate
// groups, of events in the request.
std::string RefusalText(const mailbox::RotationRequest& request, const mailbox::Catalog& catalog);

// Returns what a file asks for of each VM; INVALID_ARGUMENT "FILE:LINE: …" if the device does not have an event, or
// does not multiplex it. FAILED_PRECONDITION if no event is multiplexed, or the device's clock is unknown.
absl::StatusOr<mailbox::RotationRequest> RotationOf(const RotationFile& file, const Topology& topology);

// Gives the open VMs of a device the turns of the operator's file, once for each VM: what a caller asks for later
// stays, until the device starts again or a reload brings other turns.
//
// Used by one thread at a time. The constructor's arguments must outlive it.
class RotationFollower {
 public:
  RotationFollower(MailboxSession& session, AuditSink& audit) : writer_(session), audit_(audit) {}

  // VMs that are confidential or private are left alone. So is one that has another plan than the chip's own, itself or
  // for a context of it, when the follower first sees this boot of the device: it has been chosen, and a restart of the
  // daemon changes no turns. A file that does not fit is logged once, and so is a VM for which the device refuses it:
  // both are tried again with other turns, or in the next boot. Other errors are logged when they differ from the last
  // one, and the next call tries again. Files that ask for the same are the same, whatever their lines.
  void Follow(const std::string& device, const std::optional<RotationFile>& file, const Topology& topology,
              uint64_t boot_id);

 private:
  using Key = std::pair<Uuid, uint32_t>;  // a VM and its generation

  // Starts again where the turns or the boot are others.
  absl::Status Take(const std::optional<RotationFile>& file, const Topology& topology, uint64_t boot_id);
  // OK once nothing is left to be done.
  absl::Status Apply(const std::string& device, const Topology& topology);
  // OK also where the VM keeps what it has.
  absl::Status ApplyTo(const std::string& device, const mailbox::VmInfo& vm, const Topology& topology);
  absl::StatusOr<bool> HasChosen(const mailbox::VmInfo& vm, const Topology& topology);
  void Record(const std::string& device, const mailbox::VmInfo& vm) const;

  RotationWriter writer_;
  AuditSink& audit_;
  std::optional<RotationFile> file_;
  std::optional<mailbox::RotationRequest> wanted_;  // what it asks for; none: nothing, or it does not fit
  std::optional<uint64_t> boot_id_;
  bool replaces_choices_ = false;
  std::set<Key> settled_;  // that have the turns, keep others, or are refused them
  std::string error_;      // of the last attempt; empty: none
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_COUNTING_FOLLOWERS_H_
