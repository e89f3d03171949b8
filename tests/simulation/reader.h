// SPDX-License-Identifier: Apache-2.0
//
// What the daemon does with a device, without what it does with the result: latch, read, follow the catalogue, hand
// over, acknowledge.
//   Reader reader(session, [](const mailbox::Snapshot& snapshot, const daemon::Topology& topology) { … });
//   const absl::Status status = reader.CollectOnce();
#ifndef SIDEBAND_TESTS_SIMULATION_READER_H_
#define SIDEBAND_TESTS_SIMULATION_READER_H_

#include <cstdint>
#include <functional>
#include <memory>

#include "absl/status/status.h"
#include "daemon/mailbox/mailbox_session.h"
#include "daemon/model/topology.h"
#include "proto/mailbox/snapshot.h"

namespace sideband::tests {

class Reader {
 public:
  using Accept = std::function<void(const mailbox::Snapshot&, const daemon::Topology&)>;
  // A snapshot that is superseded, or spoiled, while it is read is latched anew so often in all.
  static constexpr int kLatchesMax = 3;

  // `session` must outlive it.
  Reader(daemon::MailboxSession& session, Accept accept) : session_(session), accept_(std::move(accept)) {}

  // One snapshot. What is accepted stays so where only the acknowledgement failed.
  absl::Status CollectOnce();

 private:
  struct Taken {
    daemon::Latched latched;
    mailbox::Snapshot snapshot;
  };
  absl::StatusOr<Taken> LatchAndRead();
  absl::StatusOr<Taken> Take();
  absl::Status FollowCatalog(const mailbox::Snapshot& snapshot);
  absl::Status Collect();

  daemon::MailboxSession& session_;
  const Accept accept_;
  bool extension_checked_ = false;
  std::shared_ptr<const daemon::Topology> topology_;  // null before the first
  uint64_t boot_id_ = 0;                              // of topology_
};

}  // namespace sideband::tests

#endif  // SIDEBAND_TESTS_SIMULATION_READER_H_
