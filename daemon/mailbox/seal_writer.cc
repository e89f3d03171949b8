// SPDX-License-Identifier: Apache-2.0
#include "daemon/mailbox/seal_writer.h"

#include "proto/base/status_macros.h"
#include "proto/mailbox/extension.h"

namespace sideband::daemon {
namespace {

// The device answers the same for a VM that it does not have and for one without keys.
absl::Status OrNotFound(const absl::Status& status) {
  return absl::IsInvalidArgument(status) ? absl::NotFoundError("SEAL: the device has no keys of this VM") : status;
}

}  // namespace

absl::Status SealWriter::CheckServed() const {
  return session_.has_sealing() ? absl::OkStatus() : absl::NotFoundError("SEAL: the device does not seal");
}

absl::StatusOr<Bytes> SealWriter::Draw(uint16_t vm) {
  SIDEBAND_RETURN_IF_ERROR(CheckServed());
  auto challenge = session_.ReadChallenge(vm);
  if (challenge.ok()) return challenge;
  if (absl::IsAborted(challenge.status())) return absl::ResourceExhaustedError("SEAL: too many challenges: try later");
  return OrNotFound(challenge.status());
}

absl::StatusOr<Bytes> SealWriter::UploadAndExchange(ByteSpan request) {
  SIDEBAND_RETURN_IF_ERROR(session_.Upload(request));
  return session_.ReadAnswer(static_cast<uint32_t>(request.size()), Crc32c(request));
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
  const auto epoch = session_.BeginEpoch(vm);
  if (epoch.ok()) return *epoch;
  if (absl::IsAborted(epoch.status())) {
    return absl::ResourceExhaustedError("SEAL: no epochs are left: the guest has to exchange keys again");
  }
  return OrNotFound(epoch.status());
}

}  // namespace sideband::daemon
