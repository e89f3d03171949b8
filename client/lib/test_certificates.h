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
  // For localhost and 127.0.0.1.
  std::string server_cert_file;
  std::string server_key_file;
  // spiffe://test/client.
  std::string client_cert_file;
  std::string client_key_file;

  // Makes new keys and files. Ends the test program on failure.
  static TestCertificates WriteTo(const std::string& folder);
  // Asks no client for a certificate.
  std::shared_ptr<grpc::ServerCredentials> ServerOnlyTls() const;
  // Asks every client for a certificate of the CA.
  std::shared_ptr<grpc::ServerCredentials> MutualTls() const;
};

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_LIB_TEST_CERTIFICATES_H_
