// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "daemon/base/clock.h"
#include "daemon/sealing/exchange_book.h"
#include "daemon/sealing/guest_sealer.h"
#include "daemon/sealing/seal_vms.h"
#include "daemon/sealing/sealer_set.h"
#include "daemon/view/exchange_queries.h"
#include "proto/base/bytes.h"
#include "proto/base/status_macros.h"
#include "proto/base/uuid.h"
#include "proto/envelope/secret.h"

namespace sideband::daemon {
namespace {

void Withhold(const Uuid& vm);

absl::Status UseSealerSet(EpochSource& epochs, const Uuid& device, const Uuid& vm, const SealInput& input) {
  //@ daemon/sealing/sealer_set.h
  return absl::OkStatus();
}

absl::Status UseExchangeBook(exchange::SealingRules rules, const exchange::Sha384Digest& measurement,
                             const Clock& clock, const Uuid& device, const Uuid& vm,
                             const exchange::ExchangeTarget& target, const Bytes& request,
                             const ExchangeBook::Subject& subject, const Bytes& content) {
  //@ daemon/sealing/exchange_book.h
  return absl::OkStatus();
}

void UseGuestSealer(GuestSealer& daemon_sealer, GuestSealer& seal_router, Reader& reader) {
  //@ daemon/sealing/guest_sealer.h
}

}  // namespace
}  // namespace sideband::daemon
