// SPDX-License-Identifier: Apache-2.0
#include "daemon/collector/peek_router.h"

#include <utility>

#include "proto/base/status_macros.h"

namespace sideband::daemon {

absl::StatusOr<LiveReader::Ticket> PeekRouter::Peek(size_t device, PeekQuery query, Done done) {
  const auto use = devices_.Use(device);
  if (!use) return absl::UnavailableError("the device is no longer read");
  SIDEBAND_ASSIGN_OR_RETURN(const uint64_t number, use->Ask(std::move(query), std::move(done)));
  return Ticket{device, number};
}

bool PeekRouter::Cancel(const Ticket& ticket) {
  const auto use = devices_.Use(ticket.device);
  return use && use->Withdraw(ticket.number);
}

}  // namespace sideband::daemon
