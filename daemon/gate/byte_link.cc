// SPDX-License-Identifier: Apache-2.0
#include "daemon/gate/byte_link.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <climits>

#include "proto/base/openssl_handle.h"

namespace sideband::daemon {
namespace {

using Outcome = ByteLink::Outcome;
using Result = ByteLink::Result;

class TlsLink final : public ByteLink {
 public:
  explicit TlsLink(SSL* ssl) : ssl_(ssl) {}

  Outcome Handshake() override {
    // SSL_get_error() also looks at the thread's error queue, where another connection may have left an entry.
    ERR_clear_error();
    return OutcomeOf(SSL_do_handshake(ssl_.get()));
  }

  Result Read(std::span<char> buffer) override {
    ERR_clear_error();
    return ResultOf(SSL_read(ssl_.get(), buffer.data(), static_cast<int>(std::min<size_t>(buffer.size(), INT_MAX))));
  }

  Result Write(absl::string_view bytes) override {
    ERR_clear_error();
    return ResultOf(SSL_write(ssl_.get(), bytes.data(), static_cast<int>(std::min<size_t>(bytes.size(), INT_MAX))));
  }

  void Shutdown() override {
    ERR_clear_error();
    // Sends close_notify, and does not wait for the peer's.
    SSL_shutdown(ssl_.get());
    shutdown(SSL_get_fd(ssl_.get()), SHUT_WR);
  }

  const SSL* tls() const override { return ssl_.get(); }

 private:
  Outcome OutcomeOf(int returned) {
    if (returned > 0) return Outcome::kDone;
    switch (SSL_get_error(ssl_.get(), returned)) {
      case SSL_ERROR_WANT_READ:
        return Outcome::kWantsRead;
      case SSL_ERROR_WANT_WRITE:
        return Outcome::kWantsWrite;
      default:  // SSL_get_error() values; all others are final
        return Outcome::kEnded;
    }
  }

  Result ResultOf(int returned) {
    const Outcome outcome = OutcomeOf(returned);
    return {outcome, outcome == Outcome::kDone ? static_cast<size_t>(returned) : 0};
  }

  const SslPtr ssl_;
};

class PlainLink final : public ByteLink {
 public:
  explicit PlainLink(int fd) : fd_(fd) {}

  Outcome Handshake() override { return Outcome::kDone; }
  Result Read(std::span<char> buffer) override {
    return ResultOf(recv(fd_, buffer.data(), buffer.size(), 0), Outcome::kWantsRead);
  }
  Result Write(absl::string_view bytes) override {
    return ResultOf(send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL), Outcome::kWantsWrite);
  }
  void Shutdown() override { shutdown(fd_, SHUT_WR); }
  const SSL* tls() const override { return nullptr; }

 private:
  static Result ResultOf(ssize_t returned, Outcome wanted) {
    if (returned > 0) return {Outcome::kDone, static_cast<size_t>(returned)};
    // EINTR is treated as "not ready": the caller waits and retries.
    const bool is_over = returned == 0 || (errno != EAGAIN && errno != EINTR);
    return {is_over ? Outcome::kEnded : wanted, 0};
  }

  const int fd_;
};

}  // namespace

std::unique_ptr<ByteLink> ByteLink::OverTls(int fd, SSL_CTX& context) {
  SSL* const ssl = SSL_new(&context);
  if (ssl == nullptr) return nullptr;
  // Owns `ssl` from here on.
  auto link = std::make_unique<TlsLink>(ssl);
  // The write buffer may move between retries, since the caller erases the written part.
  SSL_set_mode(ssl, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  // A record's header and body in one read of the socket. A reader goes on until the link wants to read, so that
  // nothing stays in OpenSSL's buffer.
  SSL_set_read_ahead(ssl, 1);
  SSL_set_accept_state(ssl);
  // OpenSSL does not close the descriptor: it stays the caller's.
  if (SSL_set_fd(ssl, fd) != 1) return nullptr;
  return link;
}

std::unique_ptr<ByteLink> ByteLink::Plain(int fd) { return std::make_unique<PlainLink>(fd); }

}  // namespace sideband::daemon
