// SPDX-License-Identifier: Apache-2.0
#include "daemon/http/fake_http_client.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <utility>

namespace sideband::daemon {
namespace {

sockaddr_in AddressOf(const char* host, uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  inet_pton(AF_INET, host, &address.sin_addr);
  return address;
}

int Connect(uint16_t port, const char* source) {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  const sockaddr_in from = AddressOf(source, 0), to = AddressOf("127.0.0.1", port);
  const timeval limit{.tv_sec = 60, .tv_usec = 0};
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
  // Errors need no check: the handshake then fails as well.
  static_cast<void>(bind(fd, reinterpret_cast<const sockaddr*>(&from), sizeof(from)));
  static_cast<void>(connect(fd, reinterpret_cast<const sockaddr*>(&to), sizeof(to)));
  return fd;
}

size_t ContentLength(const std::string& header) {
  const size_t at = header.find("Content-Length: ");
  return at == std::string::npos ? 0 : std::strtoul(header.c_str() + at + 16, nullptr, 10);
}

}  // namespace

FakeHttpClient::FakeHttpClient(uint16_t port, const std::string& ca_file, const CertificateFiles* certificate,
                               int tls_version_max, const char* source)
    : context_(SSL_CTX_new(TLS_client_method())), socket_(Connect(port, source)) {
  // Some tests write to a connection that the server has closed.
  std::signal(SIGPIPE, SIG_IGN);
  SSL_CTX_load_verify_locations(context_, ca_file.c_str(), nullptr);
  SSL_CTX_set_verify(context_, SSL_VERIFY_PEER, nullptr);
  if (tls_version_max != 0) SSL_CTX_set_max_proto_version(context_, tls_version_max);
  if (certificate != nullptr) {
    SSL_CTX_use_certificate_chain_file(context_, certificate->cert_file.c_str());
    SSL_CTX_use_PrivateKey_file(context_, certificate->key_file.c_str(), SSL_FILETYPE_PEM);
  }
  ssl_ = SSL_new(context_);
  SSL_set_fd(ssl_, socket_);
  is_connected_ = SSL_connect(ssl_) == 1;
}

FakeHttpClient::~FakeHttpClient() {
  SSL_free(ssl_);
  SSL_CTX_free(context_);
  close(socket_);
}

std::string FakeHttpClient::server_serial() const {
  const X509* const certificate = SSL_get0_peer_certificate(ssl_);
  if (certificate == nullptr) return "";
  const ASN1_INTEGER* const serial = X509_get0_serialNumber(certificate);
  const char* const digits = "0123456789abcdef";
  std::string text;
  for (int i = 0; i < ASN1_STRING_length(serial); ++i) {
    const unsigned char byte = ASN1_STRING_get0_data(serial)[i];
    text += {digits[byte >> 4], digits[byte & 15]};
  }
  return text;
}

void FakeHttpClient::Send(const std::string& bytes) { SSL_write(ssl_, bytes.data(), static_cast<int>(bytes.size())); }

bool FakeHttpClient::ReadMore() {
  char bytes[16384];
  errno = 0;
  const int size = SSL_read(ssl_, bytes, sizeof(bytes));
  has_timed_out_ = size <= 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
  if (size <= 0) return false;
  received_.append(bytes, size);
  return true;
}

std::string FakeHttpClient::ReceiveResponse(bool is_head) {
  size_t header_end = std::string::npos;
  while ((header_end = received_.find("\r\n\r\n")) == std::string::npos) {
    if (!ReadMore()) return std::exchange(received_, "");
  }
  const size_t size = header_end + 4 + (is_head ? 0 : ContentLength(received_.substr(0, header_end)));
  while (received_.size() < size && ReadMore()) {
  }
  std::string response = received_.substr(0, size);
  received_.erase(0, size);
  return response;
}

bool FakeHttpClient::IsClosed() { return !ReadMore() && !has_timed_out_; }

}  // namespace sideband::daemon
