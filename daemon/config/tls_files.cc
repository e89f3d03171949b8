// SPDX-License-Identifier: Apache-2.0
#include "daemon/config/tls_files.h"

#include <openssl/bio.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include "absl/strings/str_cat.h"
#include "proto/base/file.h"
#include "proto/base/status_macros.h"

namespace sideband::daemon {
namespace {

constexpr size_t kPemBytesMax = 1 << 20;

using BioPtr = std::unique_ptr<BIO, decltype(&BIO_free)>;
using CertificatePtr = std::unique_ptr<X509, decltype(&X509_free)>;
using KeyPtr = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;

// Without it OpenSSL would ask for a pass phrase on the terminal.
int NoPassPhrase(char*, int, int, void*) { return 0; }

BioPtr Reader(const std::string& pem) { return {BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())), BIO_free}; }

CertificatePtr ParseCertificate(const std::string& pem) {
  return {PEM_read_bio_X509(Reader(pem).get(), nullptr, NoPassPhrase, nullptr), X509_free};
}

KeyPtr ParseKey(const std::string& pem) {
  return {PEM_read_bio_PrivateKey(Reader(pem).get(), nullptr, NoPassPhrase, nullptr), EVP_PKEY_free};
}

absl::StatusOr<std::string> ReadPem(const std::string& path) {
  auto pem = ReadFile(path, kPemBytesMax);
  // Whatever is wrong with it, the configuration is at fault.
  if (!pem.ok()) return absl::InvalidArgumentError(pem.status().message());
  return pem;
}

absl::Status CheckCertificate(const std::string& pem, const std::string& path) {
  if (ParseCertificate(pem) != nullptr) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(path, ": not a certificate in PEM form"));
}

absl::Status CheckKey(const std::string& pem, const std::string& path, const std::string& certificate,
                      const std::string& certificate_path) {
  const KeyPtr key = ParseKey(pem);
  if (key == nullptr)
    return absl::InvalidArgumentError(absl::StrCat(path, ": not an unencrypted private key in PEM form"));
  if (X509_check_private_key(ParseCertificate(certificate).get(), key.get()) == 1) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(path, ": not the key of the certificate in ", certificate_path));
}

}  // namespace

absl::StatusOr<std::unique_ptr<TlsFiles>> TlsFiles::Load(const TlsServerConfig& config) {
  std::unique_ptr<TlsFiles> files(new TlsFiles);
  SIDEBAND_ASSIGN_OR_RETURN(files->certificates_, ReadPem(config.cert_file));
  SIDEBAND_RETURN_IF_ERROR(CheckCertificate(files->certificates_, config.cert_file));
  SIDEBAND_ASSIGN_OR_RETURN(files->key_, ReadPem(config.key_file));
  const absl::Status key = CheckKey(files->key_, config.key_file, files->certificates_, config.cert_file);
  // What OpenSSL left in its queue would be taken for the next caller's error.
  ERR_clear_error();
  SIDEBAND_RETURN_IF_ERROR(key);
  SIDEBAND_ASSIGN_OR_RETURN(files->client_ca_, ReadPem(config.client_ca_file));
  SIDEBAND_RETURN_IF_ERROR(CheckCertificate(files->client_ca_, config.client_ca_file));
  return files;
}

TlsFiles::~TlsFiles() { OPENSSL_cleanse(key_.data(), key_.size()); }

}  // namespace sideband::daemon
