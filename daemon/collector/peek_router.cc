// SPDX-License-Identifier: Apache-2.0
#include "daemon/collector/peek_router.h"

#include <utility>

#include "proto/base/status_macros.h"

namespace sideband::daemon {

void PeekRouter::Add(size_t device, DevicePeeks& peeks) {
  absl::MutexLock lock(&mu_);
  devices_[device] = &peeks;
}

void PeekRouter::Remove(size_t device) {
  absl::MutexLock lock(&mu_);
  devices_.erase(device);
}

absl::StatusOr<LiveReader::Ticket> PeekRouter::Peek(size_t device, PeekQuery query, Done done) {
  absl::ReaderMutexLock lock(&mu_);
  const auto found = devices_.find(device);
  if (found == devices_.end()) return absl::UnavailableError("the device is no longer read");
  SIDEBAND_ASSIGN_OR_RETURN(const uint64_t number, found->second->Ask(std::move(query), std::move(done)));
  return Ticket{device, number};
}

bool PeekRouter::Cancel(const Ticket& ticket) {
  absl::ReaderMutexLock lock(&mu_);
  const auto found = devices_.find(ticket.device);
  return found != devices_.end() && found->second->Withdraw(ticket.number);
}

}  // namespace sideband::daemon
