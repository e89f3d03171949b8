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
#include "proto/mailbox/clocks.h"
#include "proto/mailbox/counting.h"
#include "proto/mailbox/extension.h"
#include "proto/mailbox/peek.h"
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

// A command that opens no stream.
inline mailbox::CommandWord ExtensionCommand(mailbox::Opcode opcode, uint8_t arg1 = 0) {
  return {.opcode = opcode, .arg1 = arg1, .execute = true};
}

// A command of the extension, with the inputs that it has; the part of the reply that it has is read.
enum class MailboxOutput { kNothing, kData, kExtendedData, kBoth };
struct MailboxRequest {
  mailbox::CommandWord command;
  std::optional<uint32_t> data;
  std::optional<uint32_t> extended_data;
  MailboxOutput output = MailboxOutput::kBoth;
};
struct MailboxReply {
  uint32_t data = 0;
  uint32_t extended_data = 0;
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
  // The version that the last successful CheckExtension has found.
  mailbox::ExtensionVersion version() const { return version_; }
  absl::StatusOr<CatalogOfBoot> ReadCatalog();
  // `base` is the snapshot to which the next one may be relative. Naming it acknowledges it.
  absl::StatusOr<Latched> Latch(const HeldSnapshot& base);
  // `base` is the acknowledged snapshot, or nullptr. ABORTED if another latch has superseded the snapshot.
  absl::StatusOr<mailbox::Snapshot> ReadSnapshot(const Latched& latched, const mailbox::Snapshot* base);
  absl::Status Acknowledge(const HeldSnapshot& snapshot);

  // Whether the device has a feature (proto/mailbox/extension.h), as found by the last successful CheckExtension.
  bool Has(uint64_t feature) const { return (features_ & feature) != 0; }
  // A command of the extension. Run repeats it after interference, RunOnce does not. This and the streams below are
  // what the readers and writers of this folder are made of.
  absl::StatusOr<MailboxReply> Run(const MailboxRequest& request);
  absl::StatusOr<MailboxReply> RunOnce(const MailboxRequest& request);
  // The commands that open a stream: arg2 is the width of this bus's windows.
  mailbox::CommandWord StreamCommand(mailbox::Opcode opcode, uint8_t arg1 = 0) const;
  // Reads a stream of `size` bytes, whose windows start at offset 0. `reopen` positions them at an offset, and returns
  // the length of the stream.
  using Reopen = std::function<absl::StatusOr<uint32_t>(uint32_t offset)>;
  absl::StatusOr<SecretBytes> ReadStream(uint32_t size, const Reopen& reopen);
  // Appends to `bytes` as many bytes of such a stream as one command shows.
  absl::Status ReadSpan(uint32_t size, SecretBytes& bytes);
  // Writes to the upload buffer, whose limit the bytes must not exceed. Other controllers may write there, too: what is
  // done with the bytes names their checksum.
  absl::Status Upload(ByteSpan bytes);
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

  // ABORTED, and reports the outcome "interference", of the last command.
  absl::Status Interference() { return Interference(last_); }
  static bool IsInterference(const absl::Status& status);
  // Returns ABORTED, and reports the outcome "interference", if another controller has run a command since this
  // session's last one, so that its reply may have been read in place of the expected one. Otherwise returns `failure`.
  absl::Status Explain(const absl::Status& failure);

 private:
  // Writes the inputs and the command. After a failed write all of them are written again.
  absl::Status Submit(const MailboxRequest& request);
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
  absl::StatusOr<uint32_t> OpenCatalog(uint32_t offset);
  absl::Status OpenUpload(uint32_t offset);
  absl::StatusOr<uint32_t> OpenSnapshot(uint32_t snapshot_id, bool is_whole, uint32_t offset);

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
