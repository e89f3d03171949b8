// SPDX-License-Identifier: Apache-2.0
#include "client/lib/test_certificates.h"

#include <cstdlib>

#include "proto/base/file.h"
#include "proto/base/throwaway_ca.h"

namespace sideband::client {

TestCertificates TestCertificates::WriteTo(const std::string& folder, const std::string& server_names) {
  const auto ca = ThrowawayCa::Create(folder);
  if (!ca.ok() || !(*ca)->Issue("server", server_names).ok() ||
      !(*ca)->Issue("client", "URI:spiffe://test/client").ok()) {
    std::abort();
  }
  return {.ca_file = (*ca)->ca_file(),
          .server_cert_file = (*ca)->CertFile("server"),
          .server_key_file = (*ca)->KeyFile("server"),
          .client_cert_file = (*ca)->CertFile("client"),
          .client_key_file = (*ca)->KeyFile("client")};
}

std::shared_ptr<grpc::ServerCredentials> TestCertificates::ServerOnlyTls() const {
  grpc::SslServerCredentialsOptions options;
  options.pem_key_cert_pairs.push_back({*ReadFile(server_key_file), *ReadFile(server_cert_file)});
  return grpc::SslServerCredentials(options);
}

std::shared_ptr<grpc::ServerCredentials> TestCertificates::MutualTls() const {
  grpc::SslServerCredentialsOptions options(GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
  options.pem_root_certs = *ReadFile(ca_file);
  options.pem_key_cert_pairs.push_back({*ReadFile(server_key_file), *ReadFile(server_cert_file)});
  return grpc::SslServerCredentials(options);
}

}  // namespace sideband::client
