// SPDX-License-Identifier: Apache-2.0
//
// Which guests a sealer trusts with the keys of a VM.
//   SIDEBAND_RETURN_IF_ERROR(CheckGuest(claims, {.measurements = {known}, .minimum_tcb = TcbVersion{3, 0, 8, 115}}));
#ifndef SIDEBAND_PROTO_ATTESTATION_GUEST_POLICY_H_
#define SIDEBAND_PROTO_ATTESTATION_GUEST_POLICY_H_

#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "proto/attestation/evidence.h"

namespace sideband::attestation {

struct GuestPolicy {
  std::vector<Measurement> measurements;  // that are allowed; empty: none
  std::optional<TcbVersion> minimum_tcb;  // of SEV-SNP
  std::optional<HostData> host_data;      // required
  std::vector<EvidenceKind> kinds;        // that are allowed; empty: every kind for which the sealer has a verifier
  bool operator==(const GuestPolicy&) const = default;
};

// PERMISSION_DENIED names the first rule that is broken, for the audit log.
absl::Status CheckGuest(const GuestClaims& claims, const GuestPolicy& policy);

}  // namespace sideband::attestation

#endif  // SIDEBAND_PROTO_ATTESTATION_GUEST_POLICY_H_
