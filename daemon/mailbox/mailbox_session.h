// SPDX-License-Identifier: Apache-2.0
//
// The controller's side of the mailbox: commands, and complete streams read through the windows. (mailbox.md; the
// commands are in proto/mailbox/extension.h.)
//   MailboxSession session(port, wait);
//   SIDEBAND_ASSIGN_OR_RETURN(const Latched latched, session.Latch(/*base=*/{}));
//   SIDEBAND_ASSIGN_OR_RETURN(const mailbox::Snapshot snapshot, session.ReadSnapshot(latched, /*base=*/nullptr));
//   SIDEBAND_RETURN_IF_ERROR(session.Acknowledge({snapshot.boot_id, snapshot.snapshot_id}));
#ifndef SIDEBAND_DAEMON_MAILBOX_MAILBOX_SESSION_H_
#define SIDEBAND_DAEMON_MAILBOX_MAILBOX_SESSION_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "daemon/mailbox/register_port.h"
#include "daemon/snapshot/topology.h"
#include "proto/base/bytes.h"
#include "proto/base/secret_memory.h"
#include "proto/mailbox/clocks.h"
#include "proto/mailbox/counting.h"
#include "proto/mailbox/extension.h"
#include "proto/mailbox/features.h"
#include "proto/mailbox/peek.h"
#include "proto/mailbox/registers.h"
#include "proto/mailbox/rotation.h"
#include "proto/mailbox/snapshot.h"
#include "proto/mailbox/word.h"

namespace sideband::daemon {

// Maps the mailbox status of a command to a Status:
//   SUCCESS OK · ERR_OPCODE, ERR_NOT_SUPPORTED UNIMPLEMENTED · ERR_AGAIN ABORTED (superseded: latch again) · ERR_BUSY,
//   INACTIVE, READY, ERR_NOT_AVAILABLE UNAVAILABLE · ERR_REQUEST, ERR_ARG*, ERR_DATA INVALID_ARGUMENT · others INTERNAL
absl::Status StatusFromMailbox(mailbox::Opcode opcode, mailbox::MailboxStatus status);
// Whether no further attempt changes it.
bool IsFinal(const absl::Status& status);

// A snapshot that the controller holds.
struct HeldSnapshot {
  uint64_t boot_id = 0;
  uint32_t snapshot_id = 0;  // 0: none
};

struct Latched {
  uint32_t snapshot_id = 0;
  uint32_t stream_bytes = 0;
  bool is_whole = false;  // its stream is not relative to a base, even if the device has one
};

struct CatalogOfBoot {
  std::shared_ptr<const Topology> topology;
  uint64_t boot_id = 0;
};

// Used by one thread at a time. Errors are those of RegisterPort and StatusFromMailbox. Inconsistent data from the
// device (lengths, checksums, versions) is DATA_LOSS or INVALID_ARGUMENT. The mailbox has no lock: if the reply belongs
// to another controller's command, the command is run again, the outcome "interference" is reported, and the final
// error is ABORTED. No device input causes an allocation above mailbox::kStreamBytesMax or an unbounded loop.
class MailboxSession {
 public:
  using Wait = std::function<void(absl::Duration)>;
  // Total number of runs of a command whose reply was another controller's.
  static constexpr int kRunsMax = 3;
  // Number of times an interrupted stream is resumed.
  static constexpr int kResumesMax = 2;
  // Number of calls of CheckExtension after which a device without the signature that it had counts as another device.
  static constexpr int kSignatureMissesMax = 60;
  // Number of calls of CheckExtension after which a device that has refused DISCOVER is asked again.
  static constexpr int kUnaskedMax = 600;
  // Number of polls for the completion of a command of the extension. The pause between them doubles from kPauseFirst
  // up to kPauseMax.
  static constexpr int kPollsMax = 40;
  static constexpr absl::Duration kPauseFirst = absl::Microseconds(100);
  static constexpr absl::Duration kPauseMax = absl::Milliseconds(10);
  // The pauses between polls for a base command: boards may need 100 ms.
  static constexpr absl::Duration kBasePauses[] = {
      absl::Milliseconds(1),   absl::Milliseconds(2),   absl::Milliseconds(5),
      absl::Milliseconds(10),  absl::Milliseconds(20),  absl::Milliseconds(50),
      absl::Milliseconds(100), absl::Milliseconds(200), absl::Milliseconds(500)};

  // `port` must outlive the session.
  MailboxSession(RegisterPort& port, Wait wait) : port_(port), wait_(std::move(wait)) {}

  // Number of stream bytes per window read.
  uint32_t window_bytes() const { return port_.block_bytes_max(); }

  // Finds the version of the extension, and with it the registers of all following commands. Reads before the first
  // write, so that a chip without a mailbox is left untouched. A device that has shown the signature of version 2 is
  // never written to at the shared registers: UNAVAILABLE if the signature is absent, until it has been absent in
  // kSignatureMissesMax calls in a row. UNIMPLEMENTED if the device does not know the extension, reports the same
  // unknown version of it twice in a row, or a feature without its opcode. A device that does not know it is only read
  // from then on, so that its other clients are left alone: it is asked again after an error, after a restart that its
  // command register shows, and after kUnaskedMax calls.
  absl::Status CheckExtension();
  // As found by the last successful CheckExtension.
  mailbox::ExtensionVersion version() const { return version_; }
  absl::StatusOr<CatalogOfBoot> ReadCatalog();
  // `base` is the snapshot to which the next one may be relative. Naming it acknowledges it.
  absl::StatusOr<Latched> Latch(const HeldSnapshot& base);
  // `base` is the acknowledged snapshot, or nullptr. ABORTED if another latch has superseded the snapshot.
  absl::StatusOr<mailbox::Snapshot> ReadSnapshot(const Latched& latched, const mailbox::Snapshot* base);
  absl::Status Acknowledge(const HeldSnapshot& snapshot);

  // Whether the device answers peeks, as found by the last successful CheckExtension.
  bool has_peek() const { return (features_ & mailbox::kPeekFeature) != 0; }
  // The three steps of a peek (block_peeker.h), each of which runs once: after interference, ABORTED, all of them have
  // to be repeated. NOT_FOUND if the device does not have the block or an event, as far as this step names it.
  absl::Status SetPeekScope(const mailbox::PeekQuestion& question);
  // Returns the tag of the answer.
  absl::StatusOr<uint32_t> LatchPeek(uint64_t bitmap);
  // The answer must fit into the windows. ABORTED if it is another answer, DATA_LOSS if it is damaged.
  absl::StatusOr<mailbox::PeekAnswer> ReadPeek(const mailbox::PeekQuestion& question, uint32_t tag);
  // A step of TRIGGER; `period` is of kStart, in reference cycles. Returns the number of kOnce. UNIMPLEMENTED if the
  // device does not have the command, INVALID_ARGUMENT if it does not take the period. A repeated step, after an answer
  // that was lost, triggers again. ABORTED if kStart's period was overwritten by another controller: the device then
  // has some other period.
  absl::StatusOr<uint32_t> Trigger(mailbox::TriggerStep step, uint64_t period);
  // Whether the device has clock domains, as found by the last successful CheckExtension.
  bool has_clocks() const { return (features_ & mailbox::kClocksFeature) != 0; }
  // The steps of TRIGGER of clock domains (clock_reader.h). ABORTED if another controller has overwritten the domains,
  // or the streams were opened by another controller.
  absl::Status SelectDomains(uint64_t domains);
  // Returns the request's reference time in ns. NOT_FOUND: no such scope; RESOURCE_EXHAUSTED: it has a pending
  // bookmark; FAILED_PRECONDITION: there is no grid of triggers.
  absl::StatusOr<uint64_t> SetBookmark(uint32_t scope, uint32_t bookmark);
  // Of a device with that many domains.
  absl::StatusOr<mailbox::Timeline> ReadTimeline(uint32_t first_trigger_id, size_t domains);
  absl::StatusOr<mailbox::ClockHulls> ReadHulls(uint32_t first_trigger_id, size_t domains);
  // Whether the device's configuration of counting can be read and changed, likewise.
  bool has_config() const { return (features_ & mailbox::kGateGroupsFeature) != 0; }
  absl::StatusOr<mailbox::CountingConfig> ReadConfig();
  // A step of a transaction (config_writer.h) with its inputs; returns data and extended data. ABORTED if another
  // controller's transaction, or another revision, is in the way.
  struct ConfigReply {
    uint32_t data = 0;
    uint32_t extended_data = 0;
  };
  absl::StatusOr<ConfigReply> RunConfig(mailbox::ConfigStep step, uint8_t tag, uint32_t data, uint32_t extended_data);
  // Whether events rotate, likewise.
  bool has_rotation() const { return (features_ & mailbox::kRotationFeature) != 0; }
  // The plan of a scope (rotation_writer.h), of a device with that many events. NOT_FOUND if there is none,
  // ABORTED if it was read for the scope of another controller.
  absl::StatusOr<mailbox::RotationPlan> ReadPlan(uint32_t scope, size_t events);
  // Writes to the upload buffer, whose limit the bytes must not exceed. Other controllers may write there, too: what is
  // done with the bytes names their checksum.
  absl::Status Upload(ByteSpan bytes);
  // A step of ROTATE but PLAN with its inputs. Of APPLY, INVALID_ARGUMENT also for other bytes in the upload buffer.
  // ABORTED if another controller has overwritten an input: the step was then taken for what that one wrote.
  absl::Status RunRotate(mailbox::RotateStep step, uint32_t data, uint32_t extended_data);
  // Whether the device seals the blocks of its confidential VMs, likewise. The steps of SEAL are used by seal_writer.h.
  bool has_sealing() const { return (features_ & mailbox::kSealingFeature) != 0; }
  // INVALID_ARGUMENT: no such VM, or none whose keys are exchanged. ABORTED: too many in too short a time. UNAVAILABLE
  // also if it was another controller's.
  absl::StatusOr<Bytes> ReadChallenge(uint16_t vm);
  // The answer to the request in the upload buffer. INVALID_ARGUMENT: it is refused; ABORTED: other bytes were there;
  // UNAVAILABLE also if it was another controller's.
  absl::StatusOr<Bytes> ReadAnswer(uint32_t size, uint32_t crc);
  // The newest epoch of the VM's keys after EPOCH. ABORTED: none is left. Other errors of ReadChallenge.
  absl::StatusOr<uint32_t> BeginEpoch(uint16_t vm);
  // The snapshot that a COMMIT has latched, as ReadSnapshot takes it. Not whole, it is relative to the acknowledged
  // one.
  absl::StatusOr<Latched> OpenClosing(uint32_t snapshot_id, bool is_whole);
  // One of SMBPBI's base commands, at the registers that the last CheckExtension has found, also of a device without
  // the extension. Waits up to a second for its end, since boards are slow. The board's status is part of the reply,
  // whatever it is, and only the outputs that are asked for are read, unless the command has failed. ABORTED: another
  // controller's commands were in the way of each of the `runs_max` runs. On the shared registers the status is read
  // again after the outputs: it shows whether they are still this command's; and where zeros are rare, one is read
  // twice, since clients write zeros before their commands. Not recognised are another controller's command before the
  // first status of a command whose reply does not echo it (EchoesItself), the same command of another controller, and
  // other data that it writes to the data registers before they are read.
  struct BaseOutputs {
    bool data = false, extended_data = false;
  };
  struct BaseReply {
    mailbox::CommandWord word;
    uint32_t data = 0, extended_data = 0;
  };
  absl::StatusOr<BaseReply> RunBase(const mailbox::CommandWord& command, std::optional<uint32_t> data,
                                    const BaseOutputs& outputs, int runs_max = kRunsMax);
  // Whether other clients use the registers of the commands, too: of version 1, and without the extension.
  bool shares_registers() const { return registers_ == mailbox::kSharedRegisters; }
  // The command register: a read, which disturbs no other controller.
  absl::StatusOr<mailbox::CommandWord> ReadStatus();
  // Whether `status` echoes this session's last command: then no other controller has run one since.
  bool IsOwn(const mailbox::CommandWord& status) const;
  // Gives another controller time to finish.
  void GiveWay() const { wait_(kPauseMax); }

  // Returns ABORTED, and reports the outcome "interference", if another controller has run a command since this
  // session's last one, so that its reply may have been read in place of the expected one. Otherwise returns `failure`.
  absl::Status Explain(const absl::Status& failure);

 private:
  struct Reply {
    uint32_t data = 0;
    uint32_t extended_data = 0;
  };
  // The part of the reply that the command has.
  enum class Output { kNothing, kData, kExtendedData, kBoth };
  struct Request {
    mailbox::CommandWord command;
    std::optional<uint32_t> data;
    std::optional<uint32_t> extended_data;
    Output output = Output::kBoth;
  };
  // Writes the inputs and the command. After a failed write all of them are written again.
  absl::Status Submit(const Request& request);
  absl::StatusOr<Reply> Run(const Request& request);
  absl::StatusOr<Reply> RunOnce(const Request& request);
  // Chooses version_ and registers_ by the device's signature.
  absl::Status FollowSignature();
  // The version in the device's signature, 0 without a signature: the same answer twice in a row.
  absl::StatusOr<uint8_t> ReadSignature();
  absl::Status CheckVersion();
  absl::Status CheckFeatures();
  absl::Status Interference(const mailbox::CommandWord& command);
  absl::Status AwaitDone(const mailbox::CommandWord& command);
  // The reply to a command that has ended, after a poll at once and one after each pause.
  absl::StatusOr<mailbox::CommandWord> AwaitReply(const mailbox::CommandWord& command,
                                                  std::span<const absl::Duration> pauses);
  // That `before`, the status of a base command, is still there.
  absl::Status CheckUnchanged(const mailbox::CommandWord& before);
  // Again after interference, `runs_max` times in all.
  absl::StatusOr<BaseReply> RunBaseUndisturbed(const mailbox::CommandWord& command, std::optional<uint32_t> data,
                                               const BaseOutputs& outputs, int runs_max);
  absl::StatusOr<BaseReply> RunBaseOnce(const mailbox::CommandWord& command, std::optional<uint32_t> data,
                                        const BaseOutputs& outputs);
  // Positions the stream's windows at an offset and returns the length of the stream.
  using Reopen = std::function<absl::StatusOr<uint32_t>(uint32_t offset)>;
  absl::StatusOr<uint32_t> OpenCatalog(uint32_t offset);
  absl::StatusOr<uint32_t> OpenConfig(uint32_t offset);
  absl::Status OpenUpload(uint32_t offset);
  // CHALLENGE or EXCHANGE; `echo` is what the device repeats.
  absl::StatusOr<uint32_t> OpenSeal(mailbox::SealStep step, uint32_t data, uint32_t extended_data, uint32_t echo);
  absl::StatusOr<uint32_t> OpenPlan(uint32_t scope, uint32_t offset);
  // Of TIMELINE or HULLS.
  absl::StatusOr<uint32_t> OpenPackets(mailbox::TriggerStep step, uint32_t first_trigger_id, uint32_t offset);
  absl::StatusOr<SecretBytes> ReadPackets(mailbox::TriggerStep step, uint32_t first_trigger_id);
  absl::StatusOr<uint32_t> OpenSnapshot(uint32_t snapshot_id, bool is_whole, uint32_t offset);
  // Reads a stream of `size` bytes, whose windows start at offset 0.
  absl::StatusOr<SecretBytes> ReadStream(uint32_t size, const Reopen& reopen);
  absl::Status ReadSpan(uint32_t size, SecretBytes& bytes);
  mailbox::CommandWord StreamCommand(mailbox::Opcode opcode) const;
  absl::StatusOr<Reply> RunPeek(const Request& request);

  RegisterPort& port_;
  const Wait wait_;
  mailbox::ExtensionVersion version_ = mailbox::ExtensionVersion::kOne;
  mailbox::RegisterSet registers_ = mailbox::kSharedRegisters;
  uint32_t opcodes_ = 0;       // served by the device, bit n for 0x60 + n
  uint64_t features_ = 0;      // of the device
  int signature_misses_ = 0;   // calls of CheckExtension since the signature was there
  absl::Status refusal_;       // of DISCOVER, by a device that does not know the extension; OK: not known
  int unasked_ = 0;            // calls of CheckExtension since
  mailbox::CommandWord last_;  // the most recent command
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_MAILBOX_MAILBOX_SESSION_H_
