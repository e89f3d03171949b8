// SPDX-License-Identifier: Apache-2.0
//
// AES-256-GCM (NIST SP 800-38D) by OpenSSL, in place. The caller must never repeat a nonce under a key.
#ifndef SIDEBAND_PROTO_ENVELOPE_AEAD_H_
#define SIDEBAND_PROTO_ENVELOPE_AEAD_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/base/bytes.h"
#include "proto/base/openssl.h"
#include "proto/envelope/secret.h"

namespace sideband::envelope {

inline constexpr size_t kAeadKeyBytes = 32;
inline constexpr size_t kAeadNonceBytes = 12;
inline constexpr size_t kAeadTagBytes = 16;

using AeadNonce = std::array<uint8_t, kAeadNonceBytes>;

// Encrypts `text` in place and writes the tag. On an error (wrong key size, OpenSSL failure) `text` is wiped.
absl::Status AeadSeal(const Secret& key, const AeadNonce& nonce, ByteSpan aad, std::span<uint8_t> text,
                      std::span<uint8_t, kAeadTagBytes> tag);
// Likewise, with the parts, one after the other, in place of the first bytes of `text`, which never has them: they must
// not be longer.
absl::Status AeadSeal(const Secret& key, const AeadNonce& nonce, ByteSpan aad, std::span<const ByteSpan> parts,
                      std::span<uint8_t> text, std::span<uint8_t, kAeadTagBytes> tag);

// Seals many texts under one key, which is expanded once: for short texts half of the work. OpenSSL keeps the expanded
// key in ordinary memory, and wipes it. Not thread-safe.
//   SIDEBAND_ASSIGN_OR_RETURN(AeadSealer sealer, AeadSealer::Create(key));
//   SIDEBAND_RETURN_IF_ERROR(sealer.Seal(nonce, aad, text, tag));
class AeadSealer {
 public:
  // INVALID_ARGUMENT for a key of another size, INTERNAL where OpenSSL fails.
  static absl::StatusOr<AeadSealer> Create(const Secret& key);
  // The same as AeadSeal.
  absl::Status Seal(const AeadNonce& nonce, ByteSpan aad, std::span<uint8_t> text,
                    std::span<uint8_t, kAeadTagBytes> tag);

 private:
  explicit AeadSealer(CipherContextPtr context) : context_(std::move(context)) {}

  CipherContextPtr context_;
};

// Decrypts `text` in place. If the tag does not match, wipes `text` and returns INVALID_ARGUMENT without further
// detail.
absl::Status AeadOpen(const Secret& key, const AeadNonce& nonce, ByteSpan aad, std::span<uint8_t> text,
                      std::span<const uint8_t, kAeadTagBytes> tag);

}  // namespace sideband::envelope

#endif  // SIDEBAND_PROTO_ENVELOPE_AEAD_H_
