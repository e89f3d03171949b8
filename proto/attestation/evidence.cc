// SPDX-License-Identifier: Apache-2.0
#include "proto/attestation/evidence.h"

#include <openssl/crypto.h>

#include <algorithm>

namespace sideband::attestation {

const char* EvidenceName(EvidenceKind kind) {
  switch (kind) {
    case EvidenceKind::kTest:
      return "test";
    case EvidenceKind::kSevSnp:
      return "sev_snp";
  }
  return "unknown";
}

bool IsBoundTo(const ReportData& expected, const ReportData& found) {
  return CRYPTO_memcmp(expected.data(), found.data(), expected.size()) == 0;
}

absl::Status CheckGuest(const GuestClaims& claims, const GuestPolicy& policy) {
  if (!policy.kinds.empty() && std::ranges::find(policy.kinds, claims.kind) == policy.kinds.end()) {
    return absl::PermissionDeniedError("this kind of evidence is not allowed");
  }
  if (std::ranges::find(policy.measurements, claims.measurement) == policy.measurements.end()) {
    return absl::PermissionDeniedError("the guest's measurement is not on the list");
  }
  if (policy.minimum_tcb && !claims.tcb.IsAtLeast(*policy.minimum_tcb)) {
    return absl::PermissionDeniedError("the platform's firmware is older than the policy allows");
  }
  if (policy.host_data && claims.host_data != *policy.host_data) {
    return absl::PermissionDeniedError("the guest's host data is not the required one");
  }
  return absl::OkStatus();
}

}  // namespace sideband::attestation
