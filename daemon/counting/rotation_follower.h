// SPDX-License-Identifier: Apache-2.0
//
// Gives the open VMs of a device the turns of the operator's file, on the thread of its collector. Once for each VM:
// what a caller asks for later stays, until the device, the daemon or the file is another one.
//   RotationFollower follower(session, audit);
//   follower.Follow("gpu0", info.rotation, topology, boot_id);      // once a snapshot is published
#ifndef SIDEBAND_DAEMON_COUNTING_ROTATION_FOLLOWER_H_
#define SIDEBAND_DAEMON_COUNTING_ROTATION_FOLLOWER_H_

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "daemon/audit/audit_sink.h"
#include "daemon/mailbox/mailbox_session.h"
#include "daemon/mailbox/rotation_writer.h"
#include "daemon/snapshot/topology.h"
#include "proto/base/uuid.h"
#include "proto/mailbox/catalog.h"
#include "proto/mailbox/rotation.h"
#include "proto/rotation_file/rotation_file.h"

namespace sideband::daemon {

// What a file asks for of each VM; INVALID_ARGUMENT "FILE:LINE: …" if the device does not have an event, or it does not
// take turns there. FAILED_PRECONDITION if nothing takes turns, or the device's clock is unknown.
absl::StatusOr<mailbox::RotationRequest> RotationOf(const RotationFile& file, const Topology& topology);

// Used by one thread at a time. The constructor's arguments must outlive it.
class RotationFollower {
 public:
  RotationFollower(MailboxSession& session, AuditSink& audit) : writer_(session), audit_(audit) {}

  // VMs that are confidential or private are left alone. A file that does not fit, or that the device refuses, is
  // logged once, and tried again with the next file or boot; other errors are logged when they differ from the last
  // one, and the next call tries again.
  void Follow(const std::string& device, const std::optional<RotationFile>& file, const Topology& topology,
              uint64_t boot_id);

 private:
  using Key = std::pair<Uuid, uint32_t>;  // a VM and its generation

  // Begins anew where the file or the boot is another one.
  void Take(const std::optional<RotationFile>& file, uint64_t boot_id);
  // Whether all that is to be done is done.
  absl::Status Apply(const std::string& device, const Topology& topology);
  void Record(const std::string& device, const mailbox::VmInfo& vm) const;

  RotationWriter writer_;
  AuditSink& audit_;
  std::optional<RotationFile> file_;
  uint64_t boot_id_ = 0;
  bool is_refused_ = false;  // the file, in this boot
  std::set<Key> done_;
  std::string error_;  // of the last attempt; empty: none
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_COUNTING_ROTATION_FOLLOWER_H_
