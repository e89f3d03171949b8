// SPDX-License-Identifier: Apache-2.0
//
// A public key that verifies token signatures, from a JWK (RFC 7517). The key determines the algorithm: P-256 is ES256,
// RSA is RS256. The algorithm in a token's header is only compared with it.
//   SIDEBAND_ASSIGN_OR_RETURN(const auto key, VerificationKey::FromJwk(node));
//   SIDEBAND_RETURN_IF_ERROR(key->Verify(token, jws));
#ifndef SIDEBAND_DAEMON_IDENTITY_VERIFICATION_KEY_H_
#define SIDEBAND_DAEMON_IDENTITY_VERIFICATION_KEY_H_

#include <cjose/jwk.h>

#include <cstddef>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "daemon/identity/compact_jws.h"
#include "proto/base/yaml.h"

namespace sideband::daemon {

inline constexpr size_t kRsaBitsMin = 2048;
inline constexpr size_t kRsaBitsMax = 8192;
inline constexpr size_t kKeyIdBytesMax = 256;

// Immutable, therefore thread-safe.
class VerificationKey {
 public:
  // INVALID_ARGUMENT with FILE:LINE for a private or symmetric key, a key without `kid`, of another type or curve, that
  // is not a point of the curve or not of kRsaBitsMin to kRsaBitsMax bits, or with another purpose (`use`, `key_ops`,
  // `alg`).
  static absl::StatusOr<std::unique_ptr<const VerificationKey>> FromJwk(const YamlNode& node);

  const std::string& id() const { return id_; }
  const std::string& algorithm() const { return algorithm_; }
  // `jws` must be ParseCompactJws(token). UNAUTHENTICATED with a reason unless this key has signed the token.
  absl::Status Verify(absl::string_view token, const CompactJws& jws) const;

 private:
  class JwkReader;
  struct Release {
    void operator()(cjose_jwk_t* jwk) const { cjose_jwk_release(jwk); }
  };

  VerificationKey() = default;

  std::string id_;
  std::string algorithm_;
  size_t signature_bytes_ = 0;
  std::unique_ptr<cjose_jwk_t, Release> jwk_;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_IDENTITY_VERIFICATION_KEY_H_
