// SPDX-License-Identifier: Apache-2.0
#include "daemon/mailbox/seal_writer.h"

#include "proto/base/status_macros.h"
#include "proto/mailbox/extension.h"
#include "proto/mailbox/stream.h"

namespace sideband::daemon {
namespace {

using mailbox::CommandWord;
using mailbox::Opcode;
using mailbox::SealStep;

// The device answers the same for a VM that it does not have and for one without keys.
absl::Status OrNotFound(const absl::Status& status) {
  return absl::IsInvalidArgument(status) ? absl::NotFoundError("SEAL: the device has no keys for this VM") : status;
}

absl::Status OfAnotherController() { return absl::UnavailableError("SEAL: another controller interferes"); }

// Of a challenge or an answer.
absl::StatusOr<Bytes> ExchangePayload(ByteSpan bytes) {
  SIDEBAND_ASSIGN_OR_RETURN(const mailbox::Stream stream, mailbox::DecodeStream(bytes));
  if (stream.header.kind != mailbox::StreamKind::kExchange) {
    return OfAnotherController();
  }
  return Bytes(stream.payload.begin(), stream.payload.end());
}

// CHALLENGE or EXCHANGE; `echo` is what the device repeats.
absl::StatusOr<uint32_t> OpenSeal(MailboxSession& session, SealStep step, uint32_t data, uint32_t extended_data,
                                  uint32_t echo) {
  const CommandWord command = session.StreamCommand(Opcode::kSeal, static_cast<uint8_t>(step));
  SIDEBAND_ASSIGN_OR_RETURN(const MailboxReply reply,
                            session.Run({.command = command, .data = data, .extended_data = extended_data}));
  if (reply.extended_data != echo) return OfAnotherController();
  return reply.data;
}

absl::StatusOr<Bytes> ReadChallenge(MailboxSession& session, uint16_t vm) {
  SIDEBAND_ASSIGN_OR_RETURN(const uint32_t size, OpenSeal(session, SealStep::kChallenge, vm, 0, vm));
  // Another one would be drawn in its place.
  SIDEBAND_ASSIGN_OR_RETURN(const SecretBytes bytes,
                            session.ReadStream(size, [](uint32_t) { return OfAnotherController(); }));
  return ExchangePayload(bytes);
}

// The answer to the request in the upload buffer. ABORTED: other bytes were there.
absl::StatusOr<Bytes> ReadAnswer(MailboxSession& session, uint32_t size, uint32_t crc) {
  SIDEBAND_ASSIGN_OR_RETURN(const uint32_t stream, OpenSeal(session, SealStep::kExchange, size, crc, crc));
  SIDEBAND_ASSIGN_OR_RETURN(const SecretBytes bytes, session.ReadStream(stream, [&](uint32_t offset) {
    return OpenSeal(session, SealStep::kExchange, 0, offset, offset);
  }));
  return ExchangePayload(bytes);
}

absl::StatusOr<uint32_t> BeginEpoch(MailboxSession& session, uint16_t vm) {
  const CommandWord command = ExtensionCommand(Opcode::kSeal, static_cast<uint8_t>(SealStep::kEpoch));
  SIDEBAND_ASSIGN_OR_RETURN(const MailboxReply reply,
                            session.Run({.command = command, .data = vm, .extended_data = {}}));
  if (reply.extended_data != vm) return OfAnotherController();
  return reply.data;
}

}  // namespace

absl::Status SealWriter::CheckServed() const {
  return session_.Has(mailbox::kSealingFeature) ? absl::OkStatus()
                                                : absl::NotFoundError("SEAL: the device does not seal");
}

absl::StatusOr<Bytes> SealWriter::Draw(uint16_t vm) {
  SIDEBAND_RETURN_IF_ERROR(CheckServed());
  auto challenge = ReadChallenge(session_, vm);
  if (challenge.ok()) return challenge;
  if (absl::IsAborted(challenge.status())) return absl::ResourceExhaustedError("SEAL: too many challenges: try later");
  return OrNotFound(challenge.status());
}

absl::StatusOr<Bytes> SealWriter::UploadAndExchange(ByteSpan request) {
  SIDEBAND_RETURN_IF_ERROR(session_.Upload(request));
  return ReadAnswer(session_, static_cast<uint32_t>(request.size()), Crc32c(request));
}

absl::StatusOr<Bytes> SealWriter::Exchange(ByteSpan request) {
  SIDEBAND_RETURN_IF_ERROR(CheckServed());
  // EXCHANGE of no bytes reads on in the newest answer, which may be another VM's.
  if (request.empty()) return absl::PermissionDeniedError("an empty request");
  const auto is_disturbed = [](const absl::Status& status) {
    return absl::IsAborted(status) || absl::IsUnavailable(status);
  };
  auto answer = UploadAndExchange(request);
  bool was_disturbed = false;
  for (int upload = 1; upload < kUploadsMax && is_disturbed(answer.status()); ++upload) {
    was_disturbed = true;
    session_.GiveWay();
    answer = UploadAndExchange(request);
  }
  if (is_disturbed(answer.status())) return absl::UnavailableError(answer.status().message());
  // The device may have taken a request whose answer was lost: a second time, its challenge is used up.
  if (absl::IsInvalidArgument(answer.status()) && was_disturbed) {
    return absl::UnavailableError("SEAL: the answer was lost: exchange keys again");
  }
  if (absl::IsInvalidArgument(answer.status())) return absl::PermissionDeniedError("the device refuses the request");
  return answer;
}

absl::StatusOr<uint64_t> SealWriter::Rotate(uint16_t vm) {
  SIDEBAND_RETURN_IF_ERROR(CheckServed());
  const auto epoch = BeginEpoch(session_, vm);
  if (epoch.ok()) return *epoch;
  if (absl::IsAborted(epoch.status())) {
    return absl::ResourceExhaustedError("SEAL: no epochs are left: the guest has to exchange keys again");
  }
  return OrNotFound(epoch.status());
}

}  // namespace sideband::daemon
