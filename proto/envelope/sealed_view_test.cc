// SPDX-License-Identifier: Apache-2.0
#include "proto/envelope/sealed_view.h"

#include <gtest/gtest.h>

namespace sideband::envelope {
namespace {

std::vector<Bytes> Copies(const std::vector<ByteSpan>& records) {
  std::vector<Bytes> copies;
  for (const ByteSpan record : records) copies.emplace_back(record.begin(), record.end());
  return copies;
}

TEST(SealedViewTest, HasTheRecordsInTheirOrder) {
  const Bytes newest(133, 7), before(130, 9);
  const Bytes file = EncodeSealedView({newest, before});
  EXPECT_EQ(file.size() % 8, 0);
  const auto records = DecodeSealedView(file);
  ASSERT_TRUE(records.ok()) << records.status();
  EXPECT_EQ(Copies(*records), (std::vector<Bytes>{newest, before}));
  EXPECT_TRUE(DecodeSealedView(EncodeSealedView({}))->empty());
}

TEST(SealedViewTest, NoByteIsOptional) {
  const Bytes record(40, 7);
  const Bytes file = EncodeSealedView({record});
  const size_t used = 8 + 4 + 4 + record.size() + 4;
  for (size_t size = 0; size < used; ++size) {
    EXPECT_FALSE(DecodeSealedView(ByteSpan(file).first(size)).ok()) << size;
  }
  for (size_t at = 0; at < used; ++at) {
    Bytes wrong = file;
    wrong[at] ^= 0x10;
    EXPECT_FALSE(DecodeSealedView(wrong).ok()) << at;
  }
}

TEST(SealedViewTest, MoreRecordsThanExchangesAreMalformed) {
  const Bytes record(8, 1);
  EXPECT_FALSE(DecodeSealedView(EncodeSealedView({record, record, record})).ok());
}

}  // namespace
}  // namespace sideband::envelope
