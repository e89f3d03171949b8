// SPDX-License-Identifier: Apache-2.0
#include "daemon/identity/compact_jws.h"

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "daemon/identity/base64url.h"

namespace sideband::daemon {
namespace {

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
