// SPDX-License-Identifier: Apache-2.0
//
// Verifies evidence of AMD SEV-SNP: a report and its table of certificates, one after the other, as SNP_GET_EXT_REPORT
// and configfs-tsm (`outblob`, `auxblob`) give them.
//   SIDEBAND_ASSIGN_OR_RETURN(const auto verifier, NewSnpVerifier({.roots = {"ark.pem"}, .intermediates = "ask.pem"}));
//   SIDEBAND_ASSIGN_OR_RETURN(const GuestClaims claims, verifier->Verify(evidence, report_data, absl::Now()));
#ifndef SIDEBAND_PROTO_ATTESTATION_SNP_VERIFIER_H_
#define SIDEBAND_PROTO_ATTESTATION_SNP_VERIFIER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/attestation/evidence.h"

namespace sideband::attestation {

// Levels of privilege in a guest are 0, the most, to 3. Reports that the host asked for say 0xFFFFFFFF.
inline constexpr uint32_t kVmplMax = 3;

struct SnpTrust {
  std::vector<std::string> roots;  // PEM files of ARKs
  std::string intermediates;       // a PEM file of ASKs, for evidence without one; empty: none
  uint32_t vmpl_max = 0;           // the least privilege that a guest's software may have asked with
};

// Errors are those of the files; INVALID_ARGUMENT for a vmpl_max above kVmplMax. The verifier accepts a report if
// * the chain ARK, ASK, VCEK signed it, and the VCEK is of the report's chip and firmware;
// * the guest's policy forbids the host to debug and to migrate it;
// * its privilege level is at most vmpl_max;
// * it is bound to the report data.
// Measurement, host data and the least firmware are left to CheckGuest (guest_policy.h).
absl::StatusOr<std::unique_ptr<Verifier>> NewSnpVerifier(const SnpTrust& trust);

}  // namespace sideband::attestation

#endif  // SIDEBAND_PROTO_ATTESTATION_SNP_VERIFIER_H_
