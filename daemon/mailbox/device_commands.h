// SPDX-License-Identifier: Apache-2.0
//
// The commands of a device besides snapshots and peeks: they change what it counts and its plans of counter rotation,
// set triggers and bookmarks, read what the triggers have left of its clocks, and exchange keys.
//   ConfigWriter writer(session, /*tag=*/17);
//   const ConfigChange change{snapshot.boot_id, snapshot.catalog_hash, /*revision=*/3, writes};
//   SIDEBAND_ASSIGN_OR_RETURN(const CommittedConfig committed, writer.Commit(change));
//   Read(committed.closing_id);      // the last snapshot of revision 3
//   RotationWriter rotation(session);
//   SIDEBAND_RETURN_IF_ERROR(rotation.Apply({.vm = 1, .events = wanted}));
//   ClockReader clocks(session);
//   SIDEBAND_ASSIGN_OR_RETURN(const mailbox::Timeline timeline, clocks.ReadTimeline(next_trigger, domains));
//   SealWriter seal(session);
//   SIDEBAND_ASSIGN_OR_RETURN(const Bytes answer, seal.Exchange(request));
#ifndef SIDEBAND_DAEMON_MAILBOX_DEVICE_COMMANDS_H_
#define SIDEBAND_DAEMON_MAILBOX_DEVICE_COMMANDS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "daemon/mailbox/mailbox_session.h"
#include "proto/base/bytes.h"
#include "proto/mailbox/clocks.h"
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

// Changes the configuration of counting in one transaction (proto/mailbox/README.md, "CONFIG").
//
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

// Changes and reads plans of counter rotation.
//
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

// A step of TRIGGER that needs no clock domains; `period` is of kStart, in reference cycles. Returns the number of
// kOnce. UNIMPLEMENTED if the device does not have the command, INVALID_ARGUMENT if it does not take the period. A
// repeated step, after an answer that was lost, triggers again. ABORTED if kStart's period was overwritten by another
// controller: the device then has some other period.
absl::StatusOr<uint32_t> RunTrigger(MailboxSession& session, mailbox::TriggerStep step, uint64_t period);

// DATA_LOSS unless triggers ascend from the first that was asked for, and neither reference time nor a local clock goes
// back, nor a packet arrives before its trigger. A number of a trigger is after another one if it is less than 2^31
// further on, since numbers start again after 2^32.
absl::Status CheckTimeline(const mailbox::Timeline& timeline);

// Chooses the clock domains that answer triggers, sets bookmarks, and reads what the triggers have left.
//
// Used by one thread at a time, after a successful MailboxSession::CheckExtension. `session` must outlive it.
// UNIMPLEMENTED: the device has no clock domains; the bus is not used. ABORTED: another controller is in the way.
class ClockReader {
 public:
  explicit ClockReader(MailboxSession& session) : session_(session) {}

  // The domains of the mask answer the grid's triggers and those on command. INVALID_ARGUMENT: a domain that the device
  // does not have.
  absl::Status Select(uint64_t domains);
  // Asks for a bookmark of a context, or of a VM itself (mailbox::kNoContext), at the next trigger of the grid; of VM
  // 0, it is the operator's. Returns when it was asked for, as reference time in ns. NOT_FOUND: no such scope.
  // RESOURCE_EXHAUSTED: it has a pending bookmark. FAILED_PRECONDITION: there is no grid. After another error the
  // bookmark may be pending.
  absl::StatusOr<uint64_t> Bookmark(uint16_t vm, uint16_t context, uint32_t bookmark);
  // The triggers that the device remembers from one on, of a device with that many domains. Errors are those of the
  // stream (proto/mailbox/clocks.h) and of CheckTimeline.
  absl::StatusOr<mailbox::Timeline> ReadTimeline(uint32_t first_trigger_id, size_t domains);
  // The current segments of the domains that have answered a trigger from one on, likewise.
  absl::StatusOr<mailbox::ClockHulls> ReadHulls(uint32_t first_trigger_id, size_t domains);

 private:
  absl::Status CheckServed() const;

  MailboxSession& session_;
};

// Exchanges keys between a confidential VM's guest and a device that seals (opcode SEAL).
//
// Used by one thread at a time. `session` must outlive it. NOT_FOUND: the device does not seal, or does not exchange
// this VM's keys. UNAVAILABLE also if another controller is in the way.
class SealWriter {
 public:
  // Number of times that a request is uploaded, if another controller's bytes were in its place.
  static constexpr int kUploadsMax = 3;

  explicit SealWriter(MailboxSession& session) : session_(session) {}

  // The bytes of an exchange::Challenge. RESOURCE_EXHAUSTED: too many in too short a time.
  absl::StatusOr<Bytes> Draw(uint16_t vm);
  // The answer to an exchange's request. PERMISSION_DENIED: the device refuses it, and does not say why.
  absl::StatusOr<Bytes> Exchange(ByteSpan request);
  // The VM's newest epoch, which is new unless that was unused or new already. NOT_FOUND also without keys;
  // RESOURCE_EXHAUSTED: its guest has to exchange keys again first.
  absl::StatusOr<uint64_t> Rotate(uint16_t vm);

 private:
  absl::Status CheckServed() const;
  absl::StatusOr<Bytes> UploadAndExchange(ByteSpan request);

  MailboxSession& session_;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_MAILBOX_DEVICE_COMMANDS_H_
