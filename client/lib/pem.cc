// SPDX-License-Identifier: Apache-2.0
#include "client/lib/pem.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <memory>

#include "absl/strings/str_cat.h"
#include "proto/base/file.h"
#include "proto/base/status_macros.h"

namespace sideband::client {
namespace {

constexpr size_t kPemSizeMax = 1 << 20;

using Certificate = std::unique_ptr<X509, decltype(&X509_free)>;
using PrivateKey = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;
using Bio = std::unique_ptr<BIO, decltype(&BIO_free)>;

Bio Reader(const std::string& text) {
  return Bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())), &BIO_free);
}

Certificate FirstCertificate(const std::string& pem) {
  return Certificate(PEM_read_bio_X509(Reader(pem).get(), nullptr, nullptr, nullptr), &X509_free);
}

// Never asks for a password on the terminal.
int NoPassword(char*, int, int, void*) { return -1; }

PrivateKey KeyOf(const std::string& pem) {
  return PrivateKey(PEM_read_bio_PrivateKey(Reader(pem).get(), nullptr, &NoPassword, nullptr), &EVP_PKEY_free);
}

absl::Status Bad(const std::string& path, absl::string_view what) {
  ERR_clear_error();
  return absl::InvalidArgumentError(absl::StrCat(path, ": ", what));
}

// Our certificate and its key.
absl::Status LoadOwn(const std::string& cert_file, const std::string& key_file, TlsMaterial& material) {
  SIDEBAND_ASSIGN_OR_RETURN(material.certificate, ReadFile(cert_file, kPemSizeMax));
  SIDEBAND_ASSIGN_OR_RETURN(material.key, ReadFile(key_file, kPemSizeMax));
  const Certificate certificate = FirstCertificate(material.certificate);
  if (certificate == nullptr) return Bad(cert_file, "no PEM certificate in it");
  const PrivateKey key = KeyOf(material.key);
  if (key == nullptr) return Bad(key_file, "no PEM private key in it (or one with a password)");
  if (X509_check_private_key(certificate.get(), key.get()) != 1) {
    return Bad(key_file, absl::StrCat("not the private key of ", cert_file));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<TlsMaterial> LoadTlsMaterial(const std::string& ca_file, const std::string& cert_file,
                                            const std::string& key_file) {
  TlsMaterial material;
  SIDEBAND_ASSIGN_OR_RETURN(material.ca, ReadFile(ca_file, kPemSizeMax));
  if (FirstCertificate(material.ca) == nullptr) return Bad(ca_file, "no PEM certificate in it");
  if (cert_file.empty() && key_file.empty()) return material;
  SIDEBAND_RETURN_IF_ERROR(LoadOwn(cert_file, key_file, material));
  return material;
}

}  // namespace sideband::client
