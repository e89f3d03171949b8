// SPDX-License-Identifier: Apache-2.0
//
// Throw-away certificates for tests over real TLS: a CA and what it signs, as files in a folder.
//   const FakeCa ca("ca", testing::TempDir());
//   const TlsServerConfig tls = ca.Server();
//   const CertificateFiles tenant = ca.Issue("tenant-a", "URI:spiffe://example.org/tenant-a");
#ifndef SIDEBAND_DAEMON_CONFIG_FAKE_CERTIFICATES_H_
#define SIDEBAND_DAEMON_CONFIG_FAKE_CERTIFICATES_H_

#include <openssl/types.h>

#include <memory>
#include <string>

#include "daemon/config/config.h"

namespace sideband::daemon {

struct CertificateFiles {
  std::string cert_file;
  std::string key_file;
};

// Aborts where OpenSSL or the file system fails: there is no test without certificates. Not thread-safe.
class FakeCa {
 public:
  // The CA's own files are FOLDER/NAME.crt and FOLDER/NAME.key.
  FakeCa(const std::string& name, std::string folder);
  ~FakeCa();

  const std::string& ca_file() const { return files_.cert_file; }
  // FOLDER/NAME.crt and FOLDER/NAME.key; `alternative_names` in OpenSSL's notation ("URI:…,DNS:…"), empty for none.
  CertificateFiles Issue(const std::string& name, const std::string& alternative_names) const;
  // A server for 127.0.0.1 and localhost, whose clients must be from this CA.
  TlsServerConfig Server() const;

 private:
  const std::string folder_;
  CertificateFiles files_;
  EVP_PKEY* key_;
  X509* certificate_;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_CONFIG_FAKE_CERTIFICATES_H_
