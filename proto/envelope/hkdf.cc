// SPDX-License-Identifier: Apache-2.0
#include "proto/envelope/hkdf.h"

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/params.h>

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

}  // namespace sideband::envelope
