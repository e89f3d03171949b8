// SPDX-License-Identifier: Apache-2.0
//
// Leads exchanges of keys to the collectors of devices that seal, which come and go with reloads.
//   SealRouter router(store);
//   router.Add(device, seals);
//   SIDEBAND_RETURN_IF_ERROR(router.Exchange(vm, request, done));
//   router.Remove(device);
#ifndef SIDEBAND_DAEMON_COLLECTOR_SEAL_ROUTER_H_
#define SIDEBAND_DAEMON_COLLECTOR_SEAL_ROUTER_H_

#include <cstddef>
#include <cstdint>
#include <functional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "daemon/collector/device_directory.h"
#include "daemon/collector/device_seals.h"
#include "daemon/sealing/guest_sealer.h"
#include "daemon/snapshot/store.h"
#include "proto/base/bytes.h"

namespace sideband::daemon {

// Thread-safe. UNAVAILABLE also if the device has restarted, or has another VM of that number, since the VM was looked
// up.
class SealRouter final : public GuestSealer {
 public:
  // `store` must outlive it.
  explicit SealRouter(const Store& store) : store_(store) {}

  // `seals` is used until Remove returns, and must be closed before.
  void Add(size_t device, DeviceSeals& seals) { devices_.Add(device, seals); }
  void Remove(size_t device) { devices_.Remove(device); }

  absl::Status Draw(const SealedVm& vm, Done<Bytes> done) override;
  absl::Status Exchange(const SealedVm& vm, Bytes request, Done<Bytes> done) override;
  absl::Status Rotate(const SealedVm& vm, Done<uint64_t> done) override;

 private:
  template <typename Value>
  absl::Status Ask(const SealedVm& vm, std::function<absl::StatusOr<Value>(SealWriter&)> run, Done<Value> done);
  bool IsStill(const SealedVm& vm) const;

  const Store& store_;
  DeviceDirectory<DeviceSeals> devices_;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_COLLECTOR_SEAL_ROUTER_H_
