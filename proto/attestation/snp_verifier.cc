// SPDX-License-Identifier: Apache-2.0
#include "proto/attestation/snp_verifier.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "proto/attestation/certificate_table.h"
#include "proto/attestation/ecdsa_p384.h"
#include "proto/attestation/snp_chain.h"
#include "proto/attestation/snp_report.h"
#include "proto/attestation/vcek.h"
#include "proto/base/status_macros.h"

namespace sideband::attestation {
namespace {

absl::Status Refused(absl::string_view why) { return absl::PermissionDeniedError(why); }

class SnpVerifier final : public Verifier {
 public:
  SnpVerifier(SnpChain chain, uint32_t vmpl_max) : chain_(std::move(chain)), vmpl_max_(vmpl_max) {}

  EvidenceKind kind() const override { return EvidenceKind::kSevSnp; }
  absl::StatusOr<GuestClaims> Verify(ByteSpan evidence, const ReportData& report_data,
                                     std::optional<absl::Time> now) const override;

 private:
  absl::Status CheckGuestState(const SnpReport& report) const;

  const SnpChain chain_;
  const uint32_t vmpl_max_;
};

absl::Status CheckSigner(const X509& vcek, const SnpReport& report) {
  const absl::StatusOr<VcekSubject> subject = SubjectOfVcek(vcek);
  if (!subject.ok()) return Refused(subject.status().message());
  if (subject->tcb != report.reported_tcb) return Refused("the VCEK is of other firmware than the report");
  if (subject->chip_id != report.chip_id) return Refused("the VCEK is of another chip than the report");
  return absl::OkStatus();
}

absl::Status CheckSignature(X509& vcek, const SnpReport& report, ByteSpan signed_part) {
  if (report.signature_algorithm != kEcdsaP384Sha384 || (report.flags & kSnpFlagsSigningKey) != 0) {
    return Refused("the report is not signed by a VCEK with ECDSA P-384 and SHA-384");
  }
  if (!IsSigned(X509_get0_pubkey(&vcek), signed_part, report.r, report.s)) {
    return Refused("the report is not signed by its VCEK");
  }
  return absl::OkStatus();
}

// The oldest firmware, component by component, that may have had the guest: that of its launch, the present one, the
// one to which the host may go back, and the one of which the VCEK is. A version that is not filled in is 0.
TcbVersion OldestTcb(const SnpReport& report) {
  TcbVersion oldest = report.reported_tcb;
  for (const TcbVersion& tcb : {report.launch_tcb, report.current_tcb, report.committed_tcb}) {
    oldest = {.boot_loader = std::min(oldest.boot_loader, tcb.boot_loader),
              .tee = std::min(oldest.tee, tcb.tee),
              .snp = std::min(oldest.snp, tcb.snp),
              .microcode = std::min(oldest.microcode, tcb.microcode)};
  }
  return oldest;
}

absl::Status SnpVerifier::CheckGuestState(const SnpReport& report) const {
  if ((report.policy & kSnpPolicyReserved) == 0) return Refused("the guest's policy is none: bit 17 is not 1");
  if ((report.policy & kSnpPolicyDebug) != 0) return Refused("the host may debug the guest");
  // A migration agent is a guest of the host's choice, which nothing here attests.
  if ((report.policy & kSnpPolicyMigrate) != 0) return Refused("the host may migrate the guest");
  if (report.vmpl > vmpl_max_) return Refused("the guest's software has too little privilege");
  return absl::OkStatus();
}

absl::StatusOr<GuestClaims> SnpVerifier::Verify(ByteSpan evidence, const ReportData& report_data,
                                                std::optional<absl::Time> now) const {
  if (evidence.size() < kSnpReportBytes) return absl::InvalidArgumentError("SEV-SNP evidence is too short");
  SIDEBAND_ASSIGN_OR_RETURN(const SnpReport report, ParseSnpReport(evidence.first(kSnpReportBytes)));
  SIDEBAND_ASSIGN_OR_RETURN(const SnpCertificates table, ParseCertificateTable(evidence.subspan(kSnpReportBytes)));
  SIDEBAND_ASSIGN_OR_RETURN(const CertificatePtr vcek, chain_.Verify(table, now));
  SIDEBAND_RETURN_IF_ERROR(CheckSigner(*vcek, report));
  SIDEBAND_RETURN_IF_ERROR(CheckSignature(*vcek, report, evidence.first(kSnpSignedBytes)));
  SIDEBAND_RETURN_IF_ERROR(CheckGuestState(report));
  if (!IsBoundTo(report_data, report.report_data)) return Refused("the report is bound to something else");
  return GuestClaims{.kind = EvidenceKind::kSevSnp,
                     .measurement = report.measurement,
                     .host_data = report.host_data,
                     .tcb = OldestTcb(report)};
}

}  // namespace

absl::StatusOr<std::unique_ptr<Verifier>> NewSnpVerifier(const SnpTrust& trust) {
  if (trust.vmpl_max > kVmplMax) return absl::InvalidArgumentError("vmpl_max must be 0 to 3");
  SIDEBAND_ASSIGN_OR_RETURN(SnpChain chain, SnpChain::Load(trust.roots, trust.intermediates));
  return std::make_unique<SnpVerifier>(std::move(chain), trust.vmpl_max);
}

}  // namespace sideband::attestation
