// SPDX-License-Identifier: Apache-2.0
//
// The files of a TLS listener, read and checked before any library sees them, so that an error names its file.
//   SIDEBAND_ASSIGN_OR_RETURN(const std::unique_ptr<TlsFiles> files, TlsFiles::Load(config.tls));
#ifndef SIDEBAND_DAEMON_CONFIG_TLS_FILES_H_
#define SIDEBAND_DAEMON_CONFIG_TLS_FILES_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "daemon/config/config.h"

namespace sideband::daemon {

// PEM texts. The key is wiped on destruction; TLS libraries keep copies of their own.
class TlsFiles {
 public:
  // INVALID_ARGUMENT where a file is missing or not PEM to its end, the key is encrypted or not the certificate's, or
  // OpenSSL's policy refuses either (a key that is too short). What has expired is taken: see not_after().
  static absl::StatusOr<std::unique_ptr<TlsFiles>> Load(const TlsServerConfig& config);
  ~TlsFiles();
  TlsFiles(const TlsFiles&) = delete;
  TlsFiles& operator=(const TlsFiles&) = delete;

  const std::string& certificates() const { return certificates_; }
  const std::string& key() const { return key_; }
  const std::string& client_ca() const { return client_ca_; }  // empty where no client is asked for a certificate
  // The end of the server certificate's own validity.
  absl::Time not_after() const { return not_after_; }
  // By the system's clock, as TLS itself judges.
  bool has_expired() const { return not_after_ <= absl::Now(); }

 private:
  TlsFiles() = default;

  std::string certificates_;
  std::string key_;
  std::string client_ca_;
  absl::Time not_after_;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_CONFIG_TLS_FILES_H_
