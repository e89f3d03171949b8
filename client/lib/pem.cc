// SPDX-License-Identifier: Apache-2.0
#include "client/lib/pem.h"

#include <openssl/err.h>
#include <openssl/x509.h>

#include <memory>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "proto/base/file.h"
#include "proto/base/openssl.h"
#include "proto/base/status_macros.h"

namespace sideband::client {
namespace {

constexpr size_t kPemSizeMax = 1 << 20;

CertificatePtr FirstCertificate(const std::string& pem) { return ReadCertificate(MemoryReader(pem).get()); }

constexpr char kPrivateKey[] = "PRIVATE KEY-----", kEncrypted[] = "ENCRYPTED";

absl::Status Bad(const std::string& path, absl::string_view what) {
  // OpenSSL's errors must not remain in the thread's queue.
  ERR_clear_error();
  return absl::InvalidArgumentError(absl::StrCat(path, ": ", what));
}

// Loads the client's certificate and key.
absl::Status LoadOwn(const std::string& cert_file, const std::string& key_file, TlsMaterial& material) {
  SIDEBAND_ASSIGN_OR_RETURN(material.certificate, ReadFile(cert_file, kPemSizeMax));
  SIDEBAND_ASSIGN_OR_RETURN(material.key, ReadFile(key_file, kPemSizeMax));
  const CertificatePtr certificate = FirstCertificate(material.certificate);
  if (certificate == nullptr && absl::StrContains(material.certificate, kPrivateKey)) {
    return Bad(cert_file, "a private key, not a certificate: are cert_file and key_file swapped?");
  }
  if (certificate == nullptr) return Bad(cert_file, "no PEM certificate in it");
  const KeyPtr key = ReadPrivateKey(MemoryReader(material.key).get());
  if (key == nullptr && absl::StrContains(material.key, kEncrypted)) {
    return Bad(key_file, absl::StrCat("the private key has a passphrase: openssl pkey -in ", key_file,
                                      " -out NEW.key writes it without"));
  }
  if (key == nullptr) return Bad(key_file, "no PEM private key in it");
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
