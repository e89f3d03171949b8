// SPDX-License-Identifier: Apache-2.0
#include "daemon/mailbox/rotation_writer.h"

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "proto/mailbox/extension.h"
#include "proto/mailbox/rotation_stream.h"

namespace sideband::daemon {
namespace {

using mailbox::RotateStep;

uint32_t ScopeOf(uint16_t vm, uint16_t context) { return uint32_t{context} << 16 | vm; }

// The device answers the same for a scope that it does not have and for one where nothing rotates.
absl::Status OfScope(const absl::Status& status) {
  return absl::IsInvalidArgument(status) ? absl::NotFoundError("ROTATE: nothing rotates there") : status;
}

}  // namespace

absl::Status RotationWriter::CheckServed() const {
  return session_.has_rotation() ? absl::OkStatus() : absl::UnimplementedError("ROTATE: the device has no rotation");
}

absl::Status RotationWriter::UploadAndApply(ByteSpan bytes) {
  SIDEBAND_RETURN_IF_ERROR(session_.Upload(bytes));
  return session_.RunRotate(RotateStep::kApply, static_cast<uint32_t>(bytes.size()), Crc32c(bytes));
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
  return session_.ReadPlan(ScopeOf(vm, context), events);
}

absl::Status RotationWriter::RunOfScope(RotateStep step, uint32_t scope, uint32_t extended_data) {
  SIDEBAND_RETURN_IF_ERROR(CheckServed());
  return OfScope(session_.RunRotate(step, scope, extended_data));
}

absl::Status RotationWriter::Learn(uint16_t vm, uint16_t context) {
  return RunOfScope(RotateStep::kLearn, ScopeOf(vm, context), 0);
}

absl::Status RotationWriter::SetPass(uint16_t vm, uint16_t context, uint32_t pass) {
  return RunOfScope(RotateStep::kPass, ScopeOf(vm, context), pass);
}

}  // namespace sideband::daemon
