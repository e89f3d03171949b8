// SPDX-License-Identifier: Apache-2.0
#include "daemon/identity/compact_jws.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"

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

}  // namespace

}  // namespace sideband::daemon
