// SPDX-License-Identifier: Apache-2.0
//
// Throw-away certificates for tests over real TLS.
//   const TestCertificates certificates = TestCertificates::WriteTo(testing::TempDir());
#ifndef SIDEBAND_CLIENT_LIB_TEST_CERTIFICATES_H_
#define SIDEBAND_CLIENT_LIB_TEST_CERTIFICATES_H_

#include <grpcpp/security/server_credentials.h>

#include <memory>
#include <string>

namespace sideband::client {

// Paths of PEM files in one folder.
struct TestCertificates {
  std::string ca_file;
  std::string server_cert_file;
  std::string server_key_file;
  // Identity: spiffe://test/client.
  std::string client_cert_file;
  std::string client_key_file;

  // Creates new keys and files; the server's certificate is for `server_names`. Aborts the test program on failure.
  static TestCertificates WriteTo(const std::string& folder,
                                  const std::string& server_names = "DNS:localhost,IP:127.0.0.1");
  // TLS without client certificates.
  std::shared_ptr<grpc::ServerCredentials> ServerOnlyTls() const;
  // TLS that requires from each client a certificate of the CA.
  std::shared_ptr<grpc::ServerCredentials> MutualTls() const;
};

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_LIB_TEST_CERTIFICATES_H_
