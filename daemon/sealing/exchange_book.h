// SPDX-License-Identifier: Apache-2.0
//
// The exchanges of keys with the guests of confidential VMs whose records this daemon seals, and the keys that came of
// them, on all devices. Callers reach them, or a device that seals, through a GuestSealer.
//   ExchangeBook exchanges(std::move(rules), measurement, clock);
//   SIDEBAND_ASSIGN_OR_RETURN(const exchange::Challenge challenge, exchanges.Draw(device, vm));
//   SIDEBAND_ASSIGN_OR_RETURN(const ExchangeBook::Answer answer, exchanges.Exchange(target, request));
//   SIDEBAND_ASSIGN_OR_RETURN(const auto records, exchanges.Seal(subject, {.content = content}));
#ifndef SIDEBAND_DAEMON_SEALING_EXCHANGE_BOOK_H_
#define SIDEBAND_DAEMON_SEALING_EXCHANGE_BOOK_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "daemon/base/clock.h"
#include "proto/attestation/evidence.h"
#include "proto/base/bytes.h"
#include "proto/base/uuid.h"
#include "proto/envelope/record.h"
#include "proto/exchange/exchanger.h"
#include "proto/exchange/messages.h"
#include "proto/exchange/vm_records.h"

namespace sideband::daemon {

// Thread-safe. Nothing of it is stored: after a restart guests exchange keys again. The clock must outlive it.
class ExchangeBook {
 public:
  ExchangeBook(exchange::SealingRules rules, const exchange::Sha384Digest& measurement, const Clock& clock);

  // Whether some guest is trusted with the VM's keys.
  bool Serves(const Uuid& vm) const { return rules_.FindGuest(vm) != nullptr; }

  // Errors of Exchanger.
  absl::StatusOr<exchange::Challenge> Draw(const Uuid& device, const Uuid& vm) ABSL_LOCKS_EXCLUDED(mu_);
  struct Answer {
    Bytes bytes;
    attestation::GuestClaims claims;
  };
  // From now on the VM is sealed with the keys of this exchange. Errors of Exchanger: they say what is wrong, and a
  // caller must not pass them on.
  absl::StatusOr<Answer> Exchange(const exchange::ExchangeTarget& target, ByteSpan request) ABSL_LOCKS_EXCLUDED(mu_);

  // A VM in one boot of a device.
  struct Subject {
    Uuid device;
    uint64_t boot_id = 0;
    Uuid vm;
  };
  // Like VmKeys::Seal; none also in another boot than that of the exchange, whose keys it destroys.
  absl::StatusOr<std::vector<exchange::SealedNow>> Seal(const Subject& subject, const exchange::VmKeys::Input& input)
      ABSL_LOCKS_EXCLUDED(mu_);
  // The device has these VMs: the keys of all others are destroyed.
  void KeepOnly(const Uuid& device, const std::set<Uuid>& vms) ABSL_LOCKS_EXCLUDED(mu_);

  // These two do the same as VmKeys' functions.
  absl::StatusOr<uint64_t> Rotate(const Uuid& device, const Uuid& vm) ABSL_LOCKS_EXCLUDED(mu_);
  std::optional<exchange::KeyStatus> StatusOf(const Uuid& device, const Uuid& vm) ABSL_LOCKS_EXCLUDED(mu_);
  // Whether records of an exchange with that nonce are being sealed.
  bool HasExchange(const Uuid& device, const Uuid& vm, const envelope::GuestNonce& nonce) ABSL_LOCKS_EXCLUDED(mu_);

 private:
  struct OfDevice {
    exchange::Exchanger exchanger;
    std::optional<exchange::VmKeys> keys;  // of the newest boot with an exchange
  };

  OfDevice& Of(const Uuid& device) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // nullptr: no exchange yet.
  exchange::VmKeys* KeysOf(const Uuid& device) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  // Constant after construction.
  const exchange::SealingRules rules_;
  const exchange::Sha384Digest measurement_;
  const Clock& clock_;

  absl::Mutex mu_;
  std::map<Uuid, OfDevice> devices_ ABSL_GUARDED_BY(mu_);
};

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

// The sealer of a confidential VM's records, as the callers of Confidential reach it: this daemon, or the VM's device.
//   SealerChoice sealer(daemon_sealer, seal_router);
//   const ExchangeQueries queries(reader, sealer);
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

#endif  // SIDEBAND_DAEMON_SEALING_EXCHANGE_BOOK_H_
