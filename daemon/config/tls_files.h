// SPDX-License-Identifier: Apache-2.0
//
// The files of a TLS listener. They are read and checked before a TLS library uses them, so that errors name the file.
//   SIDEBAND_ASSIGN_OR_RETURN(const std::unique_ptr<TlsFiles> files, TlsFiles::Load(config.tls));
#ifndef SIDEBAND_DAEMON_CONFIG_TLS_FILES_H_
#define SIDEBAND_DAEMON_CONFIG_TLS_FILES_H_

#include <openssl/types.h>

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "daemon/config/listener_config.h"
#include "proto/base/errors.h"

namespace sideband::daemon {

// Adds the error of Load() to `errors`, and an error of the client CA file if Load() did not reach it.
void CheckTlsFiles(const TlsServerConfig& config, ErrorList& errors);

// Loads the private key of a TLS listener such that memory contains it only once.
// The file is read into OpenSSL's secure heap (locked, excluded from core dumps) if the program has created it, parsed
// there and wiped. Listeners with the same key share one object.

// Shared by the listeners and the generations of their files. OpenSSL wipes the key when the last reference is
// released.
using PrivateKey = std::shared_ptr<EVP_PKEY>;

// INVALID_ARGUMENT "PATH: why" if the file cannot be read, is not a regular file, is world-readable, is larger than 64
// KiB, or does not contain an unencrypted private key in PEM form. Thread-safe.
absl::StatusOr<PrivateKey> LoadPrivateKey(const std::string& path);

// Certificates are held as PEM texts, the key only as OpenSSL's object (PrivateKey).
class TlsFiles {
 public:
  // INVALID_ARGUMENT if a file is missing, is world-writable (the key: also world-readable) or is not PEM to its end,
  // if the key is encrypted or does not belong to the certificate, or if OpenSSL's policy refuses the certificate or
  // key (for example a key that is too short). Whether clients can use it is not judged
  // (daemon/listen/tls_context.h).
  static absl::StatusOr<std::unique_ptr<TlsFiles>> Load(const TlsServerConfig& config);
  TlsFiles(const TlsFiles&) = delete;
  TlsFiles& operator=(const TlsFiles&) = delete;

  const std::string& certificates() const { return certificates_; }
  const PrivateKey& key() const { return key_; }
  const std::string& client_ca() const { return client_ca_; }  // empty if no client certificate is requested
  // End of validity of the server certificate.
  absl::Time not_after() const { return not_after_; }

 private:
  TlsFiles() = default;

  std::string certificates_;
  PrivateKey key_;
  std::string client_ca_;
  absl::Time not_after_;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_CONFIG_TLS_FILES_H_
