// SPDX-License-Identifier: Apache-2.0
//
// The sealer's end of an exchange: challenges guests, verifies their evidence by the rules of its sealing file, and
// answers with an encapsulated key and a signed statement. (security.md, "Sealed records", "Key exchange") The daemon
// and a device that seals read the same form of the file (README.md has an example).
//   SIDEBAND_ASSIGN_OR_RETURN(const SealingRules rules, SealingRules::Load("/etc/sideband/sealing.yaml"));
//   if (const attestation::GuestPolicy* const policy = rules.FindGuest(vm)) Check(claims, *policy);
//
//   Exchanger exchanger(rules, {.sealer = SealerKind::kDaemon});
//   SIDEBAND_ASSIGN_OR_RETURN(const Challenge challenge, exchanger.Draw(vm, clock.Now()));
//   SIDEBAND_ASSIGN_OR_RETURN(Exchanged done, exchanger.Exchange(request, target, clock.Now(), utc));
//   keys.Begin(vm, generation, std::move(done.secret), done.nonce, clock.Now());
//   Send(done.answer);
#ifndef SIDEBAND_PROTO_EXCHANGE_EXCHANGER_H_
#define SIDEBAND_PROTO_EXCHANGE_EXCHANGER_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "proto/attestation/evidence.h"
#include "proto/base/bytes.h"
#include "proto/base/uuid.h"
#include "proto/envelope/record.h"
#include "proto/envelope/secret.h"
#include "proto/exchange/messages.h"
#include "proto/exchange/vm_records.h"

namespace sideband::exchange {

// The sealing file: a sealer's identity, the evidence that it can verify, the guests that it trusts, and how long keys
// live. Immutable, thread-safe and movable.
class SealingRules {
 public:
  // Errors are one line, "FILE:LINE: why", or start with the path of a file that it names. Relative paths are of the
  // file's folder.
  static absl::StatusOr<SealingRules> Load(const std::string& path);

  const SealerIdentity& identity() const { return identity_; }
  const KeyRotation& rotation() const { return rotation_; }
  // nullptr: the VM's keys are not exchanged.
  const attestation::GuestPolicy* FindGuest(const Uuid& vm) const;
  // nullptr: this kind of evidence is not accepted.
  const attestation::Verifier* FindVerifier(attestation::EvidenceKind kind) const;

 private:
  explicit SealingRules(SealerIdentity identity) : identity_(std::move(identity)) {}

  SealerIdentity identity_;
  KeyRotation rotation_;
  std::vector<std::unique_ptr<attestation::Verifier>> verifiers_;
  std::map<Uuid, attestation::GuestPolicy> guests_;
};

// The challenges of exchanges that have begun and not ended. Each is for one VM and one request, and expires; their
// number and rate are bounded, so that a flood neither grows the memory nor keeps the processor busy. Not thread-safe.
class Challenges {
 public:
  struct Limits {
    absl::Duration lifetime = absl::Minutes(1);
    size_t open_per_vm = 4;              // the oldest one ends when another is drawn
    size_t drawn_per_lifetime_max = 64;  // of a VM, those that were taken or pushed out included
  };
  explicit Challenges(const Limits& limits) : limits_(limits) {}

  // `now` is any clock that does not go back. RESOURCE_EXHAUSTED: too many of the VM in too short a time. INTERNAL: the
  // system has no random numbers.
  absl::StatusOr<Challenge> Draw(const Uuid& vm, absl::Duration now);
  // Whether it is an open one of the VM, which it then is no longer.
  bool Take(const Uuid& vm, const Challenge& challenge, absl::Duration now);
  // The VM is gone.
  void Drop(const Uuid& vm) { vms_.erase(vm); }

 private:
  struct Open {
    Challenge challenge;
    absl::Duration drawn;
  };
  struct OfVm {
    std::deque<Open> open;
    std::deque<absl::Duration> drawn;  // within the last lifetime
  };

  void Expire(OfVm& vm, absl::Duration now) const;

  const Limits limits_;
  std::map<Uuid, OfVm> vms_;
};

// The VM as the sealer knows it, at the time of the request.
struct ExchangeTarget {
  Uuid device;
  uint64_t boot_id = 0;
  Uuid vm;
  uint32_t generation = 0;
  std::vector<std::string> events;  // of its rows, as in Statement
};

struct Exchanged {
  Bytes answer;
  envelope::Secret secret;  // of the exchange's epoch 0 (envelope::Ratchet)
  envelope::GuestNonce nonce{};
  attestation::GuestClaims claims;  // what was verified, for the audit log
};

// Not thread-safe.
class Exchanger {
 public:
  struct Self {
    SealerKind sealer = SealerKind::kDaemon;
    Sha384Digest measurement{};
  };
  // `rules` must outlive it.
  Exchanger(const SealingRules& rules, const Self& self) : rules_(rules), self_(self), challenges_({}) {}

  // Errors of Challenges; NOT_FOUND for a VM without a policy.
  absl::StatusOr<Challenge> Draw(const Uuid& vm, absl::Duration now);

  // Both clocks are as in Challenges and in Verifier. The errors say what is wrong, for the sealer's own log: a caller
  // must not pass them on. INVALID_ARGUMENT: malformed. PERMISSION_DENIED: another VM or device, a challenge that is
  // not open, evidence that does not bind the request or that the policy does not allow, a public key of small order.
  absl::StatusOr<Exchanged> Exchange(ByteSpan request, const ExchangeTarget& target, absl::Duration now,
                                     std::optional<absl::Time> utc);

  void Drop(const Uuid& vm) { challenges_.Drop(vm); }

 private:
  absl::StatusOr<attestation::GuestClaims> Verify(const ExchangeRequest& request, const ExchangeTarget& target,
                                                  absl::Duration now, std::optional<absl::Time> utc);
  absl::StatusOr<Exchanged> Answer(const ExchangeRequest& request, ByteSpan bytes, const ExchangeTarget& target) const;

  const SealingRules& rules_;
  const Self self_;
  Challenges challenges_;
};

}  // namespace sideband::exchange

#endif  // SIDEBAND_PROTO_EXCHANGE_EXCHANGER_H_
