// SPDX-License-Identifier: Apache-2.0
#include "daemon/identity/fake_issuer.h"

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/param_build.h>
#include <openssl/rsa.h>

#include <cstdlib>
#include <utility>

#include "absl/strings/str_cat.h"
#include "daemon/identity/key_set.h"

namespace sideband::daemon {
namespace {

constexpr int kCoordinateBytes = 32;

// No test can run without its keys.
template <typename T>
T Must(T value) {
  if (!value) std::abort();
  return value;
}

std::string BytesOf(const BIGNUM* number, int size) {
  std::string bytes(static_cast<size_t>(size), '\0');
  Must(BN_bn2binpad(number, reinterpret_cast<unsigned char*>(bytes.data()), size) == size);
  return bytes;
}

// R and S, each of 32 bytes (RFC 7518, 3.4), from OpenSSL's DER.
std::string Concatenated(const std::string& der) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(der.data());
  ECDSA_SIG* const signature = Must(d2i_ECDSA_SIG(nullptr, &bytes, static_cast<long>(der.size())));
  std::string both =
      BytesOf(ECDSA_SIG_get0_r(signature), kCoordinateBytes) + BytesOf(ECDSA_SIG_get0_s(signature), kCoordinateBytes);
  ECDSA_SIG_free(signature);
  return both;
}

EVP_PKEY* EcKey(const std::string& secret, const std::string& point) {
  BIGNUM* const number = BN_bin2bn(reinterpret_cast<const unsigned char*>(secret.data()), kCoordinateBytes, nullptr);
  OSSL_PARAM_BLD* const builder = OSSL_PARAM_BLD_new();
  OSSL_PARAM_BLD_push_utf8_string(builder, OSSL_PKEY_PARAM_GROUP_NAME, "prime256v1", 0);
  OSSL_PARAM_BLD_push_octet_string(builder, OSSL_PKEY_PARAM_PUB_KEY, point.data(), point.size());
  OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_PRIV_KEY, number);
  OSSL_PARAM* const parameters = Must(OSSL_PARAM_BLD_to_param(builder));
  EVP_PKEY_CTX* const context = EVP_PKEY_CTX_new_from_name(nullptr, "EC", nullptr);
  EVP_PKEY* key = nullptr;
  EVP_PKEY_fromdata_init(context);
  Must(EVP_PKEY_fromdata(context, &key, EVP_PKEY_KEYPAIR, parameters) == 1);
  EVP_PKEY_CTX_free(context);
  OSSL_PARAM_free(parameters);
  OSSL_PARAM_BLD_free(builder);
  BN_free(number);
  return key;
}

}  // namespace

FakeIssuer::FakeIssuer(std::string key_id, EVP_PKEY* key, bool is_rsa)
    : key_id_(std::move(key_id)), key_(Must(key), &EVP_PKEY_free), is_rsa_(is_rsa) {}

FakeIssuer FakeIssuer::Es256(const std::string& key_id) { return FakeIssuer(key_id, EVP_EC_gen("P-256"), false); }

const FakeIssuer& FakeIssuer::Shared() {
  static const auto* const issuer = new FakeIssuer(Es256("k1"));
  return *issuer;
}

FakeIssuer FakeIssuer::Rs256(const std::string& key_id, unsigned bits) {
  return FakeIssuer(key_id, EVP_RSA_gen(bits), true);
}

FakeIssuer FakeIssuer::OfRfc7515(const std::string& key_id) {
  const auto bytes = [](const char* text) { return *DecodeBase64Url(text); };
  return FakeIssuer(key_id,
                    EcKey(bytes("jpsQnnGQmL-YBIffH1136cspYG6-0iY7X1fCE9-E9LI"),
                          absl::StrCat("\x04", bytes("f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU"),
                                       bytes("x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"))),
                    false);
}

std::string FakeIssuer::Number(const char* name) const {
  BIGNUM* number = nullptr;
  Must(EVP_PKEY_get_bn_param(key_.get(), name, &number) == 1);
  std::string text = EncodeBase64Url(BytesOf(number, is_rsa_ ? BN_num_bytes(number) : kCoordinateBytes));
  BN_free(number);
  return text;
}

std::string FakeIssuer::Jwk() const {
  if (is_rsa_) {
    return absl::StrCat(R"({"kty":"RSA","kid":")", key_id_, R"(","use":"sig","alg":"RS256","n":")", Number("n"),
                        R"(","e":")", Number("e"), "\"}");
  }
  return absl::StrCat(R"({"kty":"EC","kid":")", key_id_, R"(","crv":"P-256","x":")", Number("qx"), R"(","y":")",
                      Number("qy"), "\"}");
}

std::string FakeIssuer::Token(absl::string_view claims) const {
  return Sign(absl::StrCat(R"({"alg":")", algorithm(), R"(","kid":")", key_id_, R"(","typ":"JWT"})"), claims);
}

std::string FakeIssuer::Sign(absl::string_view header, absl::string_view payload) const {
  const std::string input = absl::StrCat(EncodeBase64Url(header), ".", EncodeBase64Url(payload));
  EVP_MD_CTX* const context = EVP_MD_CTX_new();
  const auto* bytes = reinterpret_cast<const unsigned char*>(input.data());
  size_t size = 0;
  Must(EVP_DigestSignInit(context, nullptr, EVP_sha256(), nullptr, key_.get()) == 1);
  Must(EVP_DigestSign(context, nullptr, &size, bytes, input.size()) == 1);
  std::string signature(size, '\0');
  Must(EVP_DigestSign(context, reinterpret_cast<unsigned char*>(signature.data()), &size, bytes, input.size()) == 1);
  signature.resize(size);
  EVP_MD_CTX_free(context);
  return absl::StrCat(input, ".", EncodeBase64Url(is_rsa_ ? signature : Concatenated(signature)));
}

std::string JwksOf(const std::vector<const FakeIssuer*>& issuers) {
  std::string keys;
  for (const FakeIssuer* issuer : issuers) absl::StrAppend(&keys, keys.empty() ? "" : ",", "\n  ", issuer->Jwk());
  return absl::StrCat("{\"keys\": [", keys, "\n]}\n");
}

}  // namespace sideband::daemon
