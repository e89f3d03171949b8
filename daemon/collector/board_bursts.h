// SPDX-License-Identifier: Apache-2.0
//
// The bursts in which a board's commands run on a mailbox that is shared with other clients: after it was quiet, and
// under the bus's lock. Between them, its status is read and nothing is written.
//   BoardBursts bursts(session, lock, {.commands = 16, .quiet = absl::Milliseconds(120)});
//   SIDEBAND_ASSIGN_OR_RETURN(const bool may_run, bursts.MayRun(due, now));   // `due`: when a command is
//   if (may_run) bursts.Follow(RunNext(), now);
//   WaitUntil(bursts.NextTime(due));
#ifndef SIDEBAND_DAEMON_COLLECTOR_BOARD_BURSTS_H_
#define SIDEBAND_DAEMON_COLLECTOR_BOARD_BURSTS_H_

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "daemon/board/burst_gate.h"
#include "daemon/mailbox/mailbox_session.h"
#include "daemon/transport/bus_lock.h"

namespace sideband::daemon {

// Used by one thread at a time, that of the session and of the lock.
class BoardBursts {
 public:
  // `session` and `lock` must outlive it.
  BoardBursts(MailboxSession& session, BusLock& lock, const BurstOptions& options)
      : session_(session), lock_(lock), options_(options), gate_(options) {}
  // Releases the lock.
  ~BoardBursts() { lock_.Release(); }
  BoardBursts(const BoardBursts&) = delete;
  BoardBursts& operator=(const BoardBursts&) = delete;

  // Whether the command that is due at `due` may run now. Looks at the mailbox and takes the lock, if it is time to. An
  // error is the bus's or the lock's; then the looks begin anew after an interval.
  absl::StatusOr<bool> MayRun(absl::Duration due, absl::Duration now);
  // After a command. An error, such as another controller's command in its place, ends the burst.
  void Follow(const absl::Status& status, absl::Duration now);
  // Ends the burst, if there is one.
  void End(absl::Duration now);
  // When MayRun may have another answer, or something to do.
  absl::Duration NextTime(absl::Duration due) const;
  // The steady time of the last look that the board has answered.
  absl::Duration looked() const { return looked_; }

 private:
  // Of an open burst: whether it goes on with a command that is due at `due`.
  absl::StatusOr<bool> GoOn(absl::Duration due, absl::Duration now);
  absl::StatusOr<bool> LookAgain(absl::Duration now);
  // Whether the mailbox is quiet, and the bus locked.
  absl::StatusOr<bool> Look(absl::Duration now);

  MailboxSession& session_;
  BusLock& lock_;
  const BurstOptions options_;
  BurstGate gate_;
  bool has_paused_ = false;  // since the last command of the burst
  absl::Duration looked_ = -absl::InfiniteDuration();
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_COLLECTOR_BOARD_BURSTS_H_
