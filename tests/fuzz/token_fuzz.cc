// SPDX-License-Identifier: Apache-2.0
//
// Bearer tokens and the file with their keys. Only claims that the issuer has signed yield an identity.
//   Input: a first byte, modulo 3: 0 a token, 1 the claims of a token with a valid signature, 2 a JWKS file.
#include "daemon/identity/fake_issuer.h"
#include "daemon/identity/identity.h"
#include "daemon/identity/key_set.h"
#include "daemon/identity/token_verifier.h"
#include "tests/fuzz/fuzz_target.h"

namespace sideband::fuzz {
namespace {

using daemon::FakeIssuer;
using daemon::KeySet;

enum : uint8_t { kToken, kClaims, kKeys, kKinds };

constexpr char kSignedClaims[] =
    R"({"sub":"spiffe://e.org/a","aud":["x","sideband"],"iss":"https://i","nbf":1,"iat":1.5,"exp":2000000000})";
constexpr char kSignedIdentity[] = "spiffe://e.org/a";
const daemon::TokenExpectations kExpected = {.audience = "sideband", .issuer = "https://i"};

const FakeIssuer& Issuer() {
  static const auto* const issuer = new FakeIssuer(FakeIssuer::OfRfc7515("k1"));
  return *issuer;
}

const std::shared_ptr<const KeySet>& Keys() {
  static const auto* const keys =
      new std::shared_ptr<const KeySet>(*KeySet::Parse(daemon::JwksOf({&Issuer()}), "jwks.json"));
  return *keys;
}

// RFC 7515, A.2 and A.3: keys of both kinds.
constexpr char kBothKinds[] =
    R"({"keys":[{"kty":"EC","kid":"a3","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",)"
    R"("y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0","use":"sig","key_ops":["verify"]},)"
    R"({"kty":"RSA","kid":"a2","alg":"RS256","e":"AQAB","n":"ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPdd)"
    R"(xHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yRT-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf6)"
    R"(3kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK)"
    R"(-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ"}]})";

Bytes Input(uint8_t kind, const std::string& text) {
  Bytes bytes(text.begin(), text.end());
  bytes.insert(bytes.begin(), kind);
  return bytes;
}

void CheckToken(const std::string& token) {
  const daemon::FakeClock clock(absl::FromUnixSeconds(1'800'000'000));
  daemon::TokenVerifier verifier(kExpected, clock);
  const auto identity = verifier.Verify(Keys(), token);
  FUZZ_CHECK(identity.ok() ? *identity == kSignedIdentity : absl::IsUnauthenticated(identity.status()));
}

void CheckClaims(const std::string& payload) {
  const auto claims = daemon::ReadClaims(payload, kExpected);
  if (!claims.ok()) return;
  FUZZ_CHECK(daemon::IsIdentity(claims->identity) && !daemon::IsDnsIdentity(claims->identity));
  FUZZ_CHECK(claims->expires >= absl::UnixEpoch() && claims->expires < absl::InfiniteFuture());
  FUZZ_CHECK(absl::IsUnauthenticated(daemon::CheckTimes(*claims, claims->expires + daemon::kTokenLeeway)));
}

void CheckKeys(const std::string& text) {
  const auto keys = KeySet::Parse(text, "jwks.json");
  if (!keys.ok()) {
    FUZZ_CHECK(keys.status().message().substr(0, 10) == "jwks.json:");
    return;
  }
  FUZZ_CHECK((*keys)->size() <= daemon::kKeysMax);
}

std::vector<Bytes> Seeds() {
  return {Input(kToken, Issuer().Token(kSignedClaims)),
          Input(kToken, Issuer().Sign(R"({"alg":"none"})", kSignedClaims)),
          Input(kClaims, kSignedClaims),
          Input(kClaims, R"({"sub":"system:serviceaccount:a:b","aud":"sideband","iss":"https://i","exp":1e9})"),
          Input(kKeys, kBothKinds),
          Input(kKeys, daemon::JwksOf({&Issuer()}))};
}

int RunInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string text(reinterpret_cast<const char*>(data + 1), size - 1);
  switch (data[0] % kKinds) {
    case kToken:
      CheckToken(text);
      break;
    case kClaims:
      CheckClaims(text);
      break;
    default:
      CheckKeys(text);
  }
  return 0;
}

FUZZ_TARGET(token_fuzz);

}  // namespace
}  // namespace sideband::fuzz
