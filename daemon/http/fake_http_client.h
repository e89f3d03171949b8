// SPDX-License-Identifier: Apache-2.0
//
// A blocking TLS client for tests, on OpenSSL alone: independent of the code under test.
//   FakeHttpClient client(server->port(), ca.ca_file(), &certificate);
//   client.Send(kGetRoot);
//   const std::string answer = client.ReceiveResponse();
#ifndef SIDEBAND_DAEMON_HTTP_FAKE_HTTP_CLIENT_H_
#define SIDEBAND_DAEMON_HTTP_FAKE_HTTP_CLIENT_H_

#include <openssl/types.h>

#include <cstdint>
#include <string>

#include "daemon/config/fake_certificates.h"

namespace sideband::daemon {

inline constexpr char kGetRoot[] = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";

// Not thread-safe. Reads time out after a minute, which is far beyond any expected delay.
class FakeHttpClient {
 public:
  // Connects to 127.0.0.1 from the address `source`. nullptr `certificate`: no client certificate. `tls_version_max` is
  // an OpenSSL constant such as TLS1_2_VERSION; 0: no maximum.
  FakeHttpClient(uint16_t port, const std::string& ca_file, const CertificateFiles* certificate,
                 int tls_version_max = 0, const char* source = "127.0.0.1");
  ~FakeHttpClient();
  FakeHttpClient(const FakeHttpClient&) = delete;
  FakeHttpClient& operator=(const FakeHttpClient&) = delete;

  // Whether the client's side of the handshake succeeded. With TLS 1.3 a rejected client certificate shows at the first
  // read only.
  bool is_connected() const { return is_connected_; }
  // The serial number of the server's certificate in hexadecimal; empty without a certificate.
  std::string server_serial() const;
  // The underlying socket, to bypass TLS. The client keeps the ownership.
  int socket() const { return socket_; }
  void Send(const std::string& bytes);
  // The header and a body of Content-Length bytes (none if `is_head`); less where the connection ends early.
  std::string ReceiveResponse(bool is_head = false);
  // Blocks until the server closes the connection (true); false where it sends data, or does neither in time.
  bool IsClosed();

 private:
  bool ReadMore();

  SSL_CTX* context_;
  SSL* ssl_;
  int socket_;
  bool is_connected_ = false;
  bool has_timed_out_ = false;  // of the last read
  std::string received_;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_HTTP_FAKE_HTTP_CLIENT_H_
