// SPDX-License-Identifier: Apache-2.0
#include "proto/exchange/request.h"

#include <gtest/gtest.h>

namespace sideband::exchange {
namespace {

ExchangeRequest SmallRequest() {
  return {.kind = attestation::EvidenceKind::kSevSnp,
          .device = *Uuid::Parse("11111111-2222-4333-8444-555555555555"),
          .vm = *Uuid::Parse("6f1c0a52-3d0e-4a53-9a51-0d4c2a7e9b10"),
          .public_key = {1},
          .nonce = {2},
          .challenge = {3},
          .evidence = {4, 5, 6}};
}

TEST(RequestTest, ComesBackAndHasItsFixedSize) {
  const Bytes bytes = EncodeRequest(SmallRequest());
  EXPECT_EQ(bytes.size(), kRequestFixedBytes + 3);
  EXPECT_EQ(*ParseRequest(bytes), SmallRequest());
}

TEST(RequestTest, RefusesCutsOtherVersionsSuitesAndKinds) {
  const Bytes bytes = EncodeRequest(SmallRequest());
  for (size_t size = 0; size < bytes.size(); ++size) EXPECT_FALSE(ParseRequest(ByteSpan(bytes).first(size)).ok());
  for (const size_t at : {0, 4, 5, 6, 7}) {
    Bytes other = bytes;
    other[at] ^= 0x80;
    EXPECT_FALSE(ParseRequest(other).ok()) << at;
  }
  Bytes longer = bytes;
  longer.push_back(0);
  EXPECT_FALSE(ParseRequest(longer).ok());
  EXPECT_FALSE(ParseRequest(Bytes(kRequestBytesMax + 1)).ok());
}

TEST(RequestTest, RefusesARequestWithoutNonce) {
  ExchangeRequest request = SmallRequest();
  request.nonce = {};
  EXPECT_FALSE(ParseRequest(EncodeRequest(request)).ok());
}

TEST(RequestTest, ReportDataIsOfEverythingButTheEvidence) {
  const ReportData data = *ReportDataOf(SmallRequest());
  ExchangeRequest request = SmallRequest();
  request.evidence = {};
  EXPECT_EQ(*ReportDataOf(request), data);
  request.vm.bytes[0] ^= 1;
  EXPECT_NE(*ReportDataOf(request), data);
}

}  // namespace
}  // namespace sideband::exchange
