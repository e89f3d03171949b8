// SPDX-License-Identifier: Apache-2.0
//
// Exchanges keys between a confidential VM's guest and a device that seals (opcode SEAL).
//   SealWriter writer(session);
//   SIDEBAND_ASSIGN_OR_RETURN(const Bytes challenge, writer.Draw(vm));
//   SIDEBAND_ASSIGN_OR_RETURN(const Bytes answer, writer.Exchange(request));
#ifndef SIDEBAND_DAEMON_MAILBOX_SEAL_WRITER_H_
#define SIDEBAND_DAEMON_MAILBOX_SEAL_WRITER_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "daemon/mailbox/mailbox_session.h"
#include "proto/base/bytes.h"

namespace sideband::daemon {

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

#endif  // SIDEBAND_DAEMON_MAILBOX_SEAL_WRITER_H_
