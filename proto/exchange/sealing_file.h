// SPDX-License-Identifier: Apache-2.0
//
// The sealing file: a sealer's identity, the evidence that it can verify, the guests that it trusts, and how long keys
// live. The daemon and a device that seals read the same form (README.md has an example).
//   SIDEBAND_ASSIGN_OR_RETURN(const SealingRules rules, SealingRules::Load("/etc/sideband/sealing.yaml"));
//   if (const attestation::GuestPolicy* const policy = rules.FindGuest(vm)) Check(claims, *policy);
#ifndef SIDEBAND_PROTO_EXCHANGE_SEALING_FILE_H_
#define SIDEBAND_PROTO_EXCHANGE_SEALING_FILE_H_

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/attestation/evidence.h"
#include "proto/base/uuid.h"
#include "proto/exchange/identity.h"
#include "proto/exchange/vm_records.h"

namespace sideband::exchange {

// Immutable, thread-safe and movable.
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

}  // namespace sideband::exchange

#endif  // SIDEBAND_PROTO_EXCHANGE_SEALING_FILE_H_
