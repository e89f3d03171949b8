// SPDX-License-Identifier: Apache-2.0
//
// The certificates of a chip's endorsement key: VCEK, signed by an ASK, signed by an ARK that the verifier has chosen
// to trust. (AMD, "Versioned Chip Endorsement Key (VCEK) Certificate and KDS Interface Specification", publication
// 57230.)
//   SIDEBAND_ASSIGN_OR_RETURN(const SnpChain chain, SnpChain::Load({"ark.pem"}, "ask.pem"));
//   SIDEBAND_ASSIGN_OR_RETURN(const CertificatePtr vcek, chain.Verify(certificates, absl::Now()));
#ifndef SIDEBAND_PROTO_ATTESTATION_SNP_CHAIN_H_
#define SIDEBAND_PROTO_ATTESTATION_SNP_CHAIN_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "proto/attestation/certificate_table.h"
#include "proto/base/certificates.h"
#include "proto/base/openssl_handle.h"

namespace sideband::attestation {

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

}  // namespace sideband::attestation

#endif  // SIDEBAND_PROTO_ATTESTATION_SNP_CHAIN_H_
