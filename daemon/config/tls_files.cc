// SPDX-License-Identifier: Apache-2.0
#include "daemon/config/tls_files.h"

#include <openssl/asn1.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <ctime>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "proto/base/file.h"
#include "proto/base/openssl_handle.h"
#include "proto/base/status_macros.h"

namespace sideband::daemon {
namespace {

constexpr size_t kPemBytesMax = 1 << 20;

absl::StatusOr<std::string> ReadPem(const std::string& path, FileTrust trust) {
  auto pem = ReadFile(path, kPemBytesMax, trust);
  // Every failure is an error of the configuration, whatever its original code.
  if (!pem.ok()) return absl::InvalidArgumentError(pem.status().message());
  return pem;
}

// Returns at least one certificate. A malformed block after it is an error, so that a truncated file is not accepted.
absl::StatusOr<std::vector<CertificatePtr>> ParseCertificates(const std::string& pem, const std::string& path) {
  const BioPtr reader = MemoryReader(pem);
  std::vector<CertificatePtr> certificates;
  ERR_clear_error();
  while (CertificatePtr next = ReadCertificate(reader.get())) certificates.push_back(std::move(next));
  if (certificates.empty()) return absl::InvalidArgumentError(absl::StrCat(path, ": not a certificate in PEM form"));
  // The end of the text is the only good reason to stop.
  if (ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE) return certificates;
  return absl::InvalidArgumentError(
      absl::StrCat(path, ": certificate ", certificates.size() + 1, " is not one in PEM form"));
}

absl::Status CheckKey(EVP_PKEY* key, const TlsServerConfig& config, X509* certificate) {
  if (X509_check_private_key(certificate, key) == 1) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(config.key_file, ": not the key of the certificate in ", config.cert_file));
}

// Applies OpenSSL's policy, which it otherwise checks only when a certificate is put to use.
absl::Status CheckPolicy(X509* certificate, const std::string& path) {
  const SslContextPtr context(SSL_CTX_new(TLS_server_method()));
  if (SSL_CTX_use_certificate(context.get(), certificate) == 1) return absl::OkStatus();
  const char* const reason = ERR_reason_error_string(ERR_peek_last_error());
  return absl::InvalidArgumentError(absl::StrCat(path, ": ", reason == nullptr ? "cannot be used" : reason));
}

absl::Time NotAfter(const X509* certificate) {
  std::tm utc{};
  if (ASN1_TIME_to_tm(X509_get0_notAfter(certificate), &utc) != 1) return absl::InfinitePast();
  return absl::FromTM(utc, absl::UTCTimeZone());
}

// Errors left in OpenSSL's per-thread queue would be attributed to the next caller.
struct ErrorQueueCleaner {
  ~ErrorQueueCleaner() { ERR_clear_error(); }
};

}  // namespace

absl::StatusOr<std::unique_ptr<TlsFiles>> TlsFiles::Load(const TlsServerConfig& config) {
  const ErrorQueueCleaner cleaner;
  std::unique_ptr<TlsFiles> files(new TlsFiles);
  SIDEBAND_ASSIGN_OR_RETURN(files->certificates_, ReadPem(config.cert_file, FileTrust::kNotWritable));
  SIDEBAND_ASSIGN_OR_RETURN(const auto chain, ParseCertificates(files->certificates_, config.cert_file));
  SIDEBAND_RETURN_IF_ERROR(CheckPolicy(chain[0].get(), config.cert_file));
  files->not_after_ = NotAfter(chain[0].get());
  SIDEBAND_ASSIGN_OR_RETURN(files->key_, LoadPrivateKey(config.key_file));
  SIDEBAND_RETURN_IF_ERROR(CheckKey(files->key_.get(), config, chain[0].get()));
  if (config.client_auth == ClientAuth::kNone) return files;
  SIDEBAND_ASSIGN_OR_RETURN(files->client_ca_, ReadPem(config.client_ca_file, FileTrust::kNotWritable));
  SIDEBAND_RETURN_IF_ERROR(ParseCertificates(files->client_ca_, config.client_ca_file).status());
  return files;
}

void CheckTlsFiles(const TlsServerConfig& config, ErrorList& errors) {
  const absl::Status loaded = TlsFiles::Load(config).status();
  errors.Add(loaded);
  if (config.client_auth == ClientAuth::kNone) return;
  // Load() stops at the first error and may not have read the client CA file.
  const auto pem = ReadPem(config.client_ca_file, FileTrust::kNotWritable);
  const absl::Status authority = pem.ok() ? ParseCertificates(*pem, config.client_ca_file).status() : pem.status();
  if (authority != loaded) errors.Add(authority);
}

}  // namespace sideband::daemon
