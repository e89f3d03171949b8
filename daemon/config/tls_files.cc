// SPDX-License-Identifier: Apache-2.0
#include "daemon/config/tls_files.h"

#include <openssl/asn1.h>
#include <openssl/bio.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <ctime>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "proto/base/file.h"
#include "proto/base/status_macros.h"

namespace sideband::daemon {
namespace {

constexpr size_t kPemBytesMax = 1 << 20;

using BioPtr = std::unique_ptr<BIO, decltype(&BIO_free)>;
using CertificatePtr = std::unique_ptr<X509, decltype(&X509_free)>;
using ContextPtr = std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)>;
using KeyPtr = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;

// Without it OpenSSL would ask for a pass phrase on the terminal.
int NoPassPhrase(char*, int, int, void*) { return 0; }

BioPtr Reader(const std::string& pem) { return {BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())), BIO_free}; }

KeyPtr ParseKey(const std::string& pem) {
  return {PEM_read_bio_PrivateKey(Reader(pem).get(), nullptr, NoPassPhrase, nullptr), EVP_PKEY_free};
}

absl::StatusOr<std::string> ReadPem(const std::string& path) {
  auto pem = ReadFile(path, kPemBytesMax);
  // Whatever is wrong with it, the configuration is at fault.
  if (!pem.ok()) return absl::InvalidArgumentError(pem.status().message());
  return pem;
}

// At least one, and nothing broken after it: half a file must not be taken for a whole one.
absl::StatusOr<std::vector<CertificatePtr>> ParseCertificates(const std::string& pem, const std::string& path) {
  const BioPtr reader = Reader(pem);
  std::vector<CertificatePtr> certificates;
  ERR_clear_error();
  while (X509* next = PEM_read_bio_X509(reader.get(), nullptr, NoPassPhrase, nullptr)) {
    certificates.emplace_back(next, X509_free);
  }
  if (certificates.empty()) return absl::InvalidArgumentError(absl::StrCat(path, ": not a certificate in PEM form"));
  if (ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE) return certificates;
  return absl::InvalidArgumentError(
      absl::StrCat(path, ": certificate ", certificates.size() + 1, " is not one in PEM form"));
}

absl::Status CheckKey(const std::string& pem, const TlsServerConfig& config, X509* certificate) {
  const KeyPtr key = ParseKey(pem);
  if (key == nullptr) {
    return absl::InvalidArgumentError(absl::StrCat(config.key_file, ": not an unencrypted private key in PEM form"));
  }
  if (X509_check_private_key(certificate, key.get()) == 1) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(config.key_file, ": not the key of the certificate in ", config.cert_file));
}

// What OpenSSL would say only when it is to use the certificate.
absl::Status CheckPolicy(X509* certificate, const std::string& path) {
  const ContextPtr context(SSL_CTX_new(TLS_server_method()), SSL_CTX_free);
  if (SSL_CTX_use_certificate(context.get(), certificate) == 1) return absl::OkStatus();
  const char* const reason = ERR_reason_error_string(ERR_peek_last_error());
  return absl::InvalidArgumentError(absl::StrCat(path, ": ", reason == nullptr ? "cannot be used" : reason));
}

absl::Time NotAfter(const X509* certificate) {
  std::tm utc{};
  if (ASN1_TIME_to_tm(X509_get0_notAfter(certificate), &utc) != 1) return absl::InfinitePast();
  return absl::FromTM(utc, absl::UTCTimeZone());
}

// What OpenSSL leaves in its queue would be taken for the next caller's error.
struct ErrorQueueCleaner {
  ~ErrorQueueCleaner() { ERR_clear_error(); }
};

}  // namespace

absl::StatusOr<std::unique_ptr<TlsFiles>> TlsFiles::Load(const TlsServerConfig& config) {
  const ErrorQueueCleaner cleaner;
  std::unique_ptr<TlsFiles> files(new TlsFiles);
  SIDEBAND_ASSIGN_OR_RETURN(files->certificates_, ReadPem(config.cert_file));
  SIDEBAND_ASSIGN_OR_RETURN(const auto chain, ParseCertificates(files->certificates_, config.cert_file));
  SIDEBAND_RETURN_IF_ERROR(CheckPolicy(chain[0].get(), config.cert_file));
  files->not_after_ = NotAfter(chain[0].get());
  SIDEBAND_ASSIGN_OR_RETURN(files->key_, ReadPem(config.key_file));
  SIDEBAND_RETURN_IF_ERROR(CheckKey(files->key_, config, chain[0].get()));
  if (config.client_auth == ClientAuth::kNone) return files;
  SIDEBAND_ASSIGN_OR_RETURN(files->client_ca_, ReadPem(config.client_ca_file));
  SIDEBAND_RETURN_IF_ERROR(ParseCertificates(files->client_ca_, config.client_ca_file).status());
  return files;
}

TlsFiles::~TlsFiles() { OPENSSL_cleanse(key_.data(), key_.size()); }

}  // namespace sideband::daemon
