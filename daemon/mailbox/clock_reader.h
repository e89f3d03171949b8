// SPDX-License-Identifier: Apache-2.0
//
// Chooses the clock domains that answer triggers, sets bookmarks, and reads what the triggers have left.
//   ClockReader reader(session);
//   SIDEBAND_RETURN_IF_ERROR(reader.Select(0b11));
//   SIDEBAND_ASSIGN_OR_RETURN(const uint64_t asked_ns, reader.Bookmark(/*vm=*/1, mailbox::kNoContext, 17));
//   SIDEBAND_ASSIGN_OR_RETURN(const mailbox::Timeline timeline, reader.ReadTimeline(next_trigger, domains));
//   SIDEBAND_ASSIGN_OR_RETURN(const mailbox::ClockHulls hulls, reader.ReadHulls(next_trigger, domains));
#ifndef SIDEBAND_DAEMON_MAILBOX_CLOCK_READER_H_
#define SIDEBAND_DAEMON_MAILBOX_CLOCK_READER_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "daemon/mailbox/mailbox_session.h"
#include "proto/mailbox/clocks.h"
#include "proto/mailbox/extension.h"

namespace sideband::daemon {

// A step of TRIGGER that needs no clock domains; `period` is of kStart, in reference cycles. Returns the number of
// kOnce. UNIMPLEMENTED if the device does not have the command, INVALID_ARGUMENT if it does not take the period. A
// repeated step, after an answer that was lost, triggers again. ABORTED if kStart's period was overwritten by another
// controller: the device then has some other period.
absl::StatusOr<uint32_t> RunTrigger(MailboxSession& session, mailbox::TriggerStep step, uint64_t period);

// DATA_LOSS unless triggers ascend from the first that was asked for, and neither reference time nor a local clock goes
// back, nor a packet arrives before its trigger. A number of a trigger is after another one if it is less than 2^31
// further on, since numbers start anew after 2^32.
absl::Status CheckTimeline(const mailbox::Timeline& timeline);

// Used by one thread at a time, after a successful MailboxSession::CheckExtension. `session` must outlive it.
// UNIMPLEMENTED: the device has no clock domains; the bus is not used. ABORTED: another controller is in the way.
class ClockReader {
 public:
  explicit ClockReader(MailboxSession& session) : session_(session) {}

  // The domains of the mask answer the grid's triggers and those on command. INVALID_ARGUMENT: a domain that the device
  // does not have.
  absl::Status Select(uint64_t domains);
  // Asks for a bookmark of a context, or of a VM itself (mailbox::kNoContext), at the next trigger of the grid; of VM
  // 0, it is the operator's. Returns when it was asked for, as reference time in ns. NOT_FOUND: no such scope.
  // RESOURCE_EXHAUSTED: it has a pending bookmark. FAILED_PRECONDITION: there is no grid. After another error the
  // bookmark may be pending.
  absl::StatusOr<uint64_t> Bookmark(uint16_t vm, uint16_t context, uint32_t bookmark);
  // The triggers that the device remembers from one on, of a device with that many domains. Errors are those of the
  // stream (proto/mailbox/clocks.h) and of CheckTimeline.
  absl::StatusOr<mailbox::Timeline> ReadTimeline(uint32_t first_trigger_id, size_t domains);
  // The current segments of the domains that have answered a trigger from one on, likewise.
  absl::StatusOr<mailbox::ClockHulls> ReadHulls(uint32_t first_trigger_id, size_t domains);

 private:
  absl::Status CheckServed() const;

  MailboxSession& session_;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_MAILBOX_CLOCK_READER_H_
