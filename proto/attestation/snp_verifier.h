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
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "proto/attestation/evidence.h"
#include "proto/attestation/snp_evidence.h"
#include "proto/base/openssl.h"

namespace sideband::attestation {

// The certificates of a chip's endorsement key: VCEK, signed by an ASK, signed by an ARK that the verifier has chosen
// to trust. (AMD, "Versioned Chip Endorsement Key (VCEK) Certificate and KDS Interface Specification", publication
// 57230.)
// Immutable, thread-safe and movable.
class SnpChain {
 public:
  // PEM files of ARKs, and one of ASKs for evidence without one; empty: none. Errors start with the path of the file.
  static absl::StatusOr<SnpChain> Load(const std::vector<std::string>& ark_files, const std::string& ask_file);

  // The VCEK, if it is a key on P-384 whose certificate is signed by an ASK, and that one by an ARK, both by RSASSA-PSS
  // with SHA-384. An ASK of the evidence comes before the verifier's own. Without `now` their validity in time is not
  // checked. INVALID_ARGUMENT: absent or malformed. PERMISSION_DENIED with the reason: everything else.
  absl::StatusOr<CertificatePtr> Verify(const SnpCertificates& evidence, std::optional<absl::Time> now) const;

 private:
  SnpChain(CertificateRoots arks, CertificateChain asks) : arks_(std::move(arks)), asks_(std::move(asks)) {}

  // The ASK whose subject and key identifier are those that the VCEK names as its issuer's.
  absl::StatusOr<CertificatePtr> FindAsk(const SnpCertificates& evidence, X509& vcek) const;

  CertificateRoots arks_;
  CertificateChain asks_;
};

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
// Measurement, host data and the least firmware are left to CheckGuest (evidence.h).
absl::StatusOr<std::unique_ptr<Verifier>> NewSnpVerifier(const SnpTrust& trust);

}  // namespace sideband::attestation

#endif  // SIDEBAND_PROTO_ATTESTATION_SNP_VERIFIER_H_
