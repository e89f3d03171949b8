// SPDX-License-Identifier: Apache-2.0
#include "proto/envelope/aead.h"

#include <openssl/evp.h>

#include <algorithm>
#include <limits>
#include <memory>

#include "proto/base/openssl_handle.h"
#include "proto/base/status_macros.h"
#include "proto/envelope/secret_access.h"

namespace sideband::envelope {
namespace {

enum class Direction : int { kOpen = 0, kSeal = 1 };

absl::Status CheckSizes(const Secret& key, ByteSpan aad, ByteSpan text) {
  constexpr size_t kSizeMax = std::numeric_limits<int>::max();  // OpenSSL counts in int
  if (key.size() != kAeadKeyBytes) return absl::InvalidArgumentError("AES-256-GCM needs a key of 32 bytes");
  if (aad.size() > kSizeMax || text.size() > kSizeMax) return absl::InvalidArgumentError("text too long for AES-GCM");
  return absl::OkStatus();
}

// Processes the additional data and the text; the caller handles the tag.
bool Transform(EVP_CIPHER_CTX* context, Direction direction, const Secret& key, const AeadNonce& nonce, ByteSpan aad,
               std::span<uint8_t> text) {
  int size = 0;
  // OpenSSL's default nonce size is 12 bytes. A null output marks additional data.
  return context != nullptr &&
         EVP_CipherInit_ex2(context, EVP_aes_256_gcm(), key.Read(SecretAccess::Get()).data(), nonce.data(),
                            static_cast<int>(direction), nullptr) == 1 &&
         (aad.empty() || EVP_CipherUpdate(context, nullptr, &size, aad.data(), static_cast<int>(aad.size())) == 1) &&
         (text.empty() ||
          EVP_CipherUpdate(context, text.data(), &size, text.data(), static_cast<int>(text.size())) == 1);
}

}  // namespace

absl::Status AeadSeal(const Secret& key, const AeadNonce& nonce, ByteSpan aad, std::span<uint8_t> text,
                      std::span<uint8_t, kAeadTagBytes> tag) {
  if (absl::Status sizes = CheckSizes(key, aad, text); !sizes.ok()) {
    WipeBytes(text);
    return sizes;
  }
  const CipherContextPtr context(EVP_CIPHER_CTX_new());
  int size = 0;
  if (!Transform(context.get(), Direction::kSeal, key, nonce, aad, text) ||
      EVP_CipherFinal_ex(context.get(), nullptr, &size) != 1 ||
      EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_AEAD_GET_TAG, kAeadTagBytes, tag.data()) != 1) {
    WipeBytes(text);
    return absl::InternalError("OpenSSL cannot seal with AES-256-GCM");
  }
  return absl::OkStatus();
}

absl::Status AeadOpen(const Secret& key, const AeadNonce& nonce, ByteSpan aad, std::span<uint8_t> text,
                      std::span<const uint8_t, kAeadTagBytes> tag) {
  SIDEBAND_RETURN_IF_ERROR(CheckSizes(key, aad, text));
  const CipherContextPtr context(EVP_CIPHER_CTX_new());
  AeadNonce::value_type expected[kAeadTagBytes];  // the control takes no const
  std::copy(tag.begin(), tag.end(), expected);
  int size = 0;
  if (!Transform(context.get(), Direction::kOpen, key, nonce, aad, text) ||
      EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_AEAD_SET_TAG, kAeadTagBytes, expected) != 1 ||
      EVP_CipherFinal_ex(context.get(), nullptr, &size) != 1) {
    // The tag is verified last; unauthenticated plaintext must not remain in memory.
    WipeBytes(text);
    return absl::InvalidArgumentError("not sealed with this key");
  }
  return absl::OkStatus();
}

}  // namespace sideband::envelope
