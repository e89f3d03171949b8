// SPDX-License-Identifier: Apache-2.0
#include "proto/hpke/x25519.h"

#include <openssl/evp.h>

#include <memory>

#include "proto/base/openssl.h"
#include "proto/envelope/secret_access.h"

namespace sideband::hpke {
namespace {

using envelope::SecretAccess;
using KeyContextPtr = std::unique_ptr<EVP_PKEY_CTX, OpensslDeleter<EVP_PKEY_CTX_free>>;

absl::Status OpensslFailed() { return absl::InternalError("OpenSSL cannot compute X25519"); }

KeyPtr PrivateKey(const Secret& key) {
  const ByteSpan bytes = key.Read(SecretAccess::Get());
  return KeyPtr(EVP_PKEY_new_raw_private_key(EVP_PKEY_X25519, nullptr, bytes.data(), bytes.size()));
}

KeyPtr NewKey() {
  const KeyContextPtr context(EVP_PKEY_CTX_new_id(EVP_PKEY_X25519, nullptr));
  EVP_PKEY* key = nullptr;
  if (context == nullptr || EVP_PKEY_keygen_init(context.get()) != 1) return nullptr;
  return EVP_PKEY_keygen(context.get(), &key) == 1 ? KeyPtr(key) : nullptr;
}

}  // namespace

absl::StatusOr<KeyPair> KeyPair::Generate() {
  const KeyPtr key = NewKey();
  Secret private_key(kX25519Bytes);
  size_t size = kX25519Bytes;
  if (key == nullptr ||
      EVP_PKEY_get_raw_private_key(key.get(), private_key.Write(SecretAccess::Get()).data(), &size) != 1) {
    return OpensslFailed();
  }
  return OfPrivate(std::move(private_key));
}

absl::StatusOr<KeyPair> KeyPair::OfPrivate(Secret private_key) {
  if (private_key.size() != kX25519Bytes) return absl::InvalidArgumentError("a private key of a wrong size");
  const KeyPtr key = PrivateKey(private_key);
  PublicKey public_key;
  size_t size = public_key.size();
  if (key == nullptr || EVP_PKEY_get_raw_public_key(key.get(), public_key.data(), &size) != 1) return OpensslFailed();
  return KeyPair(std::move(private_key), public_key);
}

absl::StatusOr<Secret> SharedSecret(const KeyPair& own, const PublicKey& peer) {
  const KeyPtr private_key = PrivateKey(own.private_key());
  const KeyPtr public_key(EVP_PKEY_new_raw_public_key(EVP_PKEY_X25519, nullptr, peer.data(), peer.size()));
  const KeyContextPtr context(private_key == nullptr ? nullptr : EVP_PKEY_CTX_new(private_key.get(), nullptr));
  if (context == nullptr || public_key == nullptr || EVP_PKEY_derive_init(context.get()) != 1 ||
      EVP_PKEY_derive_set_peer(context.get(), public_key.get()) != 1) {
    return OpensslFailed();
  }
  Secret shared(kX25519Bytes);
  size_t size = kX25519Bytes;
  // OpenSSL fails for a result of zero; the comparison does not rest on it.
  const bool is_derived = EVP_PKEY_derive(context.get(), shared.Write(SecretAccess::Get()).data(), &size) == 1;
  if (!is_derived || shared == Secret(kX25519Bytes)) return absl::InvalidArgumentError("a public key of small order");
  return shared;
}

}  // namespace sideband::hpke
