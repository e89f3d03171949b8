// SPDX-License-Identifier: Apache-2.0
//
// The sealer of a confidential VM's records, as the callers of Confidential reach it: this daemon, or the VM's device.
//   SealerChoice sealer(daemon_sealer, seal_router);
//   const ExchangeQueries queries(reader, sealer);
#ifndef SIDEBAND_DAEMON_SEALING_GUEST_SEALER_H_
#define SIDEBAND_DAEMON_SEALING_GUEST_SEALER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "daemon/sealing/exchange_book.h"
#include "proto/base/bytes.h"
#include "proto/base/uuid.h"

namespace sideband::daemon {

// A confidential VM as of a device's newest snapshot.
struct SealedVm {
  size_t device = 0;  // its id in the store
  Uuid device_uuid;
  uint64_t boot_id = 0;
  Uuid vm;
  uint16_t vm_id = 0;
  uint32_t generation = 0;
  bool is_sealed_by_device = false;
  std::vector<std::string> events;  // of the VM's rows (exchange::VmEventNames)
};

// Thread-safe. After an error `done` is not called, otherwise once: maybe within the call, else from another thread.
//   RESOURCE_EXHAUSTED: too many of the VM, or too many wait. UNAVAILABLE: the device does not answer, or is no longer
//   read. Other errors say what is wrong with the request: they are for the log.
class GuestSealer {
 public:
  template <typename Value>
  using Done = std::function<void(const absl::StatusOr<Value>& value)>;

  virtual ~GuestSealer() = default;
  // The bytes of an exchange::Challenge. NOT_FOUND: no guest is trusted with the VM's keys.
  virtual absl::Status Draw(const SealedVm& vm, Done<Bytes> done) = 0;
  // The answer to an exchange's request.
  virtual absl::Status Exchange(const SealedVm& vm, Bytes request, Done<Bytes> done) = 0;
  // The number of the VM's new epoch. NOT_FOUND: its guest has exchanged no keys.
  virtual absl::Status Rotate(const SealedVm& vm, Done<uint64_t> done) = 0;
};

// Exchanges of keys where this daemon seals: all answers are given within the call. Thread-safe.
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

// The sealer of each VM: its device, if it seals, else this daemon. Thread-safe.
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

#endif  // SIDEBAND_DAEMON_SEALING_GUEST_SEALER_H_
