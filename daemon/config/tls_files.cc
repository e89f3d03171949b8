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
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ctime>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "proto/base/file.h"
#include "proto/base/openssl.h"
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

constexpr size_t kKeyFileBytesMax = 64 << 10;

absl::Status FileError(const std::string& path, absl::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat(path, ": ", why));
}

// Memory from OpenSSL's secure heap, wiped when it is released.
class SecureBuffer {
 public:
  explicit SecureBuffer(size_t size) : data_(static_cast<char*>(OPENSSL_secure_zalloc(size))), size_(size) {}
  ~SecureBuffer() { OPENSSL_secure_clear_free(data_, size_); }
  SecureBuffer(const SecureBuffer&) = delete;
  SecureBuffer& operator=(const SecureBuffer&) = delete;

  char* data() const { return data_; }  // nullptr if the heap is full
  size_t size() const { return size_; }

 private:
  char* const data_;
  const size_t size_;
};

absl::StatusOr<size_t> SizeOf(int fd, const std::string& path) {
  struct stat file {};
  if (fstat(fd, &file) != 0) return FileError(path, std::strerror(errno));
  if (static_cast<size_t>(file.st_size) <= kKeyFileBytesMax) return file.st_size;
  return FileError(path, absl::StrCat("larger than ", kKeyFileBytesMax, " bytes"));
}

// Returns the number of bytes read; less than the buffer's size if the file was truncated meanwhile.
size_t ReadInto(int fd, const SecureBuffer& buffer) {
  size_t read_bytes = 0;
  while (read_bytes < buffer.size()) {
    const ssize_t got = read(fd, buffer.data() + read_bytes, buffer.size() - read_bytes);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    read_bytes += got;
  }
  return read_bytes;
}

absl::StatusOr<PrivateKey> ReadKey(const std::string& path) {
  const auto file = OpenForReading(path, FileTrust::kPrivate);
  // Every failure is an error of the configuration, whatever its original code.
  if (!file.ok()) return absl::InvalidArgumentError(file.status().message());
  SIDEBAND_ASSIGN_OR_RETURN(const size_t size, SizeOf(file->get(), path));
  const SecureBuffer pem(size + 1);  // an allocation of 0 bytes would return nullptr
  if (pem.data() == nullptr) return FileError(path, "no secure memory is left for it");
  const size_t read_bytes = ReadInto(file->get(), pem);
  KeyPtr key = ReadPrivateKey(MemoryReader({pem.data(), read_bytes}).get());
  ERR_clear_error();
  if (key == nullptr && absl::StrContains(absl::string_view(pem.data(), read_bytes), "ENCRYPTED")) {
    return FileError(path, absl::StrCat("the private key has a passphrase: openssl pkey -in ", path,
                                        " -out NEW.key writes it without"));
  }
  if (key == nullptr) return FileError(path, "not an unencrypted private key in PEM form");
  return PrivateKey(std::move(key));
}

// The keys in use, so that equal keys share one object.
class KeyPool {
 public:
  PrivateKey Share(PrivateKey key) {
    absl::MutexLock lock(&mu_);
    std::erase_if(keys_, [](const std::weak_ptr<EVP_PKEY>& known) { return known.expired(); });
    for (const std::weak_ptr<EVP_PKEY>& known : keys_) {
      PrivateKey shared = known.lock();
      if (shared != nullptr && EVP_PKEY_eq(shared.get(), key.get()) == 1) return shared;
    }
    keys_.push_back(key);
    return key;
  }

 private:
  absl::Mutex mu_;
  std::vector<std::weak_ptr<EVP_PKEY>> keys_ ABSL_GUARDED_BY(mu_);
};

KeyPool& Pool() {
  static KeyPool& pool = *new KeyPool;
  return pool;
}

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

absl::StatusOr<PrivateKey> LoadPrivateKey(const std::string& path) {
  SIDEBAND_ASSIGN_OR_RETURN(PrivateKey key, ReadKey(path));
  return Pool().Share(std::move(key));
}

}  // namespace sideband::daemon
