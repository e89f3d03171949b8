// SPDX-License-Identifier: Apache-2.0
#include "proto/envelope/hkdf.h"

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/params.h>

#include <memory>

#include "proto/envelope/secret_access.h"

namespace sideband::envelope {
namespace {

using Context = std::unique_ptr<EVP_KDF_CTX, decltype(&EVP_KDF_CTX_free)>;

Context NewHkdf() {
  const std::unique_ptr<EVP_KDF, decltype(&EVP_KDF_free)> kdf(EVP_KDF_fetch(nullptr, "HKDF", nullptr), &EVP_KDF_free);
  return Context(kdf == nullptr ? nullptr : EVP_KDF_CTX_new(kdf.get()), &EVP_KDF_CTX_free);
}

// Parameters take no const, but an input is only read.
OSSL_PARAM Input(const char* name, ByteSpan bytes) {
  return OSSL_PARAM_construct_octet_string(name, const_cast<uint8_t*>(bytes.data()), bytes.size());
}

}  // namespace

absl::StatusOr<Secret> HkdfSha256(const Secret& key_material, ByteSpan salt, ByteSpan info, size_t size) {
  const Context context = NewHkdf();
  char digest[] = "SHA256";
  constexpr uint8_t kNothing = 0;  // OpenSSL takes no null pointer for an empty string
  const OSSL_PARAM parameters[] = {
      OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, digest, 0),
      Input(OSSL_KDF_PARAM_KEY, key_material.Read(SecretAccess::Get())),
      Input(OSSL_KDF_PARAM_SALT, salt.empty() ? ByteSpan(&kNothing, 0) : salt),
      Input(OSSL_KDF_PARAM_INFO, info.empty() ? ByteSpan(&kNothing, 0) : info),
      OSSL_PARAM_construct_end(),
  };
  Secret derived(size);
  if (context == nullptr ||
      EVP_KDF_derive(context.get(), derived.Write(SecretAccess::Get()).data(), size, parameters) != 1) {
    return absl::InternalError("OpenSSL cannot derive a key with HKDF-SHA256");
  }
  return derived;
}

}  // namespace sideband::envelope
