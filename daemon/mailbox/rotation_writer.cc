// SPDX-License-Identifier: Apache-2.0
#include "daemon/mailbox/rotation_writer.h"

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "proto/mailbox/extension.h"
#include "proto/mailbox/rotation.h"

namespace sideband::daemon {
namespace {

using mailbox::CommandWord;
using mailbox::Opcode;
using mailbox::RotateStep;

uint32_t ScopeOf(uint16_t vm, uint16_t context) { return uint32_t{context} << 16 | vm; }

// The device answers the same for a scope that it does not have and for one where nothing rotates.
absl::Status OfScope(const absl::Status& status) {
  return absl::IsInvalidArgument(status) ? absl::NotFoundError("ROTATE: no event is multiplexed there") : status;
}

absl::StatusOr<uint32_t> OpenPlan(MailboxSession& session, uint32_t scope, uint32_t offset) {
  const CommandWord command = session.StreamCommand(Opcode::kRotate, static_cast<uint8_t>(RotateStep::kPlan));
  SIDEBAND_ASSIGN_OR_RETURN(
      const MailboxReply reply,
      session.Run({.command = command, .data = scope, .extended_data = offset, .output = MailboxOutput::kData}));
  return reply.data;
}

absl::StatusOr<mailbox::RotationPlan> ReadPlan(MailboxSession& session, uint32_t scope, size_t events) {
  const absl::StatusOr<uint32_t> size = OpenPlan(session, scope, 0);
  if (absl::IsInvalidArgument(size.status())) return absl::NotFoundError("ROTATE: no event is multiplexed there");
  SIDEBAND_RETURN_IF_ERROR(size.status());
  SIDEBAND_ASSIGN_OR_RETURN(const SecretBytes bytes, session.ReadStream(*size, [&](uint32_t offset) {
    return OpenPlan(session, scope, offset);
  }));
  return mailbox::DecodePlanStream(bytes, scope, events);
}

// Of APPLY, INVALID_ARGUMENT also for other bytes in the upload buffer. ABORTED if another controller has overwritten
// an input: the step was then taken for what that one wrote.
absl::Status RunRotate(MailboxSession& session, RotateStep step, uint32_t data, uint32_t extended_data) {
  const CommandWord command = ExtensionCommand(Opcode::kRotate, static_cast<uint8_t>(step));
  SIDEBAND_ASSIGN_OR_RETURN(const MailboxReply reply,
                            session.Run({.command = command, .data = data, .extended_data = extended_data}));
  const bool is_meant = reply.data == data && reply.extended_data == extended_data;
  return is_meant ? absl::OkStatus() : absl::AbortedError("ROTATE: another controller has changed the scope or plan");
}

}  // namespace

absl::Status RotationWriter::CheckServed() const {
  return session_.Has(mailbox::kRotationFeature) ? absl::OkStatus()
                                                 : absl::UnimplementedError("ROTATE: the device has no rotation");
}

absl::Status RotationWriter::UploadAndApply(ByteSpan bytes) {
  SIDEBAND_RETURN_IF_ERROR(session_.Upload(bytes));
  return RunRotate(session_, RotateStep::kApply, static_cast<uint32_t>(bytes.size()), Crc32c(bytes));
}

absl::Status RotationWriter::Apply(const mailbox::RotationRequest& request) {
  SIDEBAND_RETURN_IF_ERROR(CheckServed());
  const Bytes bytes = mailbox::EncodeRotationRequest(request);
  absl::Status status = UploadAndApply(bytes);
  // The device found other bytes than these. What it refuses would be refused again.
  for (int upload = 1; upload < kUploadsMax && absl::IsAborted(status); ++upload) {
    session_.GiveWay();
    status = UploadAndApply(bytes);
  }
  return status;
}

absl::StatusOr<mailbox::RotationPlan> RotationWriter::Read(uint16_t vm, uint16_t context, size_t events) {
  SIDEBAND_RETURN_IF_ERROR(CheckServed());
  return ReadPlan(session_, ScopeOf(vm, context), events);
}

absl::Status RotationWriter::RunOfScope(RotateStep step, uint32_t scope, uint32_t extended_data) {
  SIDEBAND_RETURN_IF_ERROR(CheckServed());
  return OfScope(RunRotate(session_, step, scope, extended_data));
}

absl::Status RotationWriter::Learn(uint16_t vm, uint16_t context) {
  return RunOfScope(RotateStep::kLearn, ScopeOf(vm, context), 0);
}

absl::Status RotationWriter::SetPass(uint16_t vm, uint16_t context, uint32_t pass) {
  return RunOfScope(RotateStep::kPass, ScopeOf(vm, context), pass);
}

}  // namespace sideband::daemon
