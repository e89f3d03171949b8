// SPDX-License-Identifier: Apache-2.0
//
// A blocking TLS client for tests, on OpenSSL alone, so that it shares nothing with what it tests.
//   FakeHttpClient client(server->port(), ca.ca_file(), &certificate);
//   client.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
//   const std::string answer = client.ReceiveResponse();
#ifndef SIDEBAND_DAEMON_HTTP_FAKE_HTTP_CLIENT_H_
#define SIDEBAND_DAEMON_HTTP_FAKE_HTTP_CLIENT_H_

#include <openssl/types.h>

#include <cstdint>
#include <string>

#include "daemon/config/fake_certificates.h"

namespace sideband::daemon {

// Not thread-safe. Reads time out after ten seconds, which a test should never see.
class FakeHttpClient {
 public:
  // Connects to 127.0.0.1, from `source`; without a certificate where `certificate` is nullptr. `tls_version_max` is
  // OpenSSL's number.
  FakeHttpClient(uint16_t port, const std::string& ca_file, const CertificateFiles* certificate,
                 int tls_version_max = 0, const char* source = "127.0.0.1");
  ~FakeHttpClient();
  FakeHttpClient(const FakeHttpClient&) = delete;
  FakeHttpClient& operator=(const FakeHttpClient&) = delete;

  // Whether the client's side of the handshake went well; with TLS 1.3 a refused certificate shows at the first read.
  bool is_connected() const { return is_connected_; }
  // Of the certificate that the server has shown, in hexadecimal; empty where it has shown none.
  std::string server_serial() const;
  // The connection itself, for what TLS would not send. It stays the client's.
  int socket() const { return socket_; }
  void Send(const std::string& bytes);
  // Header and as much body as Content-Length says; what there is where the connection ends before.
  std::string ReceiveResponse(bool is_head = false);
  // Whether the server has closed the connection; waits until it does or sends something.
  bool IsClosed();

 private:
  bool ReadMore();

  SSL_CTX* context_;
  SSL* ssl_;
  int socket_;
  bool is_connected_ = false;
  std::string received_;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_HTTP_FAKE_HTTP_CLIENT_H_
