// SPDX-License-Identifier: Apache-2.0
//
// An issuer that signs tokens, for tests.
//   const FakeIssuer issuer = FakeIssuer::Es256("k1");
//   const auto keys = KeySet::Parse(JwksOf({&issuer}), "jwks.json");
//   const std::string token = issuer.Token(R"({"sub":"x","aud":"sideband","exp":1900000000})");
#ifndef SIDEBAND_DAEMON_IDENTITY_FAKE_ISSUER_H_
#define SIDEBAND_DAEMON_IDENTITY_FAKE_ISSUER_H_

#include <openssl/evp.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace sideband::daemon {

class FakeIssuer {
 public:
  // With a new key.
  static FakeIssuer Es256(const std::string& key_id);
  static FakeIssuer Rs256(const std::string& key_id, unsigned bits = 2048);
  // With the key of RFC 7515, A.3, so that a fuzzer's findings can be reproduced.
  static FakeIssuer OfRfc7515(const std::string& key_id);
  // Es256("k1"), always the same.
  static const FakeIssuer& Shared();

  // The public key as a JWK: one line, the members in a fixed order.
  std::string Jwk() const;
  // Signed, with the header {"alg":"…","kid":"…","typ":"JWT"}.
  std::string Token(absl::string_view claims) const;
  // Signed, with any header. The signature uses the key's algorithm, independent of the header's `alg`.
  std::string Sign(absl::string_view header, absl::string_view payload) const;
  std::string algorithm() const { return is_rsa_ ? "RS256" : "ES256"; }

 private:
  FakeIssuer(std::string key_id, EVP_PKEY* key, bool is_rsa);
  std::string Number(const char* name) const;

  std::string key_id_;
  std::shared_ptr<EVP_PKEY> key_;  // shared by copies
  bool is_rsa_;
};

std::string JwksOf(const std::vector<const FakeIssuer*>& issuers);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_IDENTITY_FAKE_ISSUER_H_
