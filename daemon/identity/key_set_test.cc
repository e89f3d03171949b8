// SPDX-License-Identifier: Apache-2.0
#include "daemon/identity/key_set.h"

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "daemon/identity/fake_issuer.h"

namespace sideband::daemon {
namespace {

std::string KeySetError(const std::string& text) {
  return std::string(KeySet::Parse(text, "jwks.json").status().message());
}

TEST(KeySetTest, FindsByKid) {
  const FakeIssuer rsa = FakeIssuer::Rs256("k2");
  const auto keys = KeySet::Parse(JwksOf({&FakeIssuer::Shared(), &rsa}), "jwks.json");
  ASSERT_TRUE(keys.ok()) << keys.status();
  EXPECT_EQ((*keys)->size(), 2u);
  EXPECT_EQ((*keys)->Find("k1")->algorithm(), "ES256");
  EXPECT_EQ((*keys)->Find("k2")->algorithm(), "RS256");
  for (const char* unknown : {"", "k", "k3", "K1", "k1 "}) EXPECT_EQ((*keys)->Find(unknown), nullptr) << unknown;
}

TEST(KeySetTest, AnEmptySetIsRefused) {
  EXPECT_EQ(KeySetError(R"({"keys": [], "spiffe_sequence": 1})"),
            "jwks.json:1: 'keys' is empty: no token could be verified");
}

TEST(KeySetTest, AllOrNothingWithItsLine) {
  const FakeIssuer again = FakeIssuer::Es256("k1"), other = FakeIssuer::Es256("k2");
  EXPECT_EQ(KeySetError(JwksOf({&FakeIssuer::Shared(), &again})), "jwks.json:3: kid 'k1' is given twice");
  EXPECT_EQ(
      KeySetError(absl::StrReplaceAll(JwksOf({&FakeIssuer::Shared(), &other}), {{"\"k2\"", "\"k2\",\"d\":\"AAAA\""}})),
      "jwks.json:3: key 'k2': 'd' is of a private or symmetric key; only public keys are allowed");
  EXPECT_EQ(KeySetError("{}"), "jwks.json:1: 'keys' is missing");
  EXPECT_EQ(KeySetError(""), "jwks.json:1: not a JSON object");
  EXPECT_EQ(KeySetError("{\"keys\": {}}"), "jwks.json:1: expected a list");
  EXPECT_EQ(KeySetError("{\"keys\": [1]}"), "jwks.json:1: expected a mapping (key: value)");
  EXPECT_EQ(KeySetError("{\"keys\": [\n"), "jwks.json:2: end of sequence flow not found");
}

TEST(KeySetTest, WhatIsTooDeepOrTooLargeIsRefusedBeforeItIsParsed) {
  EXPECT_EQ(KeySetError("{\"x\": " + std::string(1 << 20, '[')), "jwks.json:1: nested more than 16 deep");
  std::string many = "{\"x\": [1";
  for (int i = 0; i < 1 << 14; ++i) absl::StrAppend(&many, ",1");
  EXPECT_EQ(KeySetError(many + "]}"), "jwks.json:1: more than 16384 values");
  EXPECT_EQ(KeySetError("keys: |\n '[\n" + std::string(1 << 20, '[')), "jwks.json:1: not a JSON object");
}

TEST(KeySetTest, AllErrorsAreReportedAtOnce) {
  ErrorList errors;
  EXPECT_EQ(KeySet::Parse("{\"keys\": [\n1,\n{\"kid\": \"a\"}]}", "j", errors), nullptr);
  ASSERT_EQ(errors.count(), 2u);
  EXPECT_EQ(errors.All()[0].message(), "j:2: expected a mapping (key: value)");
  EXPECT_EQ(errors.All()[1].message(), "j:3: key 'a': 'kty' is missing");
}

TEST(KeySetTest, AtMost64Keys) {
  std::string keys;
  for (size_t i = 0; i < kKeysMax; ++i) {
    absl::StrAppend(&keys, i == 0 ? "" : ",",
                    absl::StrReplaceAll(FakeIssuer::Shared().Jwk(), {{"\"k1\"", absl::StrCat("\"k", i, "\"")}}));
  }
  EXPECT_EQ((*KeySet::Parse("{\"keys\": [" + keys + "]}", "jwks.json"))->size(), kKeysMax);
  EXPECT_EQ(KeySetError("{\"keys\": [" + keys + "," +
                        absl::StrReplaceAll(FakeIssuer::Shared().Jwk(), {{"\"k1\"", "\"kk\""}}) + "]}"),
            "jwks.json:1: more than 64 keys");
}

TEST(KeySetTest, AMissingFileIsNotFound) {
  ErrorList errors;
  EXPECT_EQ(LoadKeySet("/nonexistent.json", errors), nullptr);
  EXPECT_EQ(errors.First().code(), absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace sideband::daemon
