// SPDX-License-Identifier: Apache-2.0
//
// Temporary certificates for tests with real TLS: a CA and the certificates that it signs, as files in a folder.
//   const FakeCa ca("ca", testing::TempDir());
//   const TlsServerConfig tls = ca.Server();
//   const CertificateFiles tenant = ca.Issue("tenant-a", "URI:spiffe://example.org/tenant-a");
#ifndef SIDEBAND_DAEMON_CONFIG_FAKE_CERTIFICATES_H_
#define SIDEBAND_DAEMON_CONFIG_FAKE_CERTIFICATES_H_

#include <cstdlib>
#include <memory>
#include <string>

#include "daemon/config/config.h"
#include "proto/base/throwaway_ca.h"

namespace sideband::daemon {

struct CertificateFiles {
  std::string cert_file;
  std::string key_file;
};

// A temporary CA. A failure aborts the test program. Not thread-safe.
class FakeCa {
 public:
  // Writes the CA's certificate to FOLDER/NAME.pem.
  FakeCa(const std::string& name, const std::string& folder) : ca_(*ThrowawayCa::Create(folder, name)) {}

  std::string ca_file() const { return ca_->ca_file(); }
  // Writes FOLDER/NAME.pem and FOLDER/NAME.key. `alternative_names` is in OpenSSL's notation ("URI:…,DNS:…"); empty:
  // none.
  CertificateFiles Issue(const std::string& name, const std::string& alternative_names) const {
    if (!ca_->Issue(name, alternative_names).ok()) std::abort();
    return {ca_->CertFile(name), ca_->KeyFile(name)};
  }
  // A server for 127.0.0.1 and localhost. Its clients need certificates of this CA.
  TlsServerConfig Server() const {
    const CertificateFiles files = Issue("server", "DNS:localhost,IP:127.0.0.1");
    return {.cert_file = files.cert_file, .key_file = files.key_file, .client_ca_file = ca_file()};
  }

 private:
  const std::unique_ptr<ThrowawayCa> ca_;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_CONFIG_FAKE_CERTIFICATES_H_
