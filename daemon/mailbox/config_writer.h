// SPDX-License-Identifier: Apache-2.0
//
// Changes a device's configuration of counting in one transaction. (proto/mailbox/README.md, "CONFIG".)
//   ConfigWriter writer(session, /*tag=*/17);
//   const ConfigChange change{snapshot.boot_id, snapshot.catalog_hash, /*revision=*/3, writes};
//   SIDEBAND_ASSIGN_OR_RETURN(const CommittedConfig committed, writer.Commit(change));
//   Read(committed.closing_id);      // the last snapshot of revision 3
#ifndef SIDEBAND_DAEMON_MAILBOX_CONFIG_WRITER_H_
#define SIDEBAND_DAEMON_MAILBOX_CONFIG_WRITER_H_

#include <cstdint>
#include <map>
#include <vector>

#include "absl/status/statusor.h"
#include "daemon/mailbox/mailbox_session.h"
#include "proto/mailbox/counting.h"
#include "proto/mailbox/extension.h"

namespace sideband::daemon {

// Words of a device's configuration to be changed. Their addresses are numbers of VMs and contexts, which mean others
// after a restart of the device and with another catalogue: a change is of one boot and one catalogue.
struct ConfigChange {
  uint64_t boot_id = 0;
  uint32_t catalog_hash = 0;
  uint32_t revision = 0;  // that they build on
  std::vector<mailbox::ConfigWrite> writes;
  std::map<mailbox::ConfigAddress, uint64_t> from = {};  // the words as they were when the change was made
};

struct CommittedConfig {
  uint32_t revision = 0;    // in force
  uint32_t closing_id = 0;  // of the closing snapshot
};

// The configuration in force, of a device with kGateGroupsFeature.
absl::StatusOr<mailbox::CountingConfig> ReadConfig(MailboxSession& session);
// A step of a transaction. ABORTED if another controller's transaction, or another revision, is in the way.
absl::StatusOr<MailboxReply> RunConfig(MailboxSession& session, mailbox::ConfigStep step, uint8_t tag, uint32_t data,
                                       uint32_t extended_data);

// Used by one thread at a time. `session` must outlive it.
class ConfigWriter {
 public:
  // `tag`, 1 to 255, tells this controller's transactions from others'.
  ConfigWriter(MailboxSession& session, uint8_t tag) : session_(session), tag_(tag) {}

  // Commits the writes, at least one, to the configuration of this boot and revision; the catalogue is not checked. Of
  // a word that is in `from`, its fields that differ from those there are changed; the others stay as a guest may have
  // set them since (mailbox::Rebase). After an error the device has the old configuration, or, if the bus failed in
  // COMMIT, the old or the new one, which its revision tells. ABORTED: another controller is in the way, the boot or
  // the revision is another one, or the last closing snapshot is not acknowledged. INVALID_ARGUMENT: the device refuses
  // a value.
  absl::StatusOr<CommittedConfig> Commit(ConfigChange change);

 private:
  using Words = std::map<mailbox::ConfigAddress, uint64_t>;

  absl::Status Begin(const ConfigChange& change);
  // A word that guests change in parts is read at the device first.
  absl::Status Rebase(const Words& from, std::vector<mailbox::ConfigWrite>& writes);
  absl::Status Write(const std::vector<mailbox::ConfigWrite>& writes);
  absl::StatusOr<CommittedConfig> Run(ConfigChange change);

  MailboxSession& session_;
  const uint8_t tag_;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_MAILBOX_CONFIG_WRITER_H_
