// SPDX-License-Identifier: Apache-2.0
//
// Exchanges of keys where this daemon seals: all answers are given within the call.
//   DaemonSealer sealer(exchanges.get());
//   const ExchangeQueries queries(reader, sealer);
#ifndef SIDEBAND_DAEMON_SEALING_DAEMON_SEALER_H_
#define SIDEBAND_DAEMON_SEALING_DAEMON_SEALER_H_

#include "daemon/sealing/exchange_book.h"
#include "daemon/sealing/guest_sealer.h"

namespace sideband::daemon {

// Thread-safe.
class DaemonSealer final : public GuestSealer {
 public:
  // nullptr: no keys are exchanged. Must outlive it.
  explicit DaemonSealer(ExchangeBook* exchanges) : exchanges_(exchanges) {}

  absl::Status Draw(const SealedVm& vm, Done<Bytes> done) override;
  absl::Status Exchange(const SealedVm& vm, Bytes request, Done<Bytes> done) override;
  absl::Status Rotate(const SealedVm& vm, Done<uint64_t> done) override;

 private:
  ExchangeBook* const exchanges_;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_SEALING_DAEMON_SEALER_H_
