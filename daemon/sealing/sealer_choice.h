// SPDX-License-Identifier: Apache-2.0
//
// The sealer of each VM: its device, if it seals, else this daemon.
//   SealerChoice sealer(daemon_sealer, seal_router);
//   const ExchangeQueries queries(reader, sealer);
#ifndef SIDEBAND_DAEMON_SEALING_SEALER_CHOICE_H_
#define SIDEBAND_DAEMON_SEALING_SEALER_CHOICE_H_

#include <cstdint>
#include <utility>

#include "absl/status/status.h"
#include "daemon/sealing/guest_sealer.h"
#include "proto/base/bytes.h"

namespace sideband::daemon {

// Thread-safe.
class SealerChoice final : public GuestSealer {
 public:
  // Both must outlive it.
  SealerChoice(GuestSealer& daemon, GuestSealer& devices) : daemon_(daemon), devices_(devices) {}

  absl::Status Draw(const SealedVm& vm, Done<Bytes> done) override { return Of(vm).Draw(vm, std::move(done)); }
  absl::Status Exchange(const SealedVm& vm, Bytes request, Done<Bytes> done) override {
    return Of(vm).Exchange(vm, std::move(request), std::move(done));
  }
  absl::Status Rotate(const SealedVm& vm, Done<uint64_t> done) override { return Of(vm).Rotate(vm, std::move(done)); }

 private:
  GuestSealer& Of(const SealedVm& vm) { return vm.is_sealed_by_device ? devices_ : daemon_; }

  GuestSealer& daemon_;
  GuestSealer& devices_;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_SEALING_SEALER_CHOICE_H_
