// SPDX-License-Identifier: Apache-2.0
#include "proto/envelope/secret.h"

#include <gtest/gtest.h>

#include <type_traits>

#include "proto/envelope/secret_access.h"

namespace sideband::envelope {
namespace {

const Bytes kBytes = {1, 2, 3, 4};

Bytes Contents(const Secret& secret) {
  const ByteSpan bytes = secret.Read(SecretAccess::Get());
  return Bytes(bytes.begin(), bytes.end());
}

static_assert(!std::is_copy_constructible_v<Secret>, "a copy must be asked for");
static_assert(!std::is_default_constructible_v<SecretAccessToken>, "only SecretAccess makes one");
static_assert(!std::is_aggregate_v<SecretAccessToken>, "nor may braces");

TEST(SecretTest, HoldsACopy) { EXPECT_EQ(Contents(Secret::CopyOf(kBytes)), kBytes); }

TEST(SecretTest, TakeWipesTheSource) {
  Bytes source = kBytes;
  EXPECT_EQ(Contents(Secret::Take(std::move(source))), kBytes);
  EXPECT_EQ(source, Bytes(kBytes.size(), 0));
}

TEST(SecretTest, MoveLeavesTheSourceEmpty) {
  Secret first = Secret::CopyOf(kBytes);
  Secret second = std::move(first);
  EXPECT_EQ(first.size(), 0u);
  Secret third = Secret::CopyOf(Bytes{9});
  third = std::move(second);
  EXPECT_EQ(second.size(), 0u);
  EXPECT_EQ(Contents(third), kBytes);
}

TEST(SecretTest, CloneIsItsOwn) {
  Secret first = Secret::CopyOf(kBytes);
  const Secret second = first.Clone();
  first.Wipe();
  EXPECT_EQ(first.size(), 0u);
  EXPECT_EQ(Contents(second), kBytes);
}

TEST(SecretTest, EqualityIsOfAllBytes) {
  EXPECT_EQ(Secret::CopyOf(kBytes), Secret::CopyOf(kBytes));
  EXPECT_EQ(Secret(), Secret());
  EXPECT_FALSE(Secret::CopyOf(kBytes) == Secret::CopyOf(Bytes{1, 2, 3, 5}));
  EXPECT_FALSE(Secret::CopyOf(kBytes) == Secret::CopyOf(Bytes{1, 2, 3})) << "a prefix";
}

TEST(SecretTest, StartsAsZerosAndIsWritable) {
  Secret secret(4);
  EXPECT_EQ(Contents(secret), Bytes(4, 0));
  secret.Write(SecretAccess::Get())[2] = 7;
  EXPECT_EQ(Contents(secret), (Bytes{0, 0, 7, 0}));
}

TEST(ScopedWipeTest, WipesAtTheEndOfTheScope) {
  Bytes bytes = kBytes;
  std::string text = "plain";
  {
    const ScopedWipe first(bytes);
    const ScopedWipe second(text);
    EXPECT_EQ(bytes, kBytes);
  }
  EXPECT_EQ(bytes, Bytes(4, 0));
  EXPECT_EQ(text, std::string(5, '\0'));
}

}  // namespace

}  // namespace sideband::envelope
