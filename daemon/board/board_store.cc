// SPDX-License-Identifier: Apache-2.0
#include "daemon/board/board_store.h"

#include <algorithm>
#include <utility>

namespace sideband::daemon {
namespace {

// A pending event is not a command.
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

BoardSettings BoardStore::SettingsOf(size_t device) const {
  absl::MutexLock lock(&mu_);
  const auto found = settings_.find(device);
  return found == settings_.end() ? BoardSettings() : found->second;
}

void BoardStore::SetSettings(size_t device, const BoardSettings& settings) {
  absl::MutexLock lock(&mu_);
  settings_[device] = settings;
}

std::shared_ptr<const BoardReading> BoardStore::Newest(size_t device) const {
  absl::MutexLock lock(&mu_);
  const auto found = newest_.find(device);
  return found == newest_.end() ? nullptr : found->second;
}

void BoardStore::Publish(size_t device, std::shared_ptr<const BoardReading> reading) {
  absl::MutexLock publishing(&publishing_mu_);
  {
    absl::MutexLock lock(&mu_);
    // A device that was removed meanwhile has no settings any more.
    const auto found = settings_.find(device);
    if (found == settings_.end() || !found->second.is_read) return;
    newest_[device] = reading;
  }
  // mu_ is free here, so that listeners may read the store.
  for (BoardListener* listener : listeners_) listener->OnPublish(device, reading);
}

void BoardStore::Forget(size_t device) {
  absl::MutexLock publishing(&publishing_mu_);
  absl::MutexLock lock(&mu_);
  settings_.erase(device);
  newest_.erase(device);
}

void BoardStore::AddListener(BoardListener& listener) {
  absl::MutexLock lock(&publishing_mu_);
  listeners_.insert(&listener);
}

void BoardStore::RemoveListener(BoardListener& listener) {
  absl::MutexLock lock(&publishing_mu_);
  listeners_.erase(&listener);
}

}  // namespace sideband::daemon
