// SPDX-License-Identifier: Apache-2.0
#include "proto/envelope/hkdf.h"

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/params.h>

#include <memory>

#include "proto/base/openssl_handle.h"
#include "proto/envelope/secret_access.h"

namespace sideband::envelope {
namespace {

KdfContextPtr NewHkdf() {
  const KdfPtr kdf(EVP_KDF_fetch(nullptr, "HKDF", nullptr));
  return KdfContextPtr(kdf == nullptr ? nullptr : EVP_KDF_CTX_new(kdf.get()));
}

// OSSL_PARAM takes a non-const pointer, but does not write to inputs.
OSSL_PARAM Input(const char* name, ByteSpan bytes) {
  return OSSL_PARAM_construct_octet_string(name, const_cast<uint8_t*>(bytes.data()), bytes.size());
}

}  // namespace

absl::StatusOr<Secret> HkdfSha256(const Secret& key_material, ByteSpan salt, ByteSpan info, size_t size) {
  const KdfContextPtr context = NewHkdf();
  char digest[] = "SHA256";
  constexpr uint8_t kNothing = 0;  // OpenSSL does not accept a null pointer for an empty string
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
