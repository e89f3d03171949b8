// SPDX-License-Identifier: Apache-2.0
#include "proto/envelope/primitives.h"

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/params.h>

#include <algorithm>
#include <limits>
#include <memory>

#include "proto/base/openssl.h"
#include "proto/base/status_macros.h"
#include "proto/envelope/secret_access.h"

namespace sideband::envelope {
namespace {

constexpr size_t kHashBytes = 32;

KdfContextPtr NewHkdf() {
  const KdfPtr kdf(EVP_KDF_fetch(nullptr, "HKDF", nullptr));
  return KdfContextPtr(kdf == nullptr ? nullptr : EVP_KDF_CTX_new(kdf.get()));
}

// OSSL_PARAM takes a non-const pointer, but does not write to inputs.
OSSL_PARAM Input(const char* name, ByteSpan bytes) {
  return OSSL_PARAM_construct_octet_string(name, const_cast<uint8_t*>(bytes.data()), bytes.size());
}

// One of the two steps, with its other input.
absl::StatusOr<Secret> Derive(int mode, const Secret& key, const char* other_name, ByteSpan other, size_t size) {
  const KdfContextPtr context = NewHkdf();
  char digest[] = "SHA256";
  constexpr uint8_t kNothing = 0;  // OpenSSL does not accept a null pointer for an empty string
  const OSSL_PARAM parameters[] = {
      OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, digest, 0),
      OSSL_PARAM_construct_int(OSSL_KDF_PARAM_MODE, &mode),
      Input(OSSL_KDF_PARAM_KEY, key.Read(SecretAccess::Get())),
      Input(other_name, other.empty() ? ByteSpan(&kNothing, 0) : other),
      OSSL_PARAM_construct_end(),
  };
  Secret derived(size);
  if (context == nullptr ||
      EVP_KDF_derive(context.get(), derived.Write(SecretAccess::Get()).data(), size, parameters) != 1) {
    return absl::InternalError("OpenSSL cannot derive a key with HKDF-SHA256");
  }
  return derived;
}

enum class Direction : int { kOpen = 0, kSeal = 1 };

absl::Status CheckKey(const Secret& key) {
  if (key.size() == kAeadKeyBytes) return absl::OkStatus();
  return absl::InvalidArgumentError("AES-256-GCM needs a key of 32 bytes");
}

absl::Status CheckSizes(ByteSpan aad, ByteSpan text) {
  constexpr size_t kSizeMax = std::numeric_limits<int>::max();  // OpenSSL counts in int
  if (aad.size() > kSizeMax || text.size() > kSizeMax) return absl::InvalidArgumentError("text too long for AES-GCM");
  return absl::OkStatus();
}

// To look it up by name takes as long as to encrypt a kilobyte, so that it is looked up once.
const EVP_CIPHER* Cipher() {
  static const EVP_CIPHER* const cipher = EVP_CIPHER_fetch(nullptr, "AES-256-GCM", nullptr);
  return cipher;
}

// Of additional data, `out` is null.
bool Update(EVP_CIPHER_CTX* context, uint8_t* out, ByteSpan in) {
  int size = 0;
  return in.empty() || EVP_CipherUpdate(context, out, &size, in.data(), static_cast<int>(in.size())) == 1;
}

// OpenSSL's default nonce size is 12 bytes.
bool Begin(EVP_CIPHER_CTX* context, Direction direction, const Secret& key, const AeadNonce& nonce, ByteSpan aad) {
  return context != nullptr && Cipher() != nullptr &&
         EVP_CipherInit_ex2(context, Cipher(), key.Read(SecretAccess::Get()).data(), nonce.data(),
                            static_cast<int>(direction), nullptr) == 1 &&
         Update(context, nullptr, aad);
}

bool SealInto(EVP_CIPHER_CTX* context, std::span<const ByteSpan> parts, std::span<uint8_t> text,
              std::span<uint8_t, kAeadTagBytes> tag) {
  for (const ByteSpan part : parts) {
    if (part.size() > text.size() || !Update(context, text.data(), part)) return false;
    text = text.subspan(part.size());
  }
  int size = 0;
  return Update(context, text.data(), text) && EVP_CipherFinal_ex(context, nullptr, &size) == 1 &&
         EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, kAeadTagBytes, tag.data()) == 1;
}

}  // namespace

absl::StatusOr<Secret> HkdfExtract(ByteSpan salt, const Secret& key_material) {
  return Derive(EVP_KDF_HKDF_MODE_EXTRACT_ONLY, key_material, OSSL_KDF_PARAM_SALT, salt, kHashBytes);
}

absl::StatusOr<Secret> HkdfExpand(const Secret& prk, ByteSpan info, size_t size) {
  return Derive(EVP_KDF_HKDF_MODE_EXPAND_ONLY, prk, OSSL_KDF_PARAM_INFO, info, size);
}

absl::StatusOr<Secret> HkdfSha256(const Secret& key_material, ByteSpan salt, ByteSpan info, size_t size) {
  SIDEBAND_ASSIGN_OR_RETURN(const Secret prk, HkdfExtract(salt, key_material));
  return HkdfExpand(prk, info, size);
}

absl::Status AeadSeal(const Secret& key, const AeadNonce& nonce, ByteSpan aad, std::span<uint8_t> text,
                      std::span<uint8_t, kAeadTagBytes> tag) {
  return AeadSeal(key, nonce, aad, {}, text, tag);
}

absl::StatusOr<AeadSealer> AeadSealer::Create(const Secret& key) {
  SIDEBAND_RETURN_IF_ERROR(CheckKey(key));
  CipherContextPtr context(EVP_CIPHER_CTX_new());
  if (context == nullptr || Cipher() == nullptr ||
      EVP_CipherInit_ex2(context.get(), Cipher(), key.Read(SecretAccess::Get()).data(), nullptr,
                         static_cast<int>(Direction::kSeal), nullptr) != 1) {
    return absl::InternalError("OpenSSL cannot seal with AES-256-GCM");
  }
  return AeadSealer(std::move(context));
}

absl::Status AeadSealer::Seal(const AeadNonce& nonce, ByteSpan aad, std::span<uint8_t> text,
                              std::span<uint8_t, kAeadTagBytes> tag) {
  absl::Status status = CheckSizes(aad, text);
  if (status.ok() && (EVP_CipherInit_ex2(context_.get(), nullptr, nullptr, nonce.data(),
                                         static_cast<int>(Direction::kSeal), nullptr) != 1 ||
                      !Update(context_.get(), nullptr, aad) || !SealInto(context_.get(), {}, text, tag))) {
    status = absl::InternalError("OpenSSL cannot seal with AES-256-GCM");
  }
  if (!status.ok()) WipeBytes(text);
  return status;
}

absl::Status AeadSeal(const Secret& key, const AeadNonce& nonce, ByteSpan aad, std::span<const ByteSpan> parts,
                      std::span<uint8_t> text, std::span<uint8_t, kAeadTagBytes> tag) {
  absl::Status sizes = CheckKey(key);
  if (sizes.ok()) sizes = CheckSizes(aad, text);
  if (!sizes.ok()) {
    WipeBytes(text);
    return sizes;
  }
  const CipherContextPtr context(EVP_CIPHER_CTX_new());
  if (!Begin(context.get(), Direction::kSeal, key, nonce, aad) || !SealInto(context.get(), parts, text, tag)) {
    WipeBytes(text);
    return absl::InternalError("OpenSSL cannot seal with AES-256-GCM");
  }
  return absl::OkStatus();
}

absl::Status AeadOpen(const Secret& key, const AeadNonce& nonce, ByteSpan aad, std::span<uint8_t> text,
                      std::span<const uint8_t, kAeadTagBytes> tag) {
  SIDEBAND_RETURN_IF_ERROR(CheckKey(key));
  SIDEBAND_RETURN_IF_ERROR(CheckSizes(aad, text));
  const CipherContextPtr context(EVP_CIPHER_CTX_new());
  AeadNonce::value_type expected[kAeadTagBytes];  // the control takes no const
  std::copy(tag.begin(), tag.end(), expected);
  int size = 0;
  if (!Begin(context.get(), Direction::kOpen, key, nonce, aad) || !Update(context.get(), text.data(), text) ||
      EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_AEAD_SET_TAG, kAeadTagBytes, expected) != 1 ||
      EVP_CipherFinal_ex(context.get(), nullptr, &size) != 1) {
    // The tag is verified last; unauthenticated plaintext must not remain in memory.
    WipeBytes(text);
    return absl::InvalidArgumentError("not sealed with this key");
  }
  return absl::OkStatus();
}

}  // namespace sideband::envelope
