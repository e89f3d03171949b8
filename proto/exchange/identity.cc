// SPDX-License-Identifier: Apache-2.0
#include "proto/exchange/identity.h"

#include <openssl/err.h>
#include <openssl/evp.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "proto/base/file.h"
#include "proto/base/status_macros.h"
#include "proto/envelope/secret.h"
#include "proto/exchange/messages.h"

namespace sideband::exchange {
namespace {

template <typename Digest>
absl::StatusOr<Digest> DigestOf(const EVP_MD* algorithm, ByteSpan bytes) {
  Digest digest{};
  if (EVP_Digest(bytes.data(), bytes.size(), digest.data(), nullptr, algorithm, nullptr) != 1) {
    return absl::InternalError("OpenSSL cannot make a digest");
  }
  return digest;
}

constexpr char kThisProgram[] = "/proc/self/exe";
constexpr size_t kProgramBytesMax = size_t{1} << 30;

constexpr size_t kPemBytesMax = 1 << 20;

absl::Status NotIdentity(const std::string& path, absl::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat(path, ": ", why));
}

// P-256 and P-384.
bool IsUsable(EVP_PKEY* key) {
  const int bits = EVP_PKEY_get_bits(key);
  return EVP_PKEY_get_base_id(key) == EVP_PKEY_EC && (bits == 256 || bits == 384);
}

absl::StatusOr<KeyPtr> LoadKey(const std::string& path) {
  SIDEBAND_ASSIGN_OR_RETURN(std::string pem, ReadFile(path, kPemBytesMax, FileTrust::kPrivate));
  const envelope::ScopedWipe wipe(pem);
  KeyPtr key = ReadPrivateKey(MemoryReader(pem).get());
  ERR_clear_error();
  if (key == nullptr) return NotIdentity(path, "no private key in PEM form, or an encrypted one");
  if (!IsUsable(key.get())) return NotIdentity(path, "not a key on P-256 or P-384");
  return key;
}

bool IsSigned(EVP_PKEY* key, ByteSpan text, ByteSpan signature) {
  const DigestContextPtr context(EVP_MD_CTX_new());
  return context != nullptr && EVP_DigestVerifyInit(context.get(), nullptr, EVP_sha384(), nullptr, key) == 1 &&
         EVP_DigestVerify(context.get(), signature.data(), signature.size(), text.data(), text.size()) == 1;
}

}  // namespace

absl::StatusOr<Sha256Digest> Sha256(ByteSpan bytes) { return DigestOf<Sha256Digest>(EVP_sha256(), bytes); }

absl::StatusOr<Sha512Digest> Sha512(ByteSpan bytes) { return DigestOf<Sha512Digest>(EVP_sha512(), bytes); }

absl::StatusOr<Sha384Digest> MeasureThisProgram() {
  SIDEBAND_ASSIGN_OR_RETURN(const std::string program, ReadFile(kThisProgram, kProgramBytesMax));
  return DigestOf<Sha384Digest>(EVP_sha384(), AsBytes(program));
}

absl::StatusOr<SealerIdentity> SealerIdentity::Load(const std::string& certificate_file, const std::string& key_file) {
  SIDEBAND_ASSIGN_OR_RETURN(const CertificateChain chain, LoadCertificates(certificate_file));
  if (chain.size() > kCertificatesMax) return NotIdentity(certificate_file, "more than 8 certificates");
  SIDEBAND_ASSIGN_OR_RETURN(KeyPtr key, LoadKey(key_file));
  if (X509_check_private_key(chain.front().get(), key.get()) != 1) {
    ERR_clear_error();
    return NotIdentity(key_file, absl::StrCat("not the key of ", certificate_file));
  }
  std::vector<Bytes> certificates;
  for (const CertificatePtr& certificate : chain) certificates.push_back(ToDer(*certificate));
  return SealerIdentity(std::move(certificates), std::move(key));
}

absl::StatusOr<Bytes> SealerIdentity::Sign(ByteSpan text) const {
  const DigestContextPtr context(EVP_MD_CTX_new());
  size_t size = static_cast<size_t>(EVP_PKEY_get_size(key_.get()));
  Bytes signature(size);
  if (context == nullptr || EVP_DigestSignInit(context.get(), nullptr, EVP_sha384(), nullptr, key_.get()) != 1 ||
      EVP_DigestSign(context.get(), signature.data(), &size, text.data(), text.size()) != 1) {
    return absl::InternalError("OpenSSL cannot sign");
  }
  signature.resize(size);
  return signature;
}

absl::Status VerifySigned(const CertificateRoots& roots, const std::vector<ByteSpan>& certificates, ByteSpan text,
                          ByteSpan signature, std::optional<absl::Time> now) {
  CertificateChain chain;
  for (const ByteSpan der : certificates) {
    chain.push_back(FromDer(der));
    if (chain.back() == nullptr) return absl::PermissionDeniedError("the sealer's certificate is malformed");
  }
  if (const absl::Status trusted = roots.Verify(chain, now); !trusted.ok()) {
    return absl::PermissionDeniedError(absl::StrCat("the sealer's certificate is not trusted: ", trusted.message()));
  }
  EVP_PKEY* const key = X509_get0_pubkey(chain.front().get());
  if (key != nullptr && IsUsable(key) && IsSigned(key, text, signature)) return absl::OkStatus();
  ERR_clear_error();
  return absl::PermissionDeniedError("the sealer's signature is not of its certificate");
}

bool IsOfDevice(ByteSpan der, const Uuid& device) {
  const CertificatePtr certificate = FromDer(der);
  if (certificate == nullptr) return false;
  const GeneralNamesPtr names(
      static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(certificate.get(), NID_subject_alt_name, nullptr, nullptr)));
  const std::string expected = absl::StrCat("urn:uuid:", device.ToString());
  for (int i = 0; names != nullptr && i < sk_GENERAL_NAME_num(names.get()); ++i) {
    const GENERAL_NAME* const name = sk_GENERAL_NAME_value(names.get(), i);
    if (name->type != GEN_URI) continue;
    const ASN1_IA5STRING* const uri = name->d.uniformResourceIdentifier;
    const absl::string_view text(reinterpret_cast<const char*>(ASN1_STRING_get0_data(uri)),
                                 static_cast<size_t>(ASN1_STRING_length(uri)));
    if (text == expected) return true;
  }
  return false;
}

}  // namespace sideband::exchange
