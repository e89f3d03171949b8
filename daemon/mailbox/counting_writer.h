// SPDX-License-Identifier: Apache-2.0
//
// Changes what a device counts: its configuration, in one transaction (proto/mailbox/README.md, "CONFIG"), and its
// plans of counter rotation, which it reads, too.
//   ConfigWriter writer(session, /*tag=*/17);
//   const ConfigChange change{snapshot.boot_id, snapshot.catalog_hash, /*revision=*/3, writes};
//   SIDEBAND_ASSIGN_OR_RETURN(const CommittedConfig committed, writer.Commit(change));
//   Read(committed.closing_id);      // the last snapshot of revision 3
//   RotationWriter rotation(session);
//   SIDEBAND_RETURN_IF_ERROR(rotation.Apply({.vm = 1, .events = wanted}));
//   SIDEBAND_ASSIGN_OR_RETURN(const mailbox::RotationPlan plan, rotation.Read(1, mailbox::kNoContext, events));
#ifndef SIDEBAND_DAEMON_MAILBOX_COUNTING_WRITER_H_
#define SIDEBAND_DAEMON_MAILBOX_COUNTING_WRITER_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "absl/status/statusor.h"
#include "daemon/mailbox/mailbox_session.h"
#include "proto/base/bytes.h"
#include "proto/mailbox/counting.h"
#include "proto/mailbox/extension.h"
#include "proto/mailbox/rotation.h"

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

// Used by one thread at a time. `session` must outlive it. UNIMPLEMENTED: nothing rotates on the device. ABORTED:
// another controller is in the way, each time.
class RotationWriter {
 public:
  // Number of times that a request is uploaded, if the device did not take what was uploaded.
  static constexpr int kUploadsMax = 3;

  explicit RotationWriter(MailboxSession& session) : session_(session) {}

  // INVALID_ARGUMENT: the device refuses the request. After another error the plan may be in force; to apply it again
  // has no further effect.
  absl::Status Apply(const mailbox::RotationRequest& request);
  // The plan in force for a context, or for a VM itself (mailbox::kNoContext), of a device with that many events.
  // NOT_FOUND if nothing rotates there.
  absl::StatusOr<mailbox::RotationPlan> Read(uint16_t vm, uint16_t context, size_t events);
  // NOT_FOUND if nothing rotates there.
  absl::Status Learn(uint16_t vm, uint16_t context);
  absl::Status SetPass(uint16_t vm, uint16_t context, uint32_t pass);

 private:
  absl::Status CheckServed() const;
  absl::Status UploadAndApply(ByteSpan bytes);
  absl::Status RunOfScope(mailbox::RotateStep step, uint32_t scope, uint32_t extended_data);

  MailboxSession& session_;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_MAILBOX_COUNTING_WRITER_H_
