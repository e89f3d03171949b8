// SPDX-License-Identifier: Apache-2.0
#include "proto/exchange/statement.h"

#include <gtest/gtest.h>

namespace sideband::exchange {
namespace {

Statement SmallStatement() {
  return {.sealer = SealerKind::kDevice,
          .device = *Uuid::Parse("11111111-2222-4333-8444-555555555555"),
          .boot_id = 11,
          .vm = *Uuid::Parse("6f1c0a52-3d0e-4a53-9a51-0d4c2a7e9b10"),
          .generation = 3,
          .enc = {1},
          .measurement = {2},
          .request = {3},
          .events = {"a", "b"}};
}

Bytes Copy(ByteSpan bytes) { return Bytes(bytes.begin(), bytes.end()); }

TEST(StatementTest, ComesBackOrIsRefusedWhole) {
  const Bytes bytes = EncodeStatement(SmallStatement());
  EXPECT_EQ(*ParseStatement(bytes), SmallStatement());
  for (size_t size = 0; size < bytes.size(); ++size) EXPECT_FALSE(ParseStatement(ByteSpan(bytes).first(size)).ok());
  for (const size_t at : {0, 4, 5, 6, 7}) {
    Bytes other = bytes;
    other[at] ^= 0x80;
    EXPECT_FALSE(ParseStatement(other).ok()) << at;
  }
}

TEST(StatementTest, AnswersComeBackOrAreRefusedWhole) {
  const Bytes statement = {1, 2, 3}, signature = {9};
  const Bytes bytes = EncodeAnswer(statement, {{4}, {5, 6}}, signature);
  const auto answer = ParseAnswer(bytes);
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ(Copy(answer->statement), statement);
  ASSERT_EQ(answer->certificates.size(), 2);
  EXPECT_EQ(Copy(answer->certificates[1]), (Bytes{5, 6}));
  EXPECT_EQ(Copy(answer->signature), signature);
  for (size_t size = 0; size < bytes.size(); ++size) EXPECT_FALSE(ParseAnswer(ByteSpan(bytes).first(size)).ok());
  EXPECT_FALSE(ParseAnswer(EncodeAnswer(statement, {}, signature)).ok());
  EXPECT_FALSE(ParseAnswer(EncodeAnswer(statement, std::vector<Bytes>(9, Bytes{1}), signature)).ok());
}

}  // namespace
}  // namespace sideband::exchange
