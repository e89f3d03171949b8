// SPDX-License-Identifier: Apache-2.0
#include "proto/attestation/snp_verifier.h"

#include <openssl/err.h>

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "proto/attestation/snp_evidence.h"
#include "proto/base/status_macros.h"

namespace sideband::attestation {
namespace {

absl::Status Untrusted(absl::string_view why) {
  return absl::PermissionDeniedError(absl::StrCat("the VCEK is not trusted: ", why));
}

bool IsSignedByPss(X509& certificate) {
  int digest = NID_undef, algorithm = NID_undef;
  const bool is_known = X509_get_signature_info(&certificate, &digest, &algorithm, nullptr, nullptr) == 1;
  return is_known && digest == NID_sha384 && algorithm == NID_rsassaPss;
}

// A root that poses as an ASK would let it sign VCEKs itself.
bool IsAskOf(X509& ask, X509& vcek) {
  const bool is_self_issued = (X509_get_extension_flags(&ask) & EXFLAG_SI) != 0;
  return !is_self_issued && X509_check_issued(&ask, &vcek) == X509_V_OK;
}

CertificatePtr Share(X509& certificate) {
  X509_up_ref(&certificate);
  return CertificatePtr(&certificate);
}

}  // namespace

absl::StatusOr<SnpChain> SnpChain::Load(const std::vector<std::string>& ark_files, const std::string& ask_file) {
  SIDEBAND_ASSIGN_OR_RETURN(CertificateRoots arks, CertificateRoots::Load(ark_files));
  CertificateChain asks;
  if (!ask_file.empty()) {
    SIDEBAND_ASSIGN_OR_RETURN(asks, LoadCertificates(ask_file));
  }
  return SnpChain(std::move(arks), std::move(asks));
}

absl::StatusOr<CertificatePtr> SnpChain::FindAsk(const SnpCertificates& evidence, X509& vcek) const {
  if (!evidence.ask.empty()) {
    CertificatePtr ask = FromDer(evidence.ask);
    if (ask == nullptr) return absl::InvalidArgumentError("the evidence's ASK certificate is malformed");
    if (IsAskOf(*ask, vcek)) return ask;
  }
  for (const CertificatePtr& ask : asks_) {
    if (IsAskOf(*ask, vcek)) return Share(*ask);
  }
  return Untrusted("there is no ASK of its issuer's name");
}

absl::StatusOr<CertificatePtr> SnpChain::Verify(const SnpCertificates& evidence, std::optional<absl::Time> now) const {
  if (evidence.vcek.empty()) return absl::InvalidArgumentError("the evidence has no VCEK certificate");
  CertificateChain chain;
  chain.push_back(FromDer(evidence.vcek));
  if (chain.front() == nullptr) return absl::InvalidArgumentError("the evidence's VCEK certificate is malformed");
  X509& vcek = *chain.front();
  if (!IsOnP384(X509_get0_pubkey(&vcek))) {
    ERR_clear_error();
    return Untrusted("its key is not on P-384");
  }
  SIDEBAND_ASSIGN_OR_RETURN(chain.emplace_back(), FindAsk(evidence, vcek));
  if (!IsSignedByPss(vcek) || !IsSignedByPss(*chain.back())) {
    return Untrusted("a certificate is not signed by RSASSA-PSS with SHA-384");
  }
  // OpenSSL builds the path itself: from the VCEK, by this ASK alone, to one of the roots.
  if (const absl::Status status = arks_.Verify(chain, now); !status.ok()) return Untrusted(status.message());
  return std::move(chain.front());
}

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
