// SPDX-License-Identifier: Apache-2.0
//
// The turns of events on a device's counters (counter rotation): where new ones go, why a device may have refused them,
// and how open VMs get those of the operator's file, on the thread of the device's collector.
//   const RotationOrder order{snapshot.data.boot_id, snapshot.topology, request};
//   SIDEBAND_RETURN_IF_ERROR(sink.Ask(device, order, [](const absl::Status& status) { Answer(status); }));
//   return absl::FailedPreconditionError(RefusalText(request, catalog));
//   RotationFollower follower(session, audit);
//   follower.Follow("gpu0", info.rotation, topology, boot_id);      // once a snapshot is published
#ifndef SIDEBAND_DAEMON_COUNTING_ROTATION_FOLLOWER_H_
#define SIDEBAND_DAEMON_COUNTING_ROTATION_FOLLOWER_H_

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
#include "daemon/mailbox/counting_writer.h"
#include "daemon/mailbox/mailbox_session.h"
#include "daemon/snapshot/topology.h"
#include "proto/base/uuid.h"
#include "proto/mailbox/catalog.h"
#include "proto/mailbox/rotation.h"
#include "proto/mailbox/rotation_file.h"

namespace sideband::daemon {

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
// "the device refuses these turns: …", the reasons separated by "; or ". Depends on the request, the catalogue's events
// and gate groups, and the device's own plan alone: it tells nothing of other VMs. Names only events' gate groups, of
// events in the request.
std::string RefusalText(const mailbox::RotationRequest& request, const mailbox::Catalog& catalog);

// Gives the open VMs of a device the turns of the operator's file, once for each VM: what a caller asks for later
// stays, until the device starts again or a reload brings other turns.

// Returns what a file asks for of each VM; INVALID_ARGUMENT "FILE:LINE: …" if the device does not have an event, or
// does not multiplex it. FAILED_PRECONDITION if no event is multiplexed, or the device's clock is unknown.
absl::StatusOr<mailbox::RotationRequest> RotationOf(const RotationFile& file, const Topology& topology);

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

  // Begins anew where the turns or the boot are others.
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

#endif  // SIDEBAND_DAEMON_COUNTING_ROTATION_FOLLOWER_H_
