// SPDX-License-Identifier: Apache-2.0
//
// The daemon's processing of a device without that of the result: take a snapshot, pass it on, acknowledge it.
//   Reader reader(session, clock, [](const mailbox::Snapshot& snapshot, const daemon::Topology& topology) { … });
//   const absl::Status status = reader.CollectOnce();
#ifndef SIDEBAND_TESTS_SIMULATION_READER_H_
#define SIDEBAND_TESTS_SIMULATION_READER_H_

#include <functional>
#include <utility>

#include "absl/status/status.h"
#include "daemon/base/clock.h"
#include "daemon/mailbox/mailbox_session.h"
#include "daemon/mailbox/snapshot_reader.h"
#include "daemon/snapshot/topology.h"
#include "proto/mailbox/snapshot.h"

namespace sideband::tests {

class Reader {
 public:
  using Accept = std::function<void(const mailbox::Snapshot&, const daemon::Topology&)>;

  // The arguments must outlive this object.
  Reader(daemon::MailboxSession& session, const daemon::Clock& clock, Accept accept)
      : reader_(session, clock), accept_(std::move(accept)) {}

  // Collects one snapshot. A snapshot stays accepted if only its acknowledgement failed.
  absl::Status CollectOnce() {
    const absl::StatusOr<daemon::TakenSnapshot> taken = reader_.Take();
    if (!taken.ok()) return taken.status();
    accept_(taken->raw, *taken->topology);
    const absl::Status acknowledged = reader_.Acknowledge();
    // ABORTED: another controller has latched since, which is not an error here.
    return absl::IsAborted(acknowledged) ? absl::OkStatus() : acknowledged;
  }

 private:
  daemon::SnapshotReader reader_;
  const Accept accept_;
};

}  // namespace sideband::tests

#endif  // SIDEBAND_TESTS_SIMULATION_READER_H_
