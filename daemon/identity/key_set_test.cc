// SPDX-License-Identifier: Apache-2.0
#include "daemon/identity/key_set.h"

#include <gtest/gtest.h>
#include <openssl/hmac.h>

#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "daemon/identity/fake_issuer.h"

namespace sideband::daemon {
namespace {

// RFC 7515, appendix C.
TEST(Base64UrlTest, VectorOfTheRfc) {
  const std::string bytes("\x03\xec\xff\xe0\xc1", 5);
  EXPECT_EQ(EncodeBase64Url(bytes), "A-z_4ME");
  EXPECT_EQ(DecodeBase64Url("A-z_4ME"), bytes);
}

TEST(Base64UrlTest, OneTextPerByteString) {
  EXPECT_EQ(DecodeBase64Url(""), "");
  for (const char* text : {"A", "A-z_4ME=", "A-z_4M E", "A-z_4MF", "A+z/4ME", "A-z_4ME\n", "AB", "AAB"}) {
    EXPECT_EQ(DecodeBase64Url(text), std::nullopt) << text;
  }
}

TEST(Base64UrlTest, EveryLengthSurvives) {
  std::string bytes;
  for (int size = 0; size < 70; ++size) {
    EXPECT_EQ(DecodeBase64Url(EncodeBase64Url(bytes)), bytes);
    bytes.push_back(static_cast<char>(37 * size));
  }
}

TEST(StrictJsonTest, ReadsAnObject) {
  const auto object = ParseJsonObject(R"( {"a": "x", "b": {"a": [1, {"a": 2}]}} )");
  ASSERT_TRUE(object.ok()) << object.status();
  EXPECT_EQ(*FindString(*object, "a"), "x");
  EXPECT_EQ(FindString(*object, "b"), nullptr) << "no text";
  EXPECT_EQ(FindString(*object, "c"), nullptr) << "absent";
}

TEST(StrictJsonTest, RefusesWhateverReadersDisagreeOn) {
  const std::string deep(5000, '[');
  for (const std::string& text :
       {std::string(""), std::string("x"), std::string("[1]"), std::string("\"a\""), std::string("null"),
        std::string("{\"a\":1}x"), std::string("{\"a\":1,}"), std::string("{a:1}"), std::string("{\"a\":1e999}"),
        std::string("{\"a\":NaN}"), std::string("{\"a\":01}"), std::string("// x\n{}"), std::string("{\"a\":\"\xff\"}"),
        std::string("{\"a\":\"\\ud800\"}"), std::string("{\"a\":1}\0", 8), "{\"a\":" + deep}) {
    EXPECT_FALSE(ParseJsonObject(text).ok()) << text.substr(0, 20);
  }
}

TEST(StrictJsonTest, ANameTwiceIsRefusedAtAnyDepth) {
  EXPECT_EQ(ParseJsonObject(R"({"a":1,"a":1})").status().message(), "a name occurs twice");
  EXPECT_EQ(ParseJsonObject(R"({"a":1,"\u0061":2})").status().message(), "a name occurs twice") << "escaped";
  EXPECT_EQ(ParseJsonObject(R"({"b":[{"a":1,"c":{},"a":1}]})").status().message(), "a name occurs twice");
  EXPECT_TRUE(ParseJsonObject(R"({"a":{"a":1},"b":{"a":1}})").ok());
}

std::string TokenOf(absl::string_view header) {
  return absl::StrCat(EncodeBase64Url(header), ".", EncodeBase64Url("payload"), ".", EncodeBase64Url("signature"));
}

TEST(CompactJwsTest, ReadsTheParts) {
  const auto jws = ParseCompactJws(TokenOf(R"({"alg":"ES256","kid":"k1","typ":"JWT","x5t":"ignored"})"));
  ASSERT_TRUE(jws.ok()) << jws.status();
  EXPECT_EQ(jws->algorithm, "ES256");
  EXPECT_EQ(jws->key_id, "k1");
  EXPECT_EQ(jws->payload, "payload");
  EXPECT_EQ(jws->signature, "signature");
  EXPECT_EQ(ParseCompactJws(TokenOf(R"({"alg":"ES256"})"))->key_id, std::nullopt);
  for (const char* type : {"JWT", "jwt", "at+jwt", "JOSE"}) {
    EXPECT_TRUE(ParseCompactJws(TokenOf(absl::StrCat(R"({"alg":"ES256","typ":")", type, "\"}"))).ok()) << type;
  }
}

TEST(CompactJwsTest, EveryFaultHasItsReason) {
  struct Case {
    std::string token;
    const char* message;
  };
  const std::string good = TokenOf(R"({"alg":"ES256"})");
  for (const Case& c : {
           Case{"", "token: not three parts"},
           Case{"a.b", "token: not three parts"},
           Case{good + ".", "token: not three parts"},
           Case{good + "=", "token: not base64url"},
           Case{" " + good, "token: not base64url"},
           Case{TokenOf("x"), "token: header: not JSON"},
           Case{TokenOf(R"(["ES256"])"), "token: header: not a JSON object"},
           Case{TokenOf(R"({"alg":"none","alg":"ES256"})"), "token: header: a name occurs twice"},
           Case{TokenOf("{}"), "token: header: no alg"},
           Case{TokenOf(R"({"alg":["ES256"]})"), "token: header: no alg"},
           Case{TokenOf(R"({"alg":"ES256","kid":1})"), "token: header: kid is not a string"},
           Case{TokenOf(R"({"alg":"ES256","typ":"secevent+jwt"})"), "token: header: typ is not JWT"},
           Case{TokenOf(R"({"alg":"ES256","typ":null})"), "token: header: typ is not JWT"},
           Case{TokenOf(R"({"alg":"ES256","crit":["b64"],"b64":false})"),
                "token: header: crit names extensions, and none is supported"},
       }) {
    const auto jws = ParseCompactJws(c.token);
    EXPECT_EQ(jws.status().code(), absl::StatusCode::kUnauthenticated) << c.token;
    EXPECT_EQ(jws.status().message(), c.message);
  }
}

TEST(CompactJwsTest, LengthIsBounded) {
  const std::string start = absl::StrCat(EncodeBase64Url(R"({"alg":"ES256"})"), "..");
  const size_t room = (kTokenBytesMax - start.size()) / 4 * 4;
  EXPECT_TRUE(ParseCompactJws(start + std::string(room, 'A')).ok());
  EXPECT_EQ(ParseCompactJws(start + std::string(kTokenBytesMax, 'A')).status().message(),
            "token: longer than 8192 bytes");
}

absl::StatusOr<std::unique_ptr<const VerificationKey>> FromJwk(const std::string& jwk) {
  return VerificationKey::FromJwk(*YamlNode::Parse(jwk, "jwks.json"));
}

absl::Status Verify(const std::string& jwk, const std::string& token) {
  const auto key = FromJwk(jwk);
  if (!key.ok()) return key.status();
  const auto jws = ParseCompactJws(token);
  return jws.ok() ? (*key)->Verify(token, *jws) : jws.status();
}

// RFC 7515, A.2: the key of A.2.1's JWK, without its private part, and the JWS. The RFC gives it no kid.
constexpr char kRfc7515Rs256Key[] =
    R"({"kty":"RSA","kid":"a2","n":"ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPME)"
    R"(zP1Pt0Bm4d4QlL-yRT-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9)"
    R"(e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2e)"
    R"(thFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ","e":"AQAB"})";
constexpr char kRfc7515Payload[] =
    "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ";
constexpr char kRfc7515Rs256Signature[] =
    "cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5jujGbds9uJdbF9CUAr7t1"
    "dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K0GarZRmB_eSN9383LcOLn6_dO--xi12jzDw"
    "usC-eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQGe77R"
    "w";

// RFC 7515, A.3.
constexpr char kRfc7515Es256Key[] =
    R"({"kty":"EC","kid":"a3","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",)"
    R"("y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"})";
constexpr char kRfc7515Es256Signature[] =
    "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q";

// RFC 7520, 3.3 (the key) and 4.1.3 (the JWS).
constexpr char kRfc7520Rs256Key[] =
    R"({"kty":"RSA","kid":"bilbo.baggins@hobbiton.example","use":"sig","n":"n4EPtAOCc9AlkeQHPzHStgAbgs7bTZLwUBZdR8_KuKP)"
    R"(EHLd4rHVTeT-O-XV2jRojdNhxJWTDvNd7nqQ0VEiZQHz_AJmSCpMaJMRBSFKrKb2wqVwGU_NsYOYL-QtiWN2lbzcEe6XC0dApr5ydQLrHqkHHig3)"
    R"(RBordaZ6Aj-oBHqFEHYpPe7Tpe-OfVfHd1E6cS6M1FZcD1NNLYD5lFHpPI9bTwJlsde3uhGqC0ZCuEHg8lhzwOHrtIQbS0FVbb9k3-tVTU4fg_3L)"
    R"(_vniUFAKwuCLqKnS2BYwdq_mzSnbLY7h_qixoR7jig3__kRhuaxwUkRz5iaiQkqgc5gHdrNP5zw","e":"AQAB"})";
constexpr char kRfc7520Rs256Token[] =
    "eyJhbGciOiJSUzI1NiIsImtpZCI6ImJpbGJvLmJhZ2dpbnNAaG9iYml0b24uZXhhbXBsZSJ9."
    "SXTigJlzIGEgZGFuZ2Vyb3VzIGJ1c2luZXNzLCBGcm9kbywgZ29pbmcgb3V0IHlvdXIgZG9vci4gWW91IHN0ZXAgb250byB0aGUgcm9hZCwgYW5kI"
    "GlmIHlvdSBkb24ndCBrZWVwIHlvdXIgZmVldCwgdGhlcmXigJlzIG5vIGtub3dpbmcgd2hlcmUgeW91IG1pZ2h0IGJlIHN3ZXB0IG9mZiB0by4."
    "MRjdkly7_-oTPTS3AXP41iQIGKa80A0ZmTuV5MEaHoxnW2e5CZ5NlKtainoFmKZopdHM1O2U4mwzJdQx996ivp83xuglII7PNDi84wnB-BDkoBwA7"
    "8185hX-Es4JIwmDLJK3lfWRa-XtL0RnltuYv746iYTh_qHRD68BNt1uSNCrUCTJDt5aAE6x8wW1Kt9eRo4QPocSadnHXFxnt8Is9UzpERV0ePPQdLu"
    "W3IS_de3xyIrDaLGdjluPxUAhb6L2aXic1U12podGU0KLUQSE_oI-ZnmKJ3F4uOZDnd6QZWJushZ41Axf_fcIe8u9ipH84ogoree7vjbU5y18kDquD"
    "g";

std::string Rfc7515Token(const std::string& header, const std::string& signature) {
  return absl::StrCat(EncodeBase64Url(header), ".", kRfc7515Payload, ".", signature);
}

TEST(VerificationKeyTest, VectorsOfTheRfcs) {
  const std::string rs256 = Rfc7515Token(R"({"alg":"RS256"})", kRfc7515Rs256Signature);
  EXPECT_EQ(rs256.substr(0, 20), "eyJhbGciOiJSUzI1NiJ9");
  EXPECT_EQ(Verify(kRfc7515Rs256Key, rs256), absl::OkStatus());
  EXPECT_EQ(Verify(kRfc7515Es256Key, Rfc7515Token(R"({"alg":"ES256"})", kRfc7515Es256Signature)), absl::OkStatus());
  EXPECT_EQ(Verify(kRfc7520Rs256Key, kRfc7520Rs256Token), absl::OkStatus());
  EXPECT_EQ(ParseCompactJws(kRfc7520Rs256Token)->payload.substr(0, 10), "It\xe2\x80\x99s a d");
}

// Flips all bits, including flips that leave the base64url alphabet.
void ExpectThatNoBitMayFlip(const std::string& jwk, std::string token) {
  const auto key = *FromJwk(jwk);
  const auto verifies = [&] {
    const auto jws = ParseCompactJws(token);
    return jws.ok() && key->Verify(token, *jws).ok();
  };
  ASSERT_TRUE(verifies());
  for (size_t bit = 0; bit < 8 * token.size(); ++bit) {
    token[bit / 8] = static_cast<char>(token[bit / 8] ^ (1 << bit % 8));
    EXPECT_FALSE(verifies()) << "bit " << bit;
    token[bit / 8] = static_cast<char>(token[bit / 8] ^ (1 << bit % 8));
  }
  for (size_t size = 0; size < token.size(); ++size) {
    EXPECT_NE(Verify(jwk, token.substr(0, size)), absl::OkStatus()) << "the first " << size << " bytes";
  }
}

TEST(VerificationKeyTest, NoBitMayFlip) {
  ExpectThatNoBitMayFlip(kRfc7515Es256Key, Rfc7515Token(R"({"alg":"ES256"})", kRfc7515Es256Signature));
  ExpectThatNoBitMayFlip(kRfc7515Rs256Key, Rfc7515Token(R"({"alg":"RS256"})", kRfc7515Rs256Signature));
}

TEST(VerificationKeyTest, SignaturesAreOfOneLength) {
  const std::string token = Rfc7515Token(R"({"alg":"ES256"})", "");
  const std::string halves = *DecodeBase64Url(kRfc7515Es256Signature);
  const std::string r = halves.substr(0, 32), s = halves.substr(32), zero(1, '\0');
  for (const std::string& wrong : {std::string(), r, zero + r + zero + s, halves + zero, zero + halves}) {
    EXPECT_EQ(Verify(kRfc7515Es256Key, token + EncodeBase64Url(wrong)).message(),
              "token: the signature has the wrong length");
  }
  EXPECT_EQ(Verify(kRfc7515Es256Key, token + EncodeBase64Url(std::string(64, '\0'))).message(),
            "token: the signature is wrong")
      << "r and s of zero (CVE-2022-21449 was of that kind)";
}

std::string HmacSigned(const std::string& header, const std::string& secret) {
  const std::string input = absl::StrCat(EncodeBase64Url(header), ".", kRfc7515Payload);
  std::string tag(32, '\0');
  unsigned size = 0;
  HMAC(EVP_sha256(), secret.data(), static_cast<int>(secret.size()),
       reinterpret_cast<const unsigned char*>(input.data()), input.size(), reinterpret_cast<unsigned char*>(tag.data()),
       &size);
  return absl::StrCat(input, ".", EncodeBase64Url(tag));
}

TEST(VerificationKeyTest, TheHeaderDoesNotChooseTheAlgorithm) {
  const FakeIssuer rsa = FakeIssuer::Rs256("k"), ec = FakeIssuer::Es256("k");
  for (const char* algorithm : {"none", "None", "", "HS256", "HS384", "HS512", "PS256", "RS384", "RS512", "ES384",
                                "ES512", "ES256K", "EdDSA", "rs256", "es256", "RS256\\u0000", "dir"}) {
    const std::string header = absl::StrCat(R"({"alg":")", algorithm, "\"}");
    for (const FakeIssuer* issuer : {&rsa, &ec}) {
      // Correctly signed, unsigned, and with the public key as the secret of an HMAC.
      for (const std::string& token :
           {issuer->Sign(header, "{}"), Rfc7515Token(header, ""), HmacSigned(header, issuer->Jwk())}) {
        const absl::Status refused = Verify(issuer->Jwk(), token);
        EXPECT_EQ(refused.code(), absl::StatusCode::kUnauthenticated) << header;
        EXPECT_EQ(refused.message().substr(0, 12), "token: alg '") << header;
      }
    }
  }
  EXPECT_FALSE(Verify(rsa.Jwk(), rsa.Sign(R"({"alg":"ES256"})", "{}")).ok());
  EXPECT_FALSE(Verify(ec.Jwk(), ec.Sign(R"({"alg":"RS256"})", "{}")).ok());
  EXPECT_FALSE(Verify(ec.Jwk(), rsa.Token("{}")).ok());
  EXPECT_TRUE(Verify(rsa.Jwk(), rsa.Token("{}")).ok());
  EXPECT_TRUE(Verify(ec.Jwk(), ec.Token("{}")).ok());
}

// A key in the token's header (RFC 7515, 4.1.2 to 4.1.5) is ignored.
TEST(VerificationKeyTest, ATokensOwnKeyDoesNotCount) {
  const FakeIssuer ours = FakeIssuer::Es256("k"), theirs = FakeIssuer::Es256("k");
  const std::string header = absl::StrCat(R"({"alg":"ES256","kid":"k","jwk":)", theirs.Jwk(), "}");
  EXPECT_EQ(Verify(ours.Jwk(), theirs.Sign(header, "{}")).message(), "token: the signature is wrong");
  EXPECT_EQ(Verify(ours.Jwk(), ours.Sign(header, "{}")), absl::OkStatus());
}

TEST(VerificationKeyTest, RsaIsOf2048To8192Bits) {
  EXPECT_TRUE(FromJwk(FakeIssuer::Rs256("k", 2048).Jwk()).ok());
  EXPECT_EQ(FromJwk(FakeIssuer::Rs256("k", 2040).Jwk()).status().message(),
            "jwks.json:1: key 'k': an RSA key must have 2048 to 8192 bits, not 2040");
  // An odd number of the right size: a modulus has no further check.
  //
  const auto of_bits = [](int bits) {
    std::string modulus((bits + 7) / 8, '\x55');
    modulus[0] = static_cast<char>(1 << (bits - 1) % 8);
    return absl::StrCat(R"({"kty":"RSA","kid":"k","e":"AQAB","n":")", EncodeBase64Url(modulus), "\"}");
  };
  EXPECT_FALSE(FromJwk(of_bits(2047)).ok());
  EXPECT_TRUE(FromJwk(of_bits(2048)).ok());
  EXPECT_TRUE(FromJwk(of_bits(8192)).ok());
  EXPECT_FALSE(FromJwk(of_bits(8193)).ok());
}

TEST(VerificationKeyTest, EveryFaultyKeyIsNamed) {
  struct Case {
    std::string from;
    std::string to;
    std::string message;
  };
  const std::string ec = kRfc7515Es256Key, rsa = kRfc7520Rs256Key;
  for (const Case& c : {
           Case{R"("kty":"EC",)", "", "key 'a3': 'kty' is missing"},
           Case{R"("kty":"EC")", R"("kty":"oct")", "key 'a3': kty 'oct' is neither EC nor RSA"},
           Case{R"("kty":"EC")", R"("kty":"OKP")", "key 'a3': kty 'OKP' is neither EC nor RSA"},
           Case{R"("kid":"a3",)", "", "key: 'kid' is missing"},
           Case{R"("kid":"a3")", R"("kid":"")", "expected a text"},
           Case{R"("kid":"a3")", absl::StrCat(R"("kid":")", std::string(257, 'k'), "\""),
                "key: kid is longer than 256 bytes"},
           Case{R"("kid":"a3")", R"("kid":"a3","kid":"a4")", "key 'kid' is given twice"},
           Case{"P-256", "P-384", "key 'a3': curve 'P-384' is not P-256"},
           Case{"P-256", "secp256k1", "key 'a3': curve 'secp256k1' is not P-256"},
           Case{R"("crv":"P-256",)", "", "key 'a3': 'crv' is missing"},
           Case{"f83O", "f83=", "key 'a3': 'x' is not base64url"},
           Case{"f83OJ3D2", "f83O", "key 'a3': 'x' does not have 32 bytes"},
           Case{"f83OJ3D2", "f84OJ3D2", "key 'a3': not a valid public key"},
           Case{R"("y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0")", R"("y":1)", "key 'a3': 'y' is not base64url"},
           Case{R"("crv")", R"("alg":"ES384","crv")", "key 'a3': alg is 'ES384', but this key is for ES256"},
           Case{R"("crv")", R"("alg":"RS256","crv")", "key 'a3': alg is 'RS256', but this key is for ES256"},
           Case{R"("crv")", R"("use":"enc","crv")", "key 'a3': use is 'enc', not 'sig' or 'jwt-svid'"},
           Case{R"("crv")", R"("key_ops":["verify","deriveKey"],"crv")", "key 'a3': key_ops is not [\"verify\"]"},
           Case{R"("crv")", R"("d":"jpsQ","crv")",
                "key 'a3': 'd' belongs to a private or symmetric key; only public keys are allowed"},
           Case{R"("kty":"EC")", R"("kty":"oct","k":"AAAA")", "key 'a3': kty 'oct' is neither EC nor RSA"},
           Case{R"("crv")", R"("k":"AAAA","crv")",
                "key 'a3': 'k' belongs to a private or symmetric key; only public keys are allowed"},
       }) {
    ASSERT_NE(ec.find(c.from), std::string::npos) << c.from;
    const auto key = FromJwk(absl::StrReplaceAll(ec, {{c.from, c.to}}));
    EXPECT_EQ(key.status().message(), "jwks.json:1: " + c.message);
    EXPECT_EQ(key.status().code(), absl::StatusCode::kInvalidArgument);
  }
  const std::string bilbo = "jwks.json:1: key 'bilbo.baggins@hobbiton.example': ";
  for (const Case& c : {
           Case{"AQAB", "AQ", "'e' is not an RSA exponent"},
           Case{"AQAB", "AA", "'e' is not an RSA exponent"},
           Case{"AQAB", "AQAA", "'e' is not an RSA exponent"},
           Case{"AQAB", "AAEAAQ", "'e' is not an RSA exponent"},
           Case{"AQAB", "AQAAAAAAAAAB", "'e' is not an RSA exponent"},
           Case{R"(,"e":"AQAB")", "", "'e' is missing"},
           Case{"P5zw", "P5zA", "'n' is not an RSA modulus"},
           Case{"\"n4EPtAOC", "\"AJ-B", "an RSA key must have 2048 to 8192 bits, not 2016"},
       }) {
    ASSERT_NE(rsa.find(c.from), std::string::npos) << c.from;
    EXPECT_EQ(FromJwk(absl::StrReplaceAll(rsa, {{c.from, c.to}})).status().message(), bilbo + c.message);
  }
  EXPECT_EQ(FromJwk("[]").status().message(), "jwks.json:1: expected a mapping (key: value)");
}

TEST(VerificationKeyTest, WhatOtherIssuersAddIsIgnored) {
  const std::string ec = kRfc7515Es256Key;
  for (const char* more : {R"("use":"sig",)", R"("use":"jwt-svid",)", R"("key_ops":["verify"],)", R"("alg":"ES256",)",
                           R"("x5c":["MII"],"x5t":"a","issuer":{"a":[1]},)"}) {
    EXPECT_TRUE(FromJwk(absl::StrReplaceAll(ec, {{R"("crv")", absl::StrCat(more, R"("crv")")}})).ok()) << more;
  }
}

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
      "jwks.json:3: key 'k2': 'd' belongs to a private or symmetric key; only public keys are allowed");
  EXPECT_EQ(KeySetError("{}"), "jwks.json:1: 'keys' is missing");
  EXPECT_EQ(KeySetError(""), "jwks.json:1: not a JSON object");
  EXPECT_EQ(KeySetError("{\"keys\": {}}"), "jwks.json:1: expected a list");
  EXPECT_EQ(KeySetError("{\"keys\": [1]}"), "jwks.json:1: expected a mapping (key: value)");
  EXPECT_EQ(KeySetError("{\"keys\": [\n"),
            "jwks.json:1: this '[' is not closed, a ',' is missing in it, or a text with brackets needs quotes");
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
