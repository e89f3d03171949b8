// SPDX-License-Identifier: Apache-2.0
//
// Changes a device's plans of counter rotation, and reads them.
//   RotationWriter writer(session);
//   SIDEBAND_RETURN_IF_ERROR(writer.Apply({.vm = 1, .events = wanted}));
//   SIDEBAND_ASSIGN_OR_RETURN(const mailbox::RotationPlan plan, writer.Read(1, mailbox::kNoContext, events));
#ifndef SIDEBAND_DAEMON_MAILBOX_ROTATION_WRITER_H_
#define SIDEBAND_DAEMON_MAILBOX_ROTATION_WRITER_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/statusor.h"
#include "daemon/mailbox/mailbox_session.h"
#include "proto/base/bytes.h"
#include "proto/mailbox/rotation.h"

namespace sideband::daemon {

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

#endif  // SIDEBAND_DAEMON_MAILBOX_ROTATION_WRITER_H_
