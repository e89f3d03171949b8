// SPDX-License-Identifier: Apache-2.0
#include "daemon/mailbox/mailbox_session.h"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "proto/mailbox/board_items.h"
#include "proto/mailbox/clocks.h"
#include "proto/mailbox/memory_links.h"
#include "proto/mailbox/rotation.h"
#include "proto/mailbox/snapshot.h"
#include "proto/mailbox/stream.h"

namespace sideband::daemon {
namespace {

using mailbox::CommandWord;
using mailbox::DiscoverItem;
using mailbox::MailboxStatus;
using mailbox::Opcode;

// Initial reservation for a stream. Most streams fit, and a device that reports a false length costs no more.
constexpr uint32_t kFirstBytes = 64 << 10;

// Status payload that distinguishes interference from other causes of ABORTED.
constexpr char kInterference[] = "interference";

// Whether it changes nothing, and either hardly has a result of zero, or few commands are like it.
bool IsReadAgain(const CommandWord& command) {
  switch (command.opcode) {
    case Opcode::kGetTemp:
    case Opcode::kGetExtTemp:
    case Opcode::kGetPower:
    case Opcode::kGetThermParam:
    case Opcode::kGetEnergy:
    case Opcode::kScratchRead:
    case Opcode::kGetNvlinkInfo:
    case Opcode::kGetPcieLink:
    case Opcode::kGetEccV6:
    case Opcode::kGetRowRemap:
      return true;
    case Opcode::kGetClock:
      return command.arg1 <= static_cast<uint8_t>(mailbox::ClockItem::kMaximum);
    default:
      return false;
  }
}

bool IsAnswerTo(const CommandWord& command, const CommandWord& reply) {
  return reply.opcode == command.opcode && reply.arg1 == command.arg1 && reply.arg2 == command.arg2;
}

// Short commands are detected early; long ones do not saturate the bus with polls.
constexpr std::array<absl::Duration, MailboxSession::kPollsMax - 1> ExtensionPauses() {
  std::array<absl::Duration, MailboxSession::kPollsMax - 1> pauses;
  absl::Duration pause = MailboxSession::kPauseFirst;
  for (absl::Duration& each : pauses) {
    each = pause;
    pause = std::min(2 * pause, MailboxSession::kPauseMax);
  }
  return pauses;
}
const auto kExtensionPauses = ExtensionPauses();

// The command register before the first command since the device's boot.
bool IsOfBoot(const CommandWord& reply) {
  return reply.status == MailboxStatus::kReady || reply.status == MailboxStatus::kInactive;
}

absl::Status UnknownVersion(uint32_t version) {
  return absl::UnimplementedError(absl::StrCat("extension version ", version, " is not supported"));
}

absl::Status CheckAnswer(uint32_t data, mailbox::ExtensionVersion expected) {
  const uint32_t version = data & 0xFF, window_bytes = data >> 8 & 0xFF, windows = data >> 16 & 0xFF;
  if (version == static_cast<uint8_t>(expected) && window_bytes == mailbox::kWindowBytes &&
      windows == mailbox::kWindowCount) {
    return absl::OkStatus();
  }
  return absl::UnimplementedError(absl::StrCat("DISCOVER: extension version ", version, " with ", windows,
                                               " windows of ", window_bytes, " bytes is not supported"));
}

}  // namespace

absl::Status StatusFromMailbox(Opcode opcode, MailboxStatus status) {
  const std::string what = absl::StrCat(mailbox::OpcodeName(opcode), ": ", mailbox::StatusName(status));
  switch (status) {
    case MailboxStatus::kSuccess:
      return absl::OkStatus();
    case MailboxStatus::kErrOpcode:
      return absl::UnimplementedError(mailbox::IsExtension(opcode)
                                          ? absl::StrCat(what, ": the device does not know the snapshot extension")
                                          : what);
    case MailboxStatus::kErrNotSupported:
      return absl::UnimplementedError(what);
    // A latch of another controller has superseded the snapshot.
    case MailboxStatus::kErrAgain:
      return absl::AbortedError(what);
    case MailboxStatus::kErrBusy:
    case MailboxStatus::kErrNotAvailable:
    // A register without a command, INACTIVE or READY, tells that the device has restarted.
    case MailboxStatus::kInactive:
    case MailboxStatus::kReady:
    case MailboxStatus::kNull:
      return absl::UnavailableError(what);
    case MailboxStatus::kErrRequest:
    case MailboxStatus::kErrArg1:
    case MailboxStatus::kErrArg2:
    case MailboxStatus::kErrData:
      return absl::InvalidArgumentError(what);
    case MailboxStatus::kErrMisc:
    case MailboxStatus::kErrI2cAccess:
    case MailboxStatus::kErrSensorData:
    case MailboxStatus::kErrDisposition:
    case MailboxStatus::kPartialFailure:
    case MailboxStatus::kAccepted:
      return absl::InternalError(what);
  }
  return absl::InternalError(absl::StrCat(what, " ", static_cast<int>(status)));
}

bool MailboxSession::IsInterference(const absl::Status& status) { return status.GetPayload(kInterference).has_value(); }

bool IsFinal(const absl::Status& status) {
  return absl::IsInvalidArgument(status) || absl::IsFailedPrecondition(status) || absl::IsUnimplemented(status);
}

absl::StatusOr<CommandWord> MailboxSession::AwaitReply(const CommandWord& command,
                                                       std::span<const absl::Duration> pauses) {
  for (size_t poll = 0; poll <= pauses.size(); ++poll) {
    SIDEBAND_ASSIGN_OR_RETURN(const uint32_t word, port_.Read(registers_.command));
    const CommandWord reply = CommandWord::Decode(word);
    // SMBPBI: a command is done when bit 31 is clear and there is a status; 0 is none yet.
    if (!reply.execute && reply.status != MailboxStatus::kNull) {
      // If another controller's command has run since, its status must not be taken for this command's status, whether
      // good or bad.
      const bool is_own = IsAnswerTo(command, reply) || IsOfBoot(reply) || !EchoesItself(command);
      return is_own ? absl::StatusOr<CommandWord>(reply) : Interference(command);
    }
    if (poll < pauses.size()) wait_(pauses[poll]);
  }
  return absl::DeadlineExceededError(absl::StrCat(mailbox::OpcodeName(command.opcode), ": busy for too long"));
}

absl::Status MailboxSession::AwaitDone(const CommandWord& command) {
  SIDEBAND_ASSIGN_OR_RETURN(const CommandWord reply, AwaitReply(command, kExtensionPauses));
  return StatusFromMailbox(command.opcode, reply.status);
}

absl::Status MailboxSession::Submit(const MailboxRequest& request) {
  smbus::Outcome outcome = smbus::Outcome::kOk;
  for (int attempt = 0; attempt < RegisterPort::kAttemptsMax; ++attempt) {
    if (request.data) SIDEBAND_RETURN_IF_ERROR(port_.Write(registers_.data, *request.data));
    if (request.extended_data) {
      SIDEBAND_RETURN_IF_ERROR(port_.Write(registers_.extended_data, *request.extended_data));
    }
    // The target may have executed a write that was reported as failed. The inputs are then replaced by its outputs, so
    // the next attempt writes them again.
    SIDEBAND_ASSIGN_OR_RETURN(outcome, port_.WriteOnce(registers_.command, request.command.Encode()));
    if (outcome == smbus::Outcome::kOk) break;
  }
  return port_.StatusOf(outcome);
}

absl::Status MailboxSession::Interference(const CommandWord& command) {
  port_.Report(kInterference);
  absl::Status status = absl::AbortedError(
      absl::StrCat(mailbox::OpcodeName(command.opcode), ": interference: another controller uses the mailbox"));
  status.SetPayload(kInterference, {});
  return status;
}

absl::Status MailboxSession::Explain(const absl::Status& failure) {
  if (failure.ok() || IsInterference(failure)) return failure;
  const auto word = port_.Read(registers_.command);
  // The question is only whether the failure has an explanation; a bus that fails again has none to give.
  if (!word.ok()) return failure;
  const CommandWord reply = CommandWord::Decode(*word);
  return IsAnswerTo(last_, reply) || IsOfBoot(reply) ? failure : Interference(last_);
}

absl::StatusOr<MailboxReply> MailboxSession::Run(const MailboxRequest& request) {
  absl::StatusOr<MailboxReply> reply = RunOnce(request);
  for (int run = 1; run < kRunsMax && IsInterference(reply.status()); ++run) {
    GiveWay();
    reply = RunOnce(request);
  }
  return reply;
}

absl::StatusOr<MailboxReply> MailboxSession::RunOnce(const MailboxRequest& request) {
  last_ = request.command;
  SIDEBAND_RETURN_IF_ERROR(Submit(request));
  SIDEBAND_RETURN_IF_ERROR(AwaitDone(request.command));
  MailboxReply reply;
  if (request.output == MailboxOutput::kData || request.output == MailboxOutput::kBoth) {
    SIDEBAND_ASSIGN_OR_RETURN(reply.data, port_.Read(registers_.data));
  }
  if (request.output == MailboxOutput::kExtendedData || request.output == MailboxOutput::kBoth) {
    SIDEBAND_ASSIGN_OR_RETURN(reply.extended_data, port_.Read(registers_.extended_data));
  }
  return reply;
}

absl::StatusOr<MailboxSession::BaseReply> MailboxSession::RunBase(const CommandWord& command,
                                                                  std::optional<uint32_t> data,
                                                                  const BaseOutputs& outputs, int runs_max) {
  const auto reply = RunBaseUndisturbed(command, data, outputs, runs_max);
  const bool is_zero = reply.ok() && reply->word.status == MailboxStatus::kSuccess && outputs.data && reply->data == 0;
  if (!is_zero || !shares_registers() || !IsReadAgain(command)) return reply;
  // Public clients write zeros to the data register before each of their commands. A zero may be theirs, and the status
  // does not tell.
  const auto again = RunBaseUndisturbed(command, data, outputs, runs_max);
  if (again.ok() && again->data != 0) port_.Report(kInterference);
  return again;
}

absl::StatusOr<MailboxSession::BaseReply> MailboxSession::RunBaseUndisturbed(const CommandWord& command,
                                                                             std::optional<uint32_t> data,
                                                                             const BaseOutputs& outputs, int runs_max) {
  absl::StatusOr<BaseReply> reply = RunBaseOnce(command, data, outputs);
  for (int run = 1; run < runs_max && IsInterference(reply.status()); ++run) {
    GiveWay();
    reply = RunBaseOnce(command, data, outputs);
  }
  return reply;
}

absl::StatusOr<MailboxSession::BaseReply> MailboxSession::RunBaseOnce(const CommandWord& command,
                                                                      std::optional<uint32_t> data,
                                                                      const BaseOutputs& outputs) {
  last_ = command;
  SIDEBAND_RETURN_IF_ERROR(Submit({.command = command, .data = data}));
  BaseReply reply;
  SIDEBAND_ASSIGN_OR_RETURN(reply.word, AwaitReply(command, kBasePauses));
  if (reply.word.status != MailboxStatus::kSuccess && reply.word.status != MailboxStatus::kAccepted &&
      reply.word.status != MailboxStatus::kPartialFailure) {
    return reply;
  }
  if (outputs.data) {
    SIDEBAND_ASSIGN_OR_RETURN(reply.data, port_.Read(registers_.data));
  }
  if (outputs.extended_data) {
    SIDEBAND_ASSIGN_OR_RETURN(reply.extended_data, port_.Read(registers_.extended_data));
  }
  if (outputs.data || outputs.extended_data) SIDEBAND_RETURN_IF_ERROR(CheckUnchanged(reply.word));
  return reply;
}

absl::Status MailboxSession::CheckUnchanged(const CommandWord& before) {
  if (!shares_registers()) return absl::OkStatus();
  SIDEBAND_ASSIGN_OR_RETURN(const CommandWord now, ReadStatus());
  // An event may have become pending meanwhile, which is another bit.
  const bool is_same = IsAnswerTo(before, now) && now.status == before.status && !now.execute;
  return is_same ? absl::OkStatus() : Interference(last_);
}

absl::StatusOr<CommandWord> MailboxSession::ReadStatus() {
  SIDEBAND_ASSIGN_OR_RETURN(const uint32_t word, port_.Read(registers_.command));
  return CommandWord::Decode(word);
}

bool MailboxSession::IsOwn(const CommandWord& status) const { return IsAnswerTo(last_, status); }

absl::StatusOr<uint8_t> MailboxSession::ReadSignature() {
  std::optional<uint8_t> before;
  bool is_shown = false;
  for (int read = 0; read < kRunsMax; ++read) {
    const auto block = port_.Probe(mailbox::kSignatureRegister, mailbox::kSignatureBytes);
    // Boards may refuse a code that they do not know; whether the device is there at all shows at the next read.
    const bool is_refused = absl::IsUnavailable(block.status()) && version_ == mailbox::ExtensionVersion::kOne;
    if (!is_refused) SIDEBAND_RETURN_IF_ERROR(block.status());
    const uint8_t version = is_refused ? 0 : mailbox::VersionOfSignature(*block).value_or(0);
    is_shown |= version != 0;
    // A bit error must not decide to which registers the daemon writes. A signature has a PEC, its absence has none: a
    // device that has shown it once does not lack it.
    if (before == version && (version != 0 || !is_shown)) return version;
    before = version;
  }
  return absl::DataLossError("the signature of the extension differs from read to read");
}

absl::Status MailboxSession::FollowSignature() {
  const auto read = ReadSignature();
  if (!read.ok()) signature_misses_ = 0;  // absent in a row means without any other outcome
  SIDEBAND_RETURN_IF_ERROR(read.status());
  const uint8_t version = *read;
  if (version == static_cast<uint8_t>(mailbox::ExtensionVersion::kTwo)) {
    version_ = mailbox::ExtensionVersion::kTwo;
    registers_ = mailbox::kOwnRegisters;
    signature_misses_ = 0;
    return absl::OkStatus();
  }
  if (version != 0) return UnknownVersion(version);
  // The shared registers of a device of version 2 belong to others.
  if (version_ == mailbox::ExtensionVersion::kTwo && ++signature_misses_ < kSignatureMissesMax) {
    return absl::UnavailableError("the device no longer shows the signature of extension version 2");
  }
  version_ = mailbox::ExtensionVersion::kOne;
  registers_ = mailbox::kSharedRegisters;
  return absl::OkStatus();
}

absl::Status MailboxSession::CheckExtension() {
  // After an error it may be another device.
  const absl::Status refusal = std::exchange(refusal_, absl::OkStatus());
  SIDEBAND_RETURN_IF_ERROR(FollowSignature());
  // A chip without a mailbox must fail here, before the first write.
  SIDEBAND_ASSIGN_OR_RETURN(const CommandWord status, ReadStatus());
  const bool is_known = !refusal.ok() && shares_registers() && !IsOfBoot(status);
  if (is_known && ++unasked_ < kUnaskedMax) return refusal_ = refusal;
  unasked_ = 0;
  SIDEBAND_RETURN_IF_ERROR(CheckVersion());
  features_ = 0;
  return version_ == mailbox::ExtensionVersion::kTwo ? CheckFeatures() : absl::OkStatus();
}

absl::Status MailboxSession::CheckVersion() {
  const MailboxRequest request = {
      .command = ExtensionCommand(Opcode::kDiscover, static_cast<uint8_t>(DiscoverItem::kVersion))};
  absl::Status interference;
  std::optional<uint32_t> before;
  for (int run = 0; run < kRunsMax; ++run) {
    const absl::StatusOr<MailboxReply> read = Run(request);
    if (absl::IsUnimplemented(read.status()) && shares_registers()) refusal_ = read.status();
    SIDEBAND_RETURN_IF_ERROR(read.status());
    const MailboxReply& reply = *read;
    // The reply may be another controller's data. A device repeats its version, so two equal replies are its own.
    if (before && before != reply.data) interference = Interference(request.command);
    const absl::Status status = CheckAnswer(reply.data, version_);
    if (status.ok()) {
      opcodes_ = reply.extended_data;
      return status;
    }
    // The same unknown version twice in a row.
    if (before == reply.data) return Explain(status);
    before = reply.data;
    wait_(kPauseMax);
  }
  return interference;
}

absl::Status MailboxSession::CheckFeatures() {
  SIDEBAND_ASSIGN_OR_RETURN(
      const MailboxReply reply,
      Run({.command = ExtensionCommand(Opcode::kDiscover, static_cast<uint8_t>(DiscoverItem::kFeatures))}));
  const uint64_t features = uint64_t{reply.extended_data} << 32 | reply.data;
  const mailbox::FeatureRow* const lacking = mailbox::FeatureWithoutOpcode(features, opcodes_);
  if (lacking != nullptr) {
    return absl::UnimplementedError(
        absl::StrCat("DISCOVER: feature '", lacking->name, "' is announced without its opcode"));
  }
  features_ = features;
  return absl::OkStatus();
}

CommandWord MailboxSession::StreamCommand(Opcode opcode, uint8_t arg1) const {
  // Not every adapter carries 255 bytes in a block.
  return {.opcode = opcode, .arg1 = arg1, .arg2 = port_.block_bytes_max(), .execute = true};
}

absl::Status MailboxSession::ReadSpan(uint32_t size, SecretBytes& bytes) {
  const uint8_t window_bytes = port_.block_bytes_max();
  // The windows cover one span of the stream. The next span needs another command.
  const size_t end = std::min<size_t>(size, bytes.size() + mailbox::WindowSpanBytes(window_bytes));
  for (uint8_t window = 0; bytes.size() < end; ++window) {
    const auto expected = static_cast<uint8_t>(std::min<size_t>(window_bytes, end - bytes.size()));
    SIDEBAND_ASSIGN_OR_RETURN(const Bytes block, port_.ReadBlock(mailbox::kWindowFirst + window, expected));
    bytes.insert(bytes.end(), block.begin(), block.end());
  }
  return absl::OkStatus();
}

absl::StatusOr<SecretBytes> MailboxSession::ReadStream(uint32_t size, const Reopen& reopen) {
  if (size == 0 || size > mailbox::kStreamBytesMax) {
    return absl::DataLossError(absl::StrCat("impossible stream length ", size));
  }
  SecretBytes bytes;
  bytes.reserve(std::min(size, kFirstBytes));
  int resumes = 0;
  // After each span, and after an error, the windows are positioned at the first missing byte.
  for (absl::Status read = ReadSpan(size, bytes); bytes.size() < size; read = ReadSpan(size, bytes)) {
    // Cancelled: the daemon is stopping or the collection has reached its deadline.
    if (!read.ok() && (absl::IsCancelled(read) || ++resumes > kResumesMax)) return read;
    SIDEBAND_ASSIGN_OR_RETURN(const uint32_t size_now, reopen(static_cast<uint32_t>(bytes.size())));
    // The stream was replaced between two reads.
    if (size_now != size) return absl::DataLossError("a stream's length has changed");
  }
  return bytes;
}

absl::StatusOr<uint32_t> MailboxSession::OpenCatalog(uint32_t offset) {
  SIDEBAND_ASSIGN_OR_RETURN(const MailboxReply reply, Run({.command = StreamCommand(Opcode::kCatalog),
                                                           .data = offset,
                                                           .extended_data = {},
                                                           .output = MailboxOutput::kData}));
  return reply.data;
}

absl::StatusOr<uint32_t> MailboxSession::OpenSnapshot(uint32_t snapshot_id, bool is_whole, uint32_t offset) {
  CommandWord command = StreamCommand(Opcode::kRead);
  if (is_whole) command.arg1 = static_cast<uint8_t>(mailbox::ReadSelector::kWhole);
  SIDEBAND_ASSIGN_OR_RETURN(
      const MailboxReply reply,
      Run({.command = command, .data = offset, .extended_data = snapshot_id, .output = MailboxOutput::kData}));
  return reply.data;
}

absl::StatusOr<CatalogOfBoot> MailboxSession::ReadCatalog() {
  SIDEBAND_ASSIGN_OR_RETURN(const uint32_t size, OpenCatalog(0));
  SIDEBAND_ASSIGN_OR_RETURN(const SecretBytes bytes,
                            ReadStream(size, [this](uint32_t offset) { return OpenCatalog(offset); }));
  SIDEBAND_ASSIGN_OR_RETURN(const mailbox::Stream stream, mailbox::DecodeStream(bytes));
  if (stream.header.kind != mailbox::StreamKind::kCatalog ||
      stream.header.framing != mailbox::CatalogFraming(version_)) {
    return absl::DataLossError("CATALOG: not a catalogue");
  }
  SIDEBAND_ASSIGN_OR_RETURN(mailbox::Catalog catalog, version_ == mailbox::ExtensionVersion::kOne
                                                          ? mailbox::DecodeCatalog(stream.payload)
                                                          : mailbox::DecodeCatalogSections(stream.payload));
  return CatalogOfBoot{std::make_shared<const Topology>(std::move(catalog), mailbox::CatalogHash(stream.payload)),
                       stream.header.boot_id};
}

absl::StatusOr<Latched> MailboxSession::Latch(const HeldSnapshot& base) {
  CommandWord command = StreamCommand(Opcode::kLatch);
  // The mark protects against a data register that another controller has overwritten (proto/mailbox/extension.h).
  if (base.snapshot_id != 0) command.arg1 = mailbox::LatchMark(base.boot_id, base.snapshot_id);
  SIDEBAND_ASSIGN_OR_RETURN(const MailboxReply reply, Run({.command = command, .data = base.snapshot_id}));
  return Latched{reply.data, reply.extended_data};
}

absl::StatusOr<mailbox::Snapshot> MailboxSession::ReadSnapshot(const Latched& latched, const mailbox::Snapshot* base) {
  const uint32_t id = latched.snapshot_id;
  SIDEBAND_ASSIGN_OR_RETURN(const SecretBytes bytes, ReadStream(latched.stream_bytes, [&](uint32_t offset) {
                              return OpenSnapshot(id, latched.is_whole, offset);
                            }));
  SIDEBAND_ASSIGN_OR_RETURN(mailbox::Snapshot snapshot,
                            mailbox::DecodeSnapshotStream(bytes, base, mailbox::SnapshotFraming(version_)));
  if (snapshot.snapshot_id != id) return absl::DataLossError("READ: the stream belongs to another snapshot");
  return snapshot;
}

absl::Status MailboxSession::Acknowledge(const HeldSnapshot& snapshot) {
  const uint16_t mark = mailbox::SnapshotMark(snapshot.boot_id, snapshot.snapshot_id);
  const CommandWord command = {.opcode = Opcode::kAck,
                               .arg1 = static_cast<uint8_t>(mark),
                               .arg2 = static_cast<uint8_t>(mark >> 8),
                               .execute = true};
  SIDEBAND_ASSIGN_OR_RETURN(
      const MailboxReply reply,
      Run({.command = command, .data = snapshot.snapshot_id, .extended_data = {}, .output = MailboxOutput::kData}));
  if (reply.data != snapshot.snapshot_id) return absl::AbortedError("ACK: the reply is for another snapshot");
  return absl::OkStatus();
}

absl::Status MailboxSession::OpenUpload(uint32_t offset) {
  SIDEBAND_ASSIGN_OR_RETURN(const MailboxReply reply, Run({.command = StreamCommand(Opcode::kUpload),
                                                           .data = offset,
                                                           .extended_data = {},
                                                           .output = MailboxOutput::kData}));
  return reply.data == offset ? absl::OkStatus()
                              : absl::AbortedError("UPLOAD: another controller has changed the offset");
}

absl::Status MailboxSession::Upload(ByteSpan bytes) {
  if (bytes.size() > mailbox::kUploadBytesMax) {
    return absl::InvalidArgumentError(absl::StrCat("UPLOAD: ", bytes.size(), " bytes are more than the device takes"));
  }
  const uint32_t window_bytes = port_.block_bytes_max(), span = mailbox::WindowSpanBytes(window_bytes);
  for (size_t at = 0; at < bytes.size(); at += window_bytes) {
    if (at % span == 0) SIDEBAND_RETURN_IF_ERROR(OpenUpload(static_cast<uint32_t>(at)));
    const auto window = static_cast<uint8_t>(mailbox::kWindowFirst + at % span / window_bytes);
    const ByteSpan part = bytes.subspan(at, std::min<size_t>(window_bytes, bytes.size() - at));
    SIDEBAND_RETURN_IF_ERROR(port_.WriteBlock(window, part));
  }
  return absl::OkStatus();
}

absl::StatusOr<Latched> MailboxSession::OpenClosing(uint32_t snapshot_id, bool is_whole) {
  SIDEBAND_ASSIGN_OR_RETURN(const uint32_t bytes, OpenSnapshot(snapshot_id, is_whole, 0));
  return Latched{snapshot_id, bytes, is_whole};
}

}  // namespace sideband::daemon
