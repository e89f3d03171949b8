// SPDX-License-Identifier: Apache-2.0
#include "client/lib/token.h"

#include <gtest/gtest.h>

#include <fstream>

#include "absl/strings/escaping.h"

namespace sideband::client {
namespace {

std::string TokenFile(const std::string& text) {
  const std::string path = testing::TempDir() + "/token";
  std::ofstream(path) << text;
  return path;
}

TEST(TokenTest, IsTheFilesOneWord) {
  EXPECT_EQ(*LoadToken(TokenFile("a.b.c")), "a.b.c");
  EXPECT_EQ(*LoadToken(TokenFile("\n a.b.c \r\n")), "a.b.c");
  EXPECT_EQ(LoadToken(TokenFile(std::string(kTokenBytesMax, 'a') + "\n"))->size(), kTokenBytesMax);
}

TEST(TokenTest, AByteOrderMarkIsNoPartOfIt) {
  EXPECT_EQ(*LoadToken(TokenFile("\xEF\xBB\xBF"
                                 "a.b.c\r\n")),
            "a.b.c");
  for (const char* mark : {"\xFF\xFE", "\xFE\xFF"}) {
    const std::string path = TokenFile(std::string(mark) + std::string("a\0.\0", 4));
    EXPECT_EQ(LoadToken(path).status().message(), path + ": a text in UTF-16: save it as plain text (UTF-8)");
  }
}

TEST(TokenTest, AnythingElseNamesTheFile) {
  const std::string path = TokenFile("");
  EXPECT_EQ(LoadToken(path).status().message(), path + ": no token in it");
  EXPECT_EQ(LoadToken(TokenFile(" \n")).status().message(), path + ": no token in it");
  for (const char* text : {"a b", "a\nb", "a\x01", "\xc3\xa9"}) {
    EXPECT_EQ(LoadToken(TokenFile(text)).status().message(), path + ": more than one token, or none") << text;
  }
  EXPECT_EQ(LoadToken(TokenFile(std::string(kTokenBytesMax + 1, 'a'))).status().message(),
            path + ": longer than 8192 bytes");
  EXPECT_FALSE(LoadToken(TokenFile(std::string(1 << 20, 'a'))).ok());
  EXPECT_EQ(LoadToken("/nonexistent").status().code(), absl::StatusCode::kNotFound);
}

TEST(TokenExpiryTest, OnlyOfAJwtThatSaysSo) {
  const auto jwt = [](const std::string& claims) { return "eyJ9." + absl::WebSafeBase64Escape(claims) + ".c2ln"; };
  EXPECT_EQ(TokenExpiry(jwt(R"({"exp": 1700000000})")), absl::FromUnixSeconds(1'700'000'000));
  EXPECT_EQ(TokenExpiry(jwt(R"({"exp": 1e300})")), absl::InfiniteFuture());
  for (const std::string& token : {jwt(R"({"exp": "soon"})"), jwt("{}"), jwt("[1]"), jwt("{"), jwt("\xff"),
                                   std::string("opaque"), std::string("a.!.b"), std::string("..")}) {
    EXPECT_EQ(TokenExpiry(token), std::nullopt) << token;
  }
}

}  // namespace
}  // namespace sideband::client
