// SPDX-License-Identifier: Apache-2.0
#include "daemon/identity/token_cache.h"

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "daemon/identity/fake_issuer.h"

namespace sideband::daemon {
namespace {

const absl::Time kNow = absl::FromUnixSeconds(1000);

std::shared_ptr<const KeySet> SomeKeys() { return *KeySet::Parse(JwksOf({&FakeIssuer::Shared()}), "jwks.json"); }

TokenClaims Claims(int seconds) {
  return {.identity = absl::StrCat("jwt:", seconds), .expires = kNow + absl::Seconds(seconds)};
}

class TokenCacheTest : public testing::Test {
 protected:
  bool Has(const std::string& token, absl::Time now = kNow) {
    return cache_.Find(keys_, DigestOf(token), now).has_value();
  }

  const std::shared_ptr<const KeySet> keys_ = SomeKeys();
  TokenCache cache_{2};
};

// FIPS 180-4's "abc".
TEST(TokenDigestTest, IsSha256) {
  EXPECT_EQ(DigestOf("abc")[0], 0xba);
  EXPECT_EQ(DigestOf("abc")[31], 0xad);
}

TEST_F(TokenCacheTest, FindsWhatIsThere) {
  EXPECT_FALSE(Has("a"));
  cache_.Insert(keys_, DigestOf("a"), Claims(5));
  EXPECT_EQ(cache_.Find(keys_, DigestOf("a"), kNow)->identity, "jwt:5");
  EXPECT_FALSE(Has("b"));
}

TEST_F(TokenCacheTest, ForgetsWhatHasExpired) {
  cache_.Insert(keys_, DigestOf("a"), Claims(5));
  EXPECT_TRUE(Has("a", kNow + absl::Seconds(5)));
  EXPECT_FALSE(Has("a", kNow + absl::Seconds(5) + kTokenLeeway));
  EXPECT_EQ(cache_.size(), 0u);
}

TEST_F(TokenCacheTest, TheOldestMakesRoom) {
  cache_.Insert(keys_, DigestOf("a"), Claims(5));
  cache_.Insert(keys_, DigestOf("b"), Claims(5));
  cache_.Insert(keys_, DigestOf("a"), Claims(6));  // as two threads do that verify it at the same time
  cache_.Insert(keys_, DigestOf("c"), Claims(5));
  EXPECT_EQ(cache_.size(), 2u);
  EXPECT_FALSE(Has("a"));
  EXPECT_TRUE(Has("b"));
  EXPECT_TRUE(Has("c"));
}

TEST_F(TokenCacheTest, OtherKeysForgetEverything) {
  cache_.Insert(keys_, DigestOf("a"), Claims(5));
  EXPECT_FALSE(cache_.Find(SomeKeys(), DigestOf("a"), kNow).has_value());
  EXPECT_FALSE(Has("a")) << "not even if the old ones come back";
}

}  // namespace
}  // namespace sideband::daemon
