// SPDX-License-Identifier: Apache-2.0
//
// The exchanges of keys with the guests of confidential VMs whose records this daemon seals, and the keys that came of
// them, on all devices.
//   ExchangeBook exchanges(std::move(rules), measurement, clock);
//   SIDEBAND_ASSIGN_OR_RETURN(const exchange::Challenge challenge, exchanges.Draw(device, vm));
//   SIDEBAND_ASSIGN_OR_RETURN(const ExchangeBook::Answer answer, exchanges.Exchange(target, request));
//   SIDEBAND_ASSIGN_OR_RETURN(const auto records, exchanges.Seal(subject, {.content = content}));
#ifndef SIDEBAND_DAEMON_SEALING_EXCHANGE_BOOK_H_
#define SIDEBAND_DAEMON_SEALING_EXCHANGE_BOOK_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "daemon/base/clock.h"
#include "proto/attestation/evidence.h"
#include "proto/base/bytes.h"
#include "proto/base/uuid.h"
#include "proto/envelope/record.h"
#include "proto/exchange/exchanger.h"
#include "proto/exchange/identity.h"
#include "proto/exchange/sealing_file.h"
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

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_SEALING_EXCHANGE_BOOK_H_
