// SPDX-License-Identifier: Apache-2.0
//
// The symmetric primitives of a sealed record, by OpenSSL: HKDF-SHA256 (RFC 5869) and AES-256-GCM (NIST SP 800-38D).
//   SIDEBAND_ASSIGN_OR_RETURN(const Secret prk, HkdfExtract(salt, key_material));
//   SIDEBAND_ASSIGN_OR_RETURN(const Secret key, HkdfExpand(prk, info, 32));
#ifndef SIDEBAND_PROTO_ENVELOPE_PRIMITIVES_H_
#define SIDEBAND_PROTO_ENVELOPE_PRIMITIVES_H_

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

// HKDF. 32 bytes. INTERNAL if OpenSSL fails. An empty salt means 32 zero bytes, as in the RFC.
absl::StatusOr<Secret> HkdfExtract(ByteSpan salt, const Secret& key_material);
// `size` bytes, at most 255 * 32; the same error.
absl::StatusOr<Secret> HkdfExpand(const Secret& prk, ByteSpan info, size_t size);
// Extracts, then expands.
absl::StatusOr<Secret> HkdfSha256(const Secret& key_material, ByteSpan salt, ByteSpan info, size_t size);

// AES-256-GCM, in place. The caller must never repeat a nonce under a key.
inline constexpr size_t kAeadKeyBytes = 32;
inline constexpr size_t kAeadNonceBytes = 12;
inline constexpr size_t kAeadTagBytes = 16;

using AeadNonce = std::array<uint8_t, kAeadNonceBytes>;

// Encrypts `text` in place and writes the tag. On an error (wrong key size, OpenSSL failure) `text` is wiped.
absl::Status AeadSeal(const Secret& key, const AeadNonce& nonce, ByteSpan aad, std::span<uint8_t> text,
                      std::span<uint8_t, kAeadTagBytes> tag);
// Does the same with the parts, one after the other, in place of the first bytes of `text`, which never has them: they
// must not be longer.
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

#endif  // SIDEBAND_PROTO_ENVELOPE_PRIMITIVES_H_
