// SPDX-License-Identifier: Apache-2.0
#include "proto/attestation/snp_chain.h"

#include <openssl/err.h>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "proto/attestation/ecdsa_p384.h"
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

}  // namespace sideband::attestation
