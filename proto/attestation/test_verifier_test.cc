// SPDX-License-Identifier: Apache-2.0
#include "proto/attestation/test_verifier.h"

#include <gtest/gtest.h>

namespace sideband::attestation {
namespace {

// The same test is built as optimised programs are, and without.
#ifdef EXPECT_REFUSED
TEST(TestVerifierTest, AnOptimisedBuildRefusesIt) {
  const absl::Status status = NewTestVerifier().status();
  EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
  EXPECT_EQ(status.message(), "evidence for tests is refused by an optimised build");
}
#else
TEST(TestVerifierTest, VerifiesTheBindingAlone) {
  const auto verifier = *NewTestVerifier();
  EXPECT_EQ(verifier->kind(), EvidenceKind::kTest);
  const Measurement measurement = {1};
  const ReportData bound = {2}, other = {3};
  const Bytes evidence = TestEvidence(measurement, bound);
  ASSERT_EQ(evidence.size(), 112);
  const auto claims = verifier->Verify(evidence, bound, std::nullopt);
  ASSERT_TRUE(claims.ok()) << claims.status();
  EXPECT_EQ(*claims, (GuestClaims{.kind = EvidenceKind::kTest, .measurement = measurement}));
  EXPECT_TRUE(absl::IsPermissionDenied(verifier->Verify(evidence, other, std::nullopt).status()));
}

TEST(TestVerifierTest, RefusesOtherLengths) {
  const auto verifier = *NewTestVerifier();
  for (size_t size = 0; size < 200; ++size) {
    const absl::Status status = verifier->Verify(Bytes(size), {}, std::nullopt).status();
    EXPECT_EQ(status.code(), size == 112 ? absl::StatusCode::kOk : absl::StatusCode::kInvalidArgument) << size;
  }
}
#endif

}  // namespace
}  // namespace sideband::attestation
