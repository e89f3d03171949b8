// SPDX-License-Identifier: Apache-2.0
#include "daemon/config/token_config.h"

#include <gtest/gtest.h>

#include <fstream>

#include "absl/strings/str_replace.h"
#include "daemon/config/read_section.h"

namespace sideband::daemon {
namespace {

class TokenConfigTest : public testing::Test {
 protected:
  TokenConfigTest() { std::ofstream(folder_ + "jwks.json") << "looked at elsewhere\n"; }

  absl::StatusOr<std::optional<TokenConfig>> Read(const std::string& text) const {
    return ReadSection("other: 1\n" + text, "tokens", ReadTokenConfig, folder_);
  }
  std::string Error(const std::string& text) const {
    return absl::StrReplaceAll(std::string(Read(text).status().message()), {{folder_, ""}});
  }

  const std::string folder_ = testing::TempDir();
};

TEST_F(TokenConfigTest, ReadsEverything) {
  const auto tokens = Read("tokens: {jwks_file: jwks.json, audience: sideband, issuer: 'https://i'}\n");
  ASSERT_TRUE(tokens.ok()) << tokens.status();
  EXPECT_EQ((*tokens)->jwks_file, folder_ + "jwks.json");
  EXPECT_EQ((*tokens)->audience, "sideband");
  EXPECT_EQ((*tokens)->issuer, "https://i");
  EXPECT_EQ((*Read("tokens: {jwks_file: jwks.json, audience: a}\n"))->issuer, "") << "any";
}

TEST_F(TokenConfigTest, AbsentMeansNoTokens) { EXPECT_EQ(Read("")->has_value(), false); }

TEST_F(TokenConfigTest, EveryMistakeHasItsLine) {
  EXPECT_EQ(Error("tokens: {audience: a}\n"), "c.yaml:2: key 'jwks_file' is missing");
  EXPECT_EQ(Error("tokens: {jwks_file: jwks.json}\n"), "c.yaml:2: key 'audience' is missing");
  EXPECT_EQ(Error("tokens:\n  jwks_file: jwks.json\n  audience: ''\n"), "c.yaml:4: expected a text");
  EXPECT_EQ(Error("tokens:\n  jwks_file: jwks.json\n  audience: a\n  issuer: []\n"), "c.yaml:5: expected a text");
  EXPECT_EQ(Error("tokens:\n  jwks_file: absent.json\n  audience: a\n"),
            "c.yaml:3: absent.json: No such file or directory");
  EXPECT_EQ(Error("tokens:\n  jwks_file: .\n  audience: a\n"), "c.yaml:3: .: is a directory");
  EXPECT_EQ(Error("tokens:\n  jwks_file: jwks.json\n  audiance: a\n"),
            "c.yaml:4: unknown key 'audiance' (did you mean 'audience'?)");
  EXPECT_EQ(Error("tokens: []\n"), "c.yaml:2: expected a mapping (key: value)");
}

}  // namespace
}  // namespace sideband::daemon
