// SPDX-License-Identifier: Apache-2.0
#include "daemon/board/burst_gate.h"

#include <algorithm>

namespace sideband::daemon {
namespace {

// A pending event is no command.
bool IsSame(mailbox::CommandWord a, const mailbox::CommandWord& b) {
  a.copy_data = b.copy_data;
  return a == b;
}

bool IsActive(const mailbox::CommandWord& status) {
  return status.execute || status.status == mailbox::MailboxStatus::kNull;
}

}  // namespace

void BurstGate::Look(const mailbox::CommandWord& status, bool is_own, absl::Duration now) {
  const bool is_new = !status_ || !(is_own || IsSame(*status_, status));
  if (is_new) since_ = now;
  status_ = IsActive(status) ? std::nullopt : std::optional(status);
  looked_ = now;
  next_look_ = now + options_.quiet / kLooks;
}

void BurstGate::Wait(absl::Duration now) { next_look_ = now + std::min(kRetry, options_.quiet / kLooks); }

void BurstGate::Retreat(absl::Duration now) {
  status_.reset();
  next_look_ = now + options_.interval;
}

void BurstGate::Open(absl::Duration now) {
  left_ = options_.commands;
  begin_ = now;
  end_ = now + options_.quiet;
}

void BurstGate::Count(absl::Duration now) {
  if (--left_ == 0 || now >= end_) Close(now);
}

void BurstGate::Close(absl::Duration now) {
  left_ = 0;
  status_.reset();
  // The looks of the next burst precede it.
  next_look_ = std::max(now, begin_ + options_.interval - options_.quiet);
}

}  // namespace sideband::daemon
