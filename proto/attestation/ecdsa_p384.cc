// SPDX-License-Identifier: Apache-2.0
#include "proto/attestation/ecdsa_p384.h"

#include <openssl/bn.h>
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/err.h>

#include <algorithm>
#include <memory>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "proto/base/openssl.h"

namespace sideband::attestation {
namespace {

using SignaturePtr = std::unique_ptr<ECDSA_SIG, OpensslDeleter<ECDSA_SIG_free>>;

constexpr size_t kNumberBytes = 48;

// DER; empty for numbers that are too long.
Bytes SignatureToDer(const SnpNumber& r, const SnpNumber& s) {
  const auto is_zero = [](uint8_t byte) { return byte == 0; };
  const auto fits = [&](const SnpNumber& number) {
    return std::all_of(number.begin() + kNumberBytes, number.end(), is_zero);
  };
  const SignaturePtr signature(ECDSA_SIG_new());
  if (!fits(r) || !fits(s) || signature == nullptr) return {};
  // The signature owns its numbers.
  ECDSA_SIG_set0(signature.get(), BN_lebin2bn(r.data(), kNumberBytes, nullptr),
                 BN_lebin2bn(s.data(), kNumberBytes, nullptr));
  const int size = i2d_ECDSA_SIG(signature.get(), nullptr);
  if (size <= 0) return {};
  Bytes der(static_cast<size_t>(size));
  uint8_t* out = der.data();
  i2d_ECDSA_SIG(signature.get(), &out);
  return der;
}

SnpNumber FromBigNumber(const BIGNUM* number) {
  SnpNumber out{};
  BN_bn2lebinpad(number, out.data(), static_cast<int>(out.size()));
  return out;
}

}  // namespace

bool IsOnP384(const EVP_PKEY* key) {
  char curve[32] = {};
  return key != nullptr && EVP_PKEY_get_base_id(key) == EVP_PKEY_EC &&
         EVP_PKEY_get_group_name(key, curve, sizeof(curve), nullptr) == 1 && absl::string_view(curve) == "secp384r1";
}

bool IsSigned(EVP_PKEY* key, ByteSpan text, const SnpNumber& r, const SnpNumber& s) {
  if (!IsOnP384(key)) return false;
  const Bytes der = SignatureToDer(r, s);
  const DigestContextPtr context(EVP_MD_CTX_new());
  const bool is_signed = !der.empty() && context != nullptr &&
                         EVP_DigestVerifyInit(context.get(), nullptr, EVP_sha384(), nullptr, key) == 1 &&
                         EVP_DigestVerify(context.get(), der.data(), der.size(), text.data(), text.size()) == 1;
  ERR_clear_error();
  return is_signed;
}

absl::StatusOr<std::pair<SnpNumber, SnpNumber>> SignP384(EVP_PKEY* key, ByteSpan text) {
  const DigestContextPtr context(EVP_MD_CTX_new());
  size_t size = static_cast<size_t>(EVP_PKEY_get_size(key));
  Bytes der(size);
  if (!IsOnP384(key) || context == nullptr ||
      EVP_DigestSignInit(context.get(), nullptr, EVP_sha384(), nullptr, key) != 1 ||
      EVP_DigestSign(context.get(), der.data(), &size, text.data(), text.size()) != 1) {
    return absl::InternalError("OpenSSL cannot sign on P-384");
  }
  const uint8_t* in = der.data();
  const SignaturePtr signature(d2i_ECDSA_SIG(nullptr, &in, static_cast<long>(size)));
  return std::pair(FromBigNumber(ECDSA_SIG_get0_r(signature.get())), FromBigNumber(ECDSA_SIG_get0_s(signature.get())));
}

}  // namespace sideband::attestation
