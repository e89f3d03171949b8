// SPDX-License-Identifier: Apache-2.0
#include "absl/time/clock.h"
#include "proto/attestation/evidence.h"
#include "proto/attestation/snp_certificates.h"
#include "proto/attestation/snp_report.h"
#include "proto/attestation/snp_verifier.h"
#include "proto/attestation/test_verifier.h"
#include "proto/attestation/throwaway_psp.h"
#include "proto/base/status_macros.h"

namespace sideband::attestation {
namespace {

void Refuse(const absl::Status& status);

void UseEvidence(const Verifier& verifier, ByteSpan evidence, const ReportData& report_data) {
  //@ proto/attestation/evidence.h
}

absl::Status UseSnpCertificates(ByteSpan table) {
  //@ proto/attestation/snp_certificates.h
  return absl::OkStatus();
}

absl::Status UseSnpReport(ByteSpan bytes) {
  //@ proto/attestation/snp_report.h
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

absl::Status UseThrowawayPsp(const std::string& folder, const ReportData& data, const Measurement& measurement) {
  //@ proto/attestation/throwaway_psp.h
  return absl::OkStatus();
}

}  // namespace
}  // namespace sideband::attestation
