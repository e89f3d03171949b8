// SPDX-License-Identifier: Apache-2.0
#include "daemon/mailbox/mailbox_session.h"

#include <openssl/crypto.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "proto/mailbox/extension.h"
#include "proto/mailbox/snapshot_stream.h"
#include "proto/mailbox/stream.h"

namespace sideband::daemon {
namespace {

using mailbox::CommandWord;
using mailbox::DiscoverItem;
using mailbox::MailboxStatus;
using mailbox::Opcode;

CommandWord Command(Opcode opcode, uint8_t arg1 = 0) { return {.opcode = opcode, .arg1 = arg1, .execute = true}; }

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
    case MailboxStatus::kErrAgain:
      return absl::AbortedError(what);
    case MailboxStatus::kErrBusy:
    case MailboxStatus::kErrNotAvailable:
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

absl::Status MailboxSession::AwaitDone(const CommandWord& command) {
  absl::Duration pause = kPauseFirst;
  for (int poll = 0; poll < kPollsMax; ++poll) {
    SIDEBAND_ASSIGN_OR_RETURN(const uint32_t word, port_.Read(mailbox::kCommandRegister));
    const CommandWord reply = CommandWord::Decode(word);
    if (!reply.execute && reply.status != MailboxStatus::kNull) {
      // A status of something else (the device restarted, another controller) must not pass for this command's.
      const bool is_ours = reply.opcode == command.opcode && reply.arg1 == command.arg1 && reply.arg2 == command.arg2;
      if (reply.status == MailboxStatus::kSuccess && !is_ours) {
        return absl::AbortedError(
            absl::StrCat(mailbox::OpcodeName(command.opcode), ": the status is another command's"));
      }
      return StatusFromMailbox(command.opcode, reply.status);
    }
    wait_(pause);
    pause = std::min(2 * pause, kPauseMax);
  }
  return absl::DeadlineExceededError(absl::StrCat(mailbox::OpcodeName(command.opcode), ": busy for too long"));
}

absl::Status MailboxSession::Submit(const Request& request) {
  smbus::Outcome outcome = smbus::Outcome::kOk;
  for (int attempt = 0; attempt < RegisterPort::kAttemptsMax; ++attempt) {
    if (request.data) SIDEBAND_RETURN_IF_ERROR(port_.Write(mailbox::kDataRegister, *request.data));
    if (request.extended_data) {
      SIDEBAND_RETURN_IF_ERROR(port_.Write(mailbox::kExtendedDataRegister, *request.extended_data));
    }
    SIDEBAND_ASSIGN_OR_RETURN(outcome, port_.WriteOnce(mailbox::kCommandRegister, request.command.Encode()));
    if (outcome == smbus::Outcome::kOk) break;
  }
  return port_.StatusOf(outcome);
}

absl::StatusOr<MailboxSession::Reply> MailboxSession::Run(const Request& request) {
  SIDEBAND_RETURN_IF_ERROR(Submit(request));
  SIDEBAND_RETURN_IF_ERROR(AwaitDone(request.command));
  Reply reply;
  if (request.output == Output::kNothing) return reply;
  SIDEBAND_ASSIGN_OR_RETURN(reply.data, port_.Read(mailbox::kDataRegister));
  if (request.output == Output::kData) return reply;
  SIDEBAND_ASSIGN_OR_RETURN(reply.extended_data, port_.Read(mailbox::kExtendedDataRegister));
  return reply;
}

absl::Status MailboxSession::CheckExtension() {
  SIDEBAND_RETURN_IF_ERROR(port_.Read(mailbox::kCommandRegister).status());
  SIDEBAND_ASSIGN_OR_RETURN(const Reply reply,
                            Run({.command = Command(Opcode::kDiscover, static_cast<uint8_t>(DiscoverItem::kVersion))}));
  const uint32_t version = reply.data & 0xFF, window_bytes = reply.data >> 8 & 0xFF, windows = reply.data >> 16 & 0xFF;
  if (version != mailbox::kExtensionVersion || window_bytes != mailbox::kWindowBytes ||
      windows != mailbox::kWindowCount) {
    return absl::UnimplementedError(absl::StrCat("DISCOVER: extension version ", version, " with ", windows,
                                                 " windows of ", window_bytes, " bytes is not known here"));
  }
  return absl::OkStatus();
}

CommandWord MailboxSession::StreamCommand(Opcode opcode) const {
  return {.opcode = opcode, .arg2 = port_.block_bytes_max(), .execute = true};
}

absl::Status MailboxSession::ReadSpan(uint32_t size, Bytes& bytes) {
  const uint8_t window_bytes = port_.block_bytes_max();
  const size_t end = std::min<size_t>(size, bytes.size() + mailbox::WindowSpanBytes(window_bytes));
  for (uint8_t window = 0; bytes.size() < end; ++window) {
    const auto expected = static_cast<uint8_t>(std::min<size_t>(window_bytes, end - bytes.size()));
    SIDEBAND_ASSIGN_OR_RETURN(const Bytes block, port_.ReadBlock(mailbox::kWindowFirst + window, expected));
    bytes.insert(bytes.end(), block.begin(), block.end());
  }
  return absl::OkStatus();
}

absl::StatusOr<Bytes> MailboxSession::ReadStream(uint32_t size, const Reopen& reopen) {
  if (size == 0 || size > mailbox::kStreamBytesMax) {
    return absl::DataLossError(absl::StrCat("impossible stream length ", size));
  }
  Bytes bytes;
  int resumes = 0;
  for (absl::Status read = ReadSpan(size, bytes); bytes.size() < size; read = ReadSpan(size, bytes)) {
    if (!read.ok() && (absl::IsCancelled(read) || ++resumes > kResumesMax)) return read;
    SIDEBAND_ASSIGN_OR_RETURN(const uint32_t size_now, reopen(static_cast<uint32_t>(bytes.size())));
    if (size_now != size) return absl::DataLossError("a stream's length has changed");
  }
  return bytes;
}

absl::StatusOr<uint32_t> MailboxSession::OpenCatalog(uint32_t offset) {
  SIDEBAND_ASSIGN_OR_RETURN(
      const Reply reply,
      Run({.command = StreamCommand(Opcode::kCatalog), .data = offset, .extended_data = {}, .output = Output::kData}));
  return reply.data;
}

absl::StatusOr<uint32_t> MailboxSession::OpenSnapshot(uint32_t snapshot_id, uint32_t offset) {
  SIDEBAND_ASSIGN_OR_RETURN(const Reply reply, Run({.command = StreamCommand(Opcode::kRead),
                                                    .data = offset,
                                                    .extended_data = snapshot_id,
                                                    .output = Output::kData}));
  return reply.data;
}

absl::StatusOr<CatalogOfBoot> MailboxSession::ReadCatalog() {
  SIDEBAND_ASSIGN_OR_RETURN(const uint32_t size, OpenCatalog(0));
  SIDEBAND_ASSIGN_OR_RETURN(const Bytes bytes,
                            ReadStream(size, [this](uint32_t offset) { return OpenCatalog(offset); }));
  SIDEBAND_ASSIGN_OR_RETURN(const mailbox::Stream stream, mailbox::DecodeStream(bytes));
  if (stream.header.kind != mailbox::StreamKind::kCatalog) return absl::DataLossError("CATALOG: not a catalogue");
  SIDEBAND_ASSIGN_OR_RETURN(mailbox::Catalog catalog, mailbox::DecodeCatalog(stream.payload));
  return CatalogOfBoot{std::make_shared<const Topology>(std::move(catalog), mailbox::CatalogHash(stream.payload)),
                       stream.header.boot_id};
}

absl::StatusOr<Latched> MailboxSession::Latch(const HeldSnapshot& base) {
  CommandWord command = StreamCommand(Opcode::kLatch);
  if (base.snapshot_id != 0) command.arg1 = mailbox::LatchMark(base.boot_id, base.snapshot_id);
  SIDEBAND_ASSIGN_OR_RETURN(const Reply reply, Run({.command = command, .data = base.snapshot_id}));
  return Latched{reply.data, reply.extended_data};
}

absl::StatusOr<mailbox::Snapshot> MailboxSession::ReadSnapshot(const Latched& latched, const mailbox::Snapshot* base) {
  const uint32_t id = latched.snapshot_id;
  SIDEBAND_ASSIGN_OR_RETURN(
      const Bytes bytes, ReadStream(latched.stream_bytes, [&](uint32_t offset) { return OpenSnapshot(id, offset); }));
  auto snapshot = mailbox::DecodeSnapshotStream(bytes, base);
  if (snapshot.ok() && snapshot->snapshot_id != id) {
    OPENSSL_cleanse(snapshot->counters.data(), snapshot->counters.size() * sizeof(uint64_t));
    return absl::DataLossError("READ: the stream is another snapshot's");
  }
  return snapshot;
}

absl::Status MailboxSession::Acknowledge(const HeldSnapshot& snapshot) {
  const uint16_t mark = mailbox::SnapshotMark(snapshot.boot_id, snapshot.snapshot_id);
  const CommandWord command = {.opcode = Opcode::kAck,
                               .arg1 = static_cast<uint8_t>(mark),
                               .arg2 = static_cast<uint8_t>(mark >> 8),
                               .execute = true};
  SIDEBAND_ASSIGN_OR_RETURN(
      const Reply reply,
      Run({.command = command, .data = snapshot.snapshot_id, .extended_data = {}, .output = Output::kData}));
  if (reply.data != snapshot.snapshot_id) return absl::AbortedError("ACK: of another snapshot");
  return absl::OkStatus();
}

}  // namespace sideband::daemon
