// SPDX-License-Identifier: Apache-2.0
#include "daemon/config/fake_certificates.h"

#include <cstdlib>

namespace sideband::daemon {

FakeCa::FakeCa(const std::string& name, const std::string& folder) : ca_(*ThrowawayCa::Create(folder, name)) {}

CertificateFiles FakeCa::Issue(const std::string& name, const std::string& alternative_names) const {
  if (!ca_->Issue(name, alternative_names).ok()) std::abort();
  return {ca_->CertFile(name), ca_->KeyFile(name)};
}

TlsServerConfig FakeCa::Server() const {
  const CertificateFiles files = Issue("server", "DNS:localhost,IP:127.0.0.1");
  return {.cert_file = files.cert_file, .key_file = files.key_file, .client_ca_file = ca_file()};
}

}  // namespace sideband::daemon
