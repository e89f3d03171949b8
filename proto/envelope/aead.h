// SPDX-License-Identifier: Apache-2.0
//
// AES-256-GCM (NIST SP 800-38D) by OpenSSL, in place. The caller owes a nonce that never repeats under a key.
#ifndef SIDEBAND_PROTO_ENVELOPE_AEAD_H_
#define SIDEBAND_PROTO_ENVELOPE_AEAD_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "absl/status/status.h"
#include "proto/base/bytes.h"
#include "proto/envelope/secret.h"

namespace sideband::envelope {

inline constexpr size_t kAeadKeyBytes = 32;
inline constexpr size_t kAeadNonceBytes = 12;
inline constexpr size_t kAeadTagBytes = 16;

using AeadNonce = std::array<uint8_t, kAeadNonceBytes>;

// Encrypts `text` where it lies and writes the tag. On an error (a key of another size, OpenSSL's refusal) `text` is
// wiped.
absl::Status AeadSeal(const Secret& key, const AeadNonce& nonce, ByteSpan aad, std::span<uint8_t> text,
                      std::span<uint8_t, kAeadTagBytes> tag);

// Decrypts `text` where it lies. Unless the tag fits, `text` is wiped and the status is INVALID_ARGUMENT, which says no
// more.
absl::Status AeadOpen(const Secret& key, const AeadNonce& nonce, ByteSpan aad, std::span<uint8_t> text,
                      std::span<const uint8_t, kAeadTagBytes> tag);

}  // namespace sideband::envelope

#endif  // SIDEBAND_PROTO_ENVELOPE_AEAD_H_
