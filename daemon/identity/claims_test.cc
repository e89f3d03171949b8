// SPDX-License-Identifier: Apache-2.0
#include "daemon/identity/claims.h"

#include <gtest/gtest.h>

#include "absl/strings/str_replace.h"

namespace sideband::daemon {
namespace {

constexpr char kGood[] = R"({"sub":"prometheus","aud":"sideband","iss":"https://i","nbf":1000,"iat":1000,"exp":2000})";
const TokenExpectations kExpected = {.audience = "sideband", .issuer = "https://i"};

std::string With(const std::string& from, const std::string& to) {
  std::string text = absl::StrReplaceAll(kGood, {{from, to}});
  EXPECT_NE(text, kGood) << "the test changes nothing: " << from;
  return text;
}

std::string ClaimsError(const std::string& payload) {
  const auto claims = ReadClaims(payload, kExpected);
  EXPECT_EQ(claims.status().code(), absl::StatusCode::kUnauthenticated) << payload;
  return std::string(claims.status().message());
}

TEST(ClaimsTest, ReadsThem) {
  const auto claims = ReadClaims(kGood, kExpected);
  ASSERT_TRUE(claims.ok()) << claims.status();
  EXPECT_EQ(claims->identity, "jwt:prometheus");
  EXPECT_EQ(claims->not_before, absl::FromUnixSeconds(1000));
  EXPECT_EQ(claims->expires, absl::FromUnixSeconds(2000));
}

TEST(ClaimsTest, ASpiffeIdIsItself) {
  EXPECT_EQ(ReadClaims(With("prometheus", "spiffe://example.org/a"), kExpected)->identity, "spiffe://example.org/a");
  EXPECT_EQ(ReadClaims(With("prometheus", "system:serviceaccount:monitoring:prometheus"), kExpected)->identity,
            "jwt:system:serviceaccount:monitoring:prometheus");
}

TEST(ClaimsTest, AudienceIsATextOrAList) {
  for (const char* audience : {R"(["sideband"])", R"(["x","sideband"])"}) {
    EXPECT_TRUE(ReadClaims(With("\"sideband\"", audience), kExpected).ok()) << audience;
  }
  for (const char* audience : {"\"Sideband\"", "\"\"", "[]", R"(["x"])", R"("sideband ")", R"("sidebands")"}) {
    EXPECT_EQ(ClaimsError(With("\"sideband\"", audience)), "token: it is for another audience") << audience;
  }
  for (const char* audience : {"null", "1", R"(["sideband",1])", R"({"sideband":1})", R"([["sideband"]])"}) {
    EXPECT_EQ(ClaimsError(With("\"sideband\"", audience)), "token: 'aud' is not a string or a list of strings")
        << audience;
  }
  EXPECT_EQ(ClaimsError(With("\"aud\":\"sideband\",", "")), "token: 'aud' is missing");
}

TEST(ClaimsTest, IssuerOnlyWhereOneIsExpected) {
  EXPECT_EQ(ClaimsError(With("https://i", "https://i/")), "token: it is from another issuer");
  EXPECT_EQ(ClaimsError(With("\"iss\":\"https://i\",", "")), "token: 'iss' is missing or not a string");
  const TokenExpectations any = {.audience = "sideband"};
  EXPECT_TRUE(ReadClaims(kGood, any).ok());
  EXPECT_TRUE(ReadClaims(With("\"iss\":\"https://i\",", ""), any).ok());
  EXPECT_FALSE(ReadClaims(With("\"https://i\"", "1"), any).ok()) << "of the wrong type";
}

TEST(ClaimsTest, TimesAreNumbers) {
  for (const char* wrong : {"\"2000\"", "null", "-1", "1e18", "253402300800", "true", "[2000]"}) {
    EXPECT_EQ(ClaimsError(With("2000", wrong)), "token: 'exp' is missing or not a time") << wrong;
    EXPECT_EQ(ClaimsError(With("\"nbf\":1000", std::string("\"nbf\":") + wrong)),
              "token: 'nbf' is missing or not a time");
    EXPECT_EQ(ClaimsError(With("\"iat\":1000", std::string("\"iat\":") + wrong)),
              "token: 'iat' is missing or not a time");
  }
  EXPECT_EQ(ClaimsError(With(",\"exp\":2000", "")), "token: 'exp' is missing or not a time");
  EXPECT_EQ(ReadClaims(With("2000", "2000.5"), kExpected)->expires, absl::FromUnixMillis(2'000'500));
  EXPECT_EQ(ReadClaims(With("\"nbf\":1000,", ""), kExpected)->not_before, absl::InfinitePast());
}

TEST(ClaimsTest, SubjectsThatAreNoIdentity) {
  for (const std::string& subject :
       {std::string(), std::string("a b"), std::string("a\\n"), std::string("\\u0000"), std::string("\\u00e9"),
        std::string("spiffe://"), std::string("SPIFFE://a/b"), std::string("spiffe:x"), std::string(256, 'a')}) {
    EXPECT_EQ(ClaimsError(With("prometheus", subject)), "token: 'sub' is not an identity") << subject;
  }
  EXPECT_TRUE(ReadClaims(With("prometheus", std::string(255, 'a')), kExpected).ok());
  EXPECT_EQ(ClaimsError(With("\"prometheus\"", "1")), "token: 'sub' is missing or not a string");
}

TEST(ClaimsTest, StrictJson) {
  EXPECT_EQ(ClaimsError("x"), "token: claims: not JSON");
  EXPECT_EQ(ClaimsError("[]"), "token: claims: not a JSON object");
  EXPECT_EQ(ClaimsError(With("\"sub\"", "\"sub\":\"ops\",\"sub\"")), "token: claims: a name occurs twice");
}

TEST(ClaimsTest, BothSidesOfBothBounds) {
  const TokenClaims claims = *ReadClaims(kGood, kExpected);
  const absl::Time begin = absl::FromUnixSeconds(1000) - kTokenLeeway, end = absl::FromUnixSeconds(2000) + kTokenLeeway;
  EXPECT_EQ(CheckTimes(claims, begin - absl::Nanoseconds(1)).message(), "token: it is not valid yet");
  EXPECT_TRUE(CheckTimes(claims, begin).ok());
  EXPECT_TRUE(CheckTimes(claims, end - absl::Nanoseconds(1)).ok());
  EXPECT_EQ(CheckTimes(claims, end).message(), "token: it has expired");
}

}  // namespace
}  // namespace sideband::daemon
