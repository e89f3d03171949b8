// SPDX-License-Identifier: Apache-2.0
//
// Key pairs of X25519 (RFC 7748) by OpenSSL, and their shared secret.
//   SIDEBAND_ASSIGN_OR_RETURN(const KeyPair own, KeyPair::Generate());
//   SIDEBAND_ASSIGN_OR_RETURN(const Secret shared, SharedSecret(own, public_key_of_peer));
#ifndef SIDEBAND_PROTO_HPKE_X25519_H_
#define SIDEBAND_PROTO_HPKE_X25519_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "absl/status/statusor.h"
#include "proto/envelope/secret.h"

namespace sideband::hpke {

using envelope::Secret;

inline constexpr size_t kX25519Bytes = 32;
using PublicKey = std::array<uint8_t, kX25519Bytes>;

// Immutable and movable.
class KeyPair {
 public:
  // INTERNAL if OpenSSL fails, or has no random numbers.
  static absl::StatusOr<KeyPair> Generate();
  // INVALID_ARGUMENT unless there are kX25519Bytes.
  static absl::StatusOr<KeyPair> OfPrivate(Secret private_key);

  const PublicKey& public_key() const { return public_key_; }
  const Secret& private_key() const { return private_key_; }

 private:
  KeyPair(Secret private_key, const PublicKey& public_key)
      : private_key_(std::move(private_key)), public_key_(public_key) {}

  Secret private_key_;
  PublicKey public_key_;
};

// INVALID_ARGUMENT for a public key of small order, with which the result would be zero whatever the private key (RFC
// 9180, section 7.1.4).
absl::StatusOr<Secret> SharedSecret(const KeyPair& own, const PublicKey& peer);

}  // namespace sideband::hpke

#endif  // SIDEBAND_PROTO_HPKE_X25519_H_
