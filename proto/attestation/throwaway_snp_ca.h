// SPDX-License-Identifier: Apache-2.0
//
// A certificate authority in the layout of AMD's for SEV-SNP, for a demonstration or a test: an ARK and an ASK, RSA
// with PSS and SHA-384. Its private keys are in memory alone, so that it issues only until it is destroyed.
//   SIDEBAND_ASSIGN_OR_RETURN(const auto ca, ThrowawaySnpCa::Create(4096));
//   SIDEBAND_ASSIGN_OR_RETURN(const CertificatePtr vcek, ca->IssueVcek(key, {.tcb = tcb, .chip_id = chip_id}));
#ifndef SIDEBAND_PROTO_ATTESTATION_THROWAWAY_SNP_CA_H_
#define SIDEBAND_PROTO_ATTESTATION_THROWAWAY_SNP_CA_H_

#include <openssl/evp.h>
#include <openssl/x509.h>

#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "proto/attestation/vcek.h"
#include "proto/base/openssl.h"

namespace sideband::attestation {

// AMD's keys have 4096 bits, and making one takes up to seconds; one of these takes a moment.
inline constexpr int kQuickRsaBits = 2048;

// Not thread-safe.
class ThrowawaySnpCa {
 public:
  // INTERNAL if OpenSSL fails.
  static absl::StatusOr<std::unique_ptr<ThrowawaySnpCa>> Create(int rsa_bits);

  X509& ark() const { return *ark_; }
  X509& ask() const { return *ask_; }

  // How a VCEK differs from those that are issued: the lies of tests.
  struct Deviation {
    bool is_chip_id_wrapped = false;  // in an OCTET STRING
    bool is_issued_by_ark = false;
    bool is_signed_by_pkcs1 = false;  // PKCS #1 v1.5 instead of PSS
  };
  // The key may be of any kind. Valid for thirty days, as the CA is.
  absl::StatusOr<CertificatePtr> IssueVcek(EVP_PKEY* key, const VcekSubject& subject, const Deviation& deviation) const;
  absl::StatusOr<CertificatePtr> IssueVcek(EVP_PKEY* key, const VcekSubject& subject) const {
    return IssueVcek(key, subject, {});
  }

 private:
  ThrowawaySnpCa(KeyPtr ark_key, CertificatePtr ark, KeyPtr ask_key, CertificatePtr ask)
      : ark_key_(std::move(ark_key)), ark_(std::move(ark)), ask_key_(std::move(ask_key)), ask_(std::move(ask)) {}

  const KeyPtr ark_key_;
  const CertificatePtr ark_;
  const KeyPtr ask_key_;
  const CertificatePtr ask_;
};

}  // namespace sideband::attestation

#endif  // SIDEBAND_PROTO_ATTESTATION_THROWAWAY_SNP_CA_H_
