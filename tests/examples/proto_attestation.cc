// SPDX-License-Identifier: Apache-2.0
#include "absl/time/clock.h"
#include "proto/attestation/certificate_table.h"
#include "proto/attestation/ecdsa_p384.h"
#include "proto/attestation/evidence.h"
#include "proto/attestation/guest_policy.h"
#include "proto/attestation/snp_report.h"
#include "proto/attestation/snp_verifier.h"
#include "proto/attestation/test_verifier.h"
#include "proto/attestation/throwaway_psp.h"
#include "proto/attestation/throwaway_snp_ca.h"
#include "proto/attestation/vcek.h"
#include "proto/base/status_macros.h"

namespace sideband::attestation {
namespace {

void Refuse(const absl::Status& status);

void UseEvidence(const Verifier& verifier, ByteSpan evidence, const ReportData& report_data) {
  //@ proto/attestation/evidence.h
}

absl::Status UseGuestPolicy(const GuestClaims& claims, const Measurement& known) {
  //@ proto/attestation/guest_policy.h
  return absl::OkStatus();
}

absl::Status UseCertificateTable(ByteSpan table) {
  //@ proto/attestation/certificate_table.h
  return absl::OkStatus();
}

absl::Status UseSnpReport(ByteSpan bytes) {
  //@ proto/attestation/snp_report.h
  return absl::OkStatus();
}

void UseEcdsa(EVP_PKEY* vcek_key, ByteSpan bytes, const SnpReport& report) {
  //@ proto/attestation/ecdsa_p384.h
}

absl::Status UseVcek(const CertificatePtr& certificate) {
  //@ proto/attestation/vcek.h
  return absl::OkStatus();
}

absl::Status UseSnpVerifier(ByteSpan evidence, const ReportData& report_data) {
  //@ proto/attestation/snp_verifier.h
  return absl::OkStatus();
}

absl::Status UseTestVerifier() {
  //@ proto/attestation/test_verifier.h
  return absl::OkStatus();
}

absl::Status UseThrowawaySnpCa(EVP_PKEY* key, const TcbVersion& tcb, const ChipId& chip_id) {
  //@ proto/attestation/throwaway_snp_ca.h
  return absl::OkStatus();
}

absl::Status UseThrowawayPsp(const std::string& folder, const ReportData& data, const Measurement& measurement) {
  //@ proto/attestation/throwaway_psp.h
  return absl::OkStatus();
}

}  // namespace
}  // namespace sideband::attestation
