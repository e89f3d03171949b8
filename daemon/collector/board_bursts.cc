// SPDX-License-Identifier: Apache-2.0
#include "daemon/collector/board_bursts.h"

#include <algorithm>

#include "proto/base/status_macros.h"

namespace sideband::daemon {

absl::StatusOr<bool> BoardBursts::MayRun(absl::Duration due, absl::Duration now) {
  if (gate_.IsOpen()) return GoOn(due, now);
  // The looks precede the command that they are for.
  if (now < NextTime(due)) return false;
  auto is_open = LookAgain(now);
  if (!is_open.ok()) gate_.Retreat(now);
  return is_open;
}

absl::StatusOr<bool> BoardBursts::GoOn(absl::Duration due, absl::Duration now) {
  if (due > now) {
    has_paused_ = true;
    if (due >= gate_.end()) End(now);
    return false;
  }
  if (!has_paused_) return true;
  const auto status = session_.ReadStatus();
  // Otherwise another client has begun in the pause.
  if (status.ok() && session_.IsOwn(*status)) return true;
  End(now);
  if (!status.ok()) return status.status();
  return false;
}

absl::StatusOr<bool> BoardBursts::Look(absl::Duration now) {
  SIDEBAND_ASSIGN_OR_RETURN(const mailbox::CommandWord status, session_.ReadStatus());
  looked_ = now;
  gate_.Look(status, session_.IsOwn(status), now);
  return lock_.is_held() && gate_.IsQuiet();
}

absl::StatusOr<bool> BoardBursts::LookAgain(absl::Duration now) {
  gate_.Wait(now);
  // Before the look: what a program has done under the lock shows in it.
  if (gate_.IsLastLook(now)) {
    SIDEBAND_ASSIGN_OR_RETURN(const bool is_held, lock_.TryAcquire());
    if (!is_held) return false;
  }
  const auto is_free = Look(now);
  if (!is_free.ok() || !*is_free) {
    lock_.Release();
    return is_free;
  }
  gate_.Open(now);
  has_paused_ = false;
  return true;
}

void BoardBursts::Follow(const absl::Status& status, absl::Duration now) {
  has_paused_ = false;
  if (status.ok()) gate_.Count(now);
  if (!status.ok() || !gate_.IsOpen()) End(now);
}

void BoardBursts::End(absl::Duration now) {
  if (gate_.IsOpen()) gate_.Close(now);
  lock_.Release();
}

absl::Duration BoardBursts::NextTime(absl::Duration due) const {
  return gate_.IsOpen() ? due : std::max(gate_.next_look(), due - options_.quiet);
}

}  // namespace sideband::daemon
