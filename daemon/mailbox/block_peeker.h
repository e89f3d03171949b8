// SPDX-License-Identifier: Apache-2.0
//
// Reads a few live counters of one block, without a latch of the device. Events of several extends are read one extend
// after another, but are of one instant.
//   BlockPeeker peeker(session, clock, [&] { ++retries; });
//   const absl::StatusOr<PeekedBlock> peeked = peeker.Peek({.vm = 1, .boot_id = boot, .events = {0}}, /*due=*/next);
//   if (peeked.status() == GaveWay()) TakeASnapshot();   // and ask again
#ifndef SIDEBAND_DAEMON_MAILBOX_BLOCK_PEEKER_H_
#define SIDEBAND_DAEMON_MAILBOX_BLOCK_PEEKER_H_

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "daemon/base/clock.h"
#include "daemon/mailbox/mailbox_session.h"
#include "daemon/snapshot/live_reader.h"
#include "proto/mailbox/peek.h"

namespace sideband::daemon {

// The questions that read these events, in order: one for each extend, or more if its counters do not fit into the
// windows; all but the first are of the same latch. None if not even one counter fits.
std::vector<mailbox::PeekQuestion> QuestionsOf(const PeekQuery& query, uint32_t window_bytes);

// The time for which the query occupies a bus of `bus_hz`, which must be above 0, without retries and clock stretching.
absl::Duration PeekTime(const PeekQuery& query, uint32_t bus_hz, uint32_t window_bytes);

// The part of PeekTime before the last question: a latch that is due within it interrupts the query.
absl::Duration PeekLeadTime(const PeekQuery& query, uint32_t bus_hz, uint32_t window_bytes);

// The status of a peek that has given way to a latch. What it has read is lost: a latch ends the device's answers of
// one instant.
absl::Status GaveWay();

// Used by one thread at a time. The constructor's arguments must outlive it.
class BlockPeeker {
 public:
  // Total number of times that a query is asked. It is asked again where another controller's command, or a bit error,
  // came in between, or may have: a refusal, NOT_FOUND, may be that of another controller's scope.
  static constexpr int kAttemptsMax = 3;

  BlockPeeker(MailboxSession& session, const Clock& clock, std::function<void()> on_retry)
      : session_(session), clock_(clock), on_retry_(std::move(on_retry)) {}

  // UNIMPLEMENTED if the device or the adapter cannot do it; does not use the bus. Like Peek, after a successful
  // MailboxSession::CheckExtension.
  absl::Status CheckSupport() const;
  // Errors are those of CheckSupport; NOT_FOUND if the device does not have the block (any more) or an event of it;
  // ABORTED if the device or the block has restarted since the query's topology, or if other controllers came in
  // between each time; else the session's errors. GaveWay() from the steady time `due` on, in place of asking a further
  // question or asking again; the first question is asked in any case.
  absl::StatusOr<PeekedBlock> Peek(const PeekQuery& query, absl::Duration due = absl::InfiniteDuration());

 private:
  struct Reading {
    std::vector<mailbox::PeekAnswer> answers;  // to the questions, of one latch
    PlacedTime latched;
  };
  absl::StatusOr<Reading> Read(const std::vector<mailbox::PeekQuestion>& questions, absl::Duration due);
  absl::StatusOr<Reading> ReadOnce(const std::vector<mailbox::PeekQuestion>& questions, absl::Duration due);
  bool IsDue(absl::Duration due) const { return clock_.Steady() >= due; }
  // Returns the tag of the answer.
  absl::StatusOr<uint32_t> Latch(uint64_t bitmap, Reading& reading);

  MailboxSession& session_;
  const Clock& clock_;
  const std::function<void()> on_retry_;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_MAILBOX_BLOCK_PEEKER_H_
