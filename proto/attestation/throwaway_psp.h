// SPDX-License-Identifier: Apache-2.0
//
// A secure processor of SEV-SNP for a demonstration or a test, for want of one: a chip's endorsement key under a test
// CA in the layout of AMD's, which signs whatever report it is asked for. Unsuitable for other purposes.
//   SIDEBAND_ASSIGN_OR_RETURN(const auto psp, ThrowawayPsp::Create(folder));
//   SIDEBAND_ASSIGN_OR_RETURN(const Bytes evidence, psp->Report({.report_data = data, .measurement = measurement}));
#ifndef SIDEBAND_PROTO_ATTESTATION_THROWAWAY_PSP_H_
#define SIDEBAND_PROTO_ATTESTATION_THROWAWAY_PSP_H_

#include <openssl/evp.h>
#include <openssl/x509.h>

#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/attestation/snp_evidence.h"
#include "proto/base/bytes.h"
#include "proto/base/openssl.h"

namespace sideband::attestation {

// AMD's keys have 4096 bits, and making one takes up to seconds; one of these takes a moment.
inline constexpr int kQuickRsaBits = 2048;

// A certificate authority in the layout of AMD's for SEV-SNP: an ARK and an ASK, RSA with PSS and SHA-384. Its private
// keys are in memory alone, so that it issues only until it is destroyed. Not thread-safe.
//   SIDEBAND_ASSIGN_OR_RETURN(const auto ca, ThrowawaySnpCa::Create(4096));
//   SIDEBAND_ASSIGN_OR_RETURN(const CertificatePtr vcek, ca->IssueVcek(key, {.tcb = tcb, .chip_id = chip_id}));
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

// Not thread-safe.
class ThrowawayPsp {
 public:
  struct Options {
    int rsa_bits = 4096;  // kQuickRsaBits in tests
    VcekSubject subject{.tcb = {.boot_loader = 3, .tee = 0, .snp = 8, .microcode = 115}, .chip_id = {}};
  };
  // Writes FOLDER/{ark,ask,vcek}.pem and vcek.key (mode 0600). The folder must exist.
  static absl::StatusOr<std::unique_ptr<ThrowawayPsp>> Create(const std::string& folder, const Options& options);
  static absl::StatusOr<std::unique_ptr<ThrowawayPsp>> Create(const std::string& folder) { return Create(folder, {}); }
  // Errors start with the path of the file. INVALID_ARGUMENT also for a key of another certificate.
  static absl::StatusOr<std::unique_ptr<ThrowawayPsp>> Load(const std::string& folder);

  // Evidence: the report, with the chip's own values of each TCB and of the chip ID, signed; and its certificates.
  absl::StatusOr<Bytes> Report(SnpReport report) const;
  // The same without changing the report's TCB and chip ID: the lies of tests.
  absl::StatusOr<Bytes> ReportAsIs(SnpReport report) const;

 private:
  ThrowawayPsp(Bytes ask, Bytes vcek, KeyPtr key, const VcekSubject& subject)
      : ask_(std::move(ask)), vcek_(std::move(vcek)), key_(std::move(key)), subject_(subject) {}

  const Bytes ask_, vcek_;
  const KeyPtr key_;
  const VcekSubject subject_;
};

}  // namespace sideband::attestation

#endif  // SIDEBAND_PROTO_ATTESTATION_THROWAWAY_PSP_H_
