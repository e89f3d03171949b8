// SPDX-License-Identifier: Apache-2.0
#include "proto/attestation/evidence.h"

#include <gtest/gtest.h>

namespace sideband::attestation {
namespace {

TEST(EvidenceTest, NumbersAndNamesOfKindsStay) {
  EXPECT_EQ(static_cast<uint16_t>(EvidenceKind::kTest), 1);
  EXPECT_EQ(static_cast<uint16_t>(EvidenceKind::kSevSnp), 2);
  EXPECT_STREQ(EvidenceName(EvidenceKind::kTest), "test");
  EXPECT_STREQ(EvidenceName(EvidenceKind::kSevSnp), "sev_snp");
  EXPECT_STREQ(EvidenceName(EvidenceKind{0}), "unknown");
}

TEST(EvidenceTest, EveryBitOfTheReportDataBinds) {
  const ReportData expected = {1, 2, 3};
  EXPECT_TRUE(IsBoundTo(expected, expected));
  for (size_t bit = 0; bit < 8 * expected.size(); ++bit) {
    ReportData found = expected;
    found[bit / 8] ^= static_cast<uint8_t>(1 << bit % 8);
    EXPECT_FALSE(IsBoundTo(expected, found)) << bit;
  }
}

}  // namespace
}  // namespace sideband::attestation
