// SPDX-License-Identifier: Apache-2.0
#include "daemon/identity/token_verifier.h"

#include <gtest/gtest.h>

#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "daemon/identity/fake_issuer.h"

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

TEST(BearerTest, TakesTheToken) {
  EXPECT_EQ(BearerToken("Bearer a.b.c"), "a.b.c");
  EXPECT_EQ(BearerToken("bearer  a.b.c \t"), "a.b.c") << "a scheme has no case (RFC 7235, 2.1)";
}

TEST(BearerTest, AnythingElseIsNobodysToken) {
  for (const char* field :
       {"", "Bearer", "Bearer ", "Basic YTpi", "Bearera.b.c", "a.b.c", " Bearer a.b.c", "Bearer\ta"}) {
    EXPECT_EQ(BearerToken(field), "") << field;
  }
}

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

constexpr int64_t kNowSeconds = 1'800'000'000;

class TokenVerifierTest : public testing::Test {
 protected:
  static std::shared_ptr<const KeySet> Keys(const std::vector<const FakeIssuer*>& issuers) {
    return *KeySet::Parse(JwksOf(issuers), "jwks.json");
  }
  static std::string Claims(const std::string& subject, int64_t lifetime = 60) {
    return absl::StrCat(R"({"sub":")", subject, R"(","aud":"sideband","nbf":)", kNowSeconds, R"(,"exp":)",
                        kNowSeconds + lifetime, "}");
  }
  absl::StatusOr<std::string> Verify(absl::string_view token) { return verifier_.Verify(keys_, token); }

  const FakeIssuer ec_ = FakeIssuer::Es256("ec");
  const FakeIssuer rsa_ = FakeIssuer::Rs256("rsa");
  std::shared_ptr<const KeySet> keys_ = Keys({&ec_, &rsa_});
  FakeClock clock_{absl::FromUnixSeconds(kNowSeconds)};
  TokenVerifier verifier_{{.audience = "sideband"}, clock_};
};

TEST_F(TokenVerifierTest, TellsWhoseItIs) {
  EXPECT_EQ(*Verify(ec_.Token(Claims("a"))), "jwt:a");
  EXPECT_EQ(*Verify(rsa_.Token(Claims("spiffe://example.org/a"))), "spiffe://example.org/a");
}

TEST_F(TokenVerifierTest, TheKidChoosesTheKey) {
  const std::string claims = Claims("a");
  EXPECT_EQ(Verify(ec_.Sign(R"({"alg":"ES256"})", claims)).status().message(), "token: header: no kid");
  EXPECT_EQ(Verify(ec_.Sign(R"({"alg":"ES256","kid":"other"})", claims)).status().message(),
            "token: its key is unknown");
  EXPECT_EQ(Verify(ec_.Sign(R"({"alg":"ES256","kid":"rsa"})", claims)).status().message(),
            "token: alg 'ES256' is not the key's, which is RS256");
  const FakeIssuer impostor = FakeIssuer::Es256("ec");
  EXPECT_EQ(Verify(impostor.Token(claims)).status().message(), "token: the signature is wrong");
}

TEST_F(TokenVerifierTest, EveryReasonIsUnauthenticated) {
  for (const std::string& token : {std::string(), std::string("x"), std::string(kTokenBytesMax + 1, 'a'),
                                   ec_.Token("{}"), ec_.Token(Claims("a", -11)), ec_.Token(Claims("a b"))}) {
    EXPECT_EQ(Verify(token).status().code(), absl::StatusCode::kUnauthenticated);
  }
  EXPECT_EQ(verifier_.Verify(nullptr, ec_.Token(Claims("a"))).status().message(), "token: there are no keys");
}

TEST_F(TokenVerifierTest, AllOfItsTimeAndNoMore) {
  const std::string token = ec_.Token(Claims("a"));
  EXPECT_TRUE(Verify(token).ok());
  clock_.Advance(absl::Seconds(60) + kTokenLeeway - absl::Nanoseconds(1));
  EXPECT_TRUE(Verify(token).ok());
  clock_.Advance(absl::Nanoseconds(1));
  EXPECT_EQ(Verify(token).status().message(), "token: it has expired") << "though it was found good before";
  EXPECT_EQ(verifier_.cached(), 0u);
}

TEST_F(TokenVerifierTest, NotYet) {
  FakeClock early(absl::FromUnixSeconds(kNowSeconds) - kTokenLeeway - absl::Nanoseconds(1));
  TokenVerifier verifier({.audience = "sideband"}, early);
  const std::string token = ec_.Token(Claims("a"));
  EXPECT_EQ(verifier.Verify(keys_, token).status().message(), "token: it is not valid yet");
  early.Advance(absl::Nanoseconds(1));
  EXPECT_TRUE(verifier.Verify(keys_, token).ok());
}

TEST_F(TokenVerifierTest, RemembersGoodTokensOnly) {
  const std::string token = ec_.Token(Claims("a"));
  EXPECT_EQ(*Verify(token), *Verify(token));
  EXPECT_EQ(verifier_.cached(), 1u);
  EXPECT_FALSE(Verify(token + "A").ok());
  EXPECT_FALSE(Verify(ec_.Token(Claims("a", -60))).ok());
  EXPECT_EQ(verifier_.cached(), 1u);
}

TEST_F(TokenVerifierTest, AKeyThatIsGoneTakesItsTokensAlong) {
  const std::string by_ec = ec_.Token(Claims("a")), by_rsa = rsa_.Token(Claims("b"));
  EXPECT_TRUE(Verify(by_ec).ok());
  EXPECT_TRUE(Verify(by_rsa).ok());
  keys_ = Keys({&rsa_});
  EXPECT_EQ(Verify(by_ec).status().message(), "token: its key is unknown");
  EXPECT_TRUE(Verify(by_rsa).ok());
  const FakeIssuer renewed = FakeIssuer::Es256("ec");
  keys_ = Keys({&renewed});
  EXPECT_EQ(Verify(by_ec).status().message(), "token: the signature is wrong");
  EXPECT_TRUE(Verify(renewed.Token(Claims("a"))).ok());
}

TEST_F(TokenVerifierTest, ThreadsMayShareIt) {
  const std::string token = ec_.Token(Claims("a"));
  std::vector<std::jthread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      for (int i = 0; i < 20; ++i) {
        EXPECT_EQ(*Verify(token), "jwt:a");
        EXPECT_EQ(*Verify(ec_.Token(Claims(absl::StrCat("s", thread, "-", i)))), absl::StrCat("jwt:s", thread, "-", i));
      }
    });
  }
}

}  // namespace

}  // namespace sideband::daemon
