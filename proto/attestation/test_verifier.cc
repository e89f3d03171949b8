// SPDX-License-Identifier: Apache-2.0
#include "proto/attestation/test_verifier.h"

#include <algorithm>
#include <utility>

namespace sideband::attestation {
namespace {

#ifdef NDEBUG
constexpr bool kIsOptimised = true;
#else
constexpr bool kIsOptimised = false;
#endif

class TestVerifier final : public Verifier {
 public:
  EvidenceKind kind() const override { return EvidenceKind::kTest; }
  absl::StatusOr<GuestClaims> Verify(ByteSpan evidence, const ReportData& report_data,
                                     std::optional<absl::Time>) const override {
    GuestClaims claims;
    claims.kind = EvidenceKind::kTest;
    if (evidence.size() != claims.measurement.size() + report_data.size()) {
      return absl::InvalidArgumentError("test evidence of a wrong length");
    }
    ReportData bound{};
    std::ranges::copy(evidence.first(claims.measurement.size()), claims.measurement.begin());
    std::ranges::copy(evidence.last(bound.size()), bound.begin());
    if (!IsBoundTo(report_data, bound)) return absl::PermissionDeniedError("the evidence is bound to something else");
    return claims;
  }
};

}  // namespace

absl::StatusOr<std::unique_ptr<Verifier>> NewTestVerifier() {
  if (kIsOptimised) return absl::FailedPreconditionError("evidence for tests is refused by an optimised build");
  return std::make_unique<TestVerifier>();
}

Bytes TestEvidence(const Measurement& measurement, const ReportData& report_data) {
  ByteWriter out;
  out.Raw(measurement);
  out.Raw(report_data);
  return std::move(out).Take();
}

}  // namespace sideband::attestation
