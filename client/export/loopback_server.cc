// SPDX-License-Identifier: Apache-2.0
#include "client/export/loopback_server.h"

#include <signal.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <boost/system/system_error.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <sstream>
#include <thread>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"

namespace sideband::client {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using Endpoint = asio::ip::tcp::endpoint;
using ErrorCode = beast::error_code;

constexpr std::chrono::seconds kTimeout{10};
constexpr std::chrono::milliseconds kAcceptAgain{100};
constexpr size_t kHeaderBytesMax = 8 << 10;

absl::StatusOr<Endpoint> Parse(const std::string& address) {
  const absl::Status malformed =
      absl::InvalidArgumentError(absl::StrCat("'", address, "' is not IP:PORT, such as 127.0.0.1:9879 or [::1]:9879"));
  const size_t colon = address.rfind(':');
  uint32_t port = 0;
  if (colon == std::string::npos || !absl::SimpleAtoi(address.substr(colon + 1), &port) || port > 65535) {
    return malformed;
  }
  std::string host = address.substr(0, colon);
  if (absl::StartsWith(host, "[") && absl::EndsWith(host, "]")) host = host.substr(1, host.size() - 2);
  ErrorCode error;
  const asio::ip::address ip = asio::ip::make_address(host, error);
  if (error) return malformed;
  if (!ip.is_loopback()) {
    return absl::InvalidArgumentError(
        absl::StrCat(host, " is not a loopback address: others could read the counts, which are served in plaintext"));
  }
  return Endpoint(ip, static_cast<uint16_t>(port));
}

// Threads that are started meanwhile receive no signals: those are for the thread that waits for them.
class BlockedSignals {
 public:
  BlockedSignals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~BlockedSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;

 private:
  sigset_t before_;
};

// One connection. Keeps itself alive while an operation is pending.
class Session : public std::enable_shared_from_this<Session> {
 public:
  // `open` counts the sessions.
  Session(asio::ip::tcp::socket socket, const LoopbackServer::Handler& handler, int& open)
      : stream_(std::move(socket)), handler_(handler), open_(open) {
    ++open_;
    parser_.header_limit(kHeaderBytesMax);
    parser_.body_limit(0);
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session() { --open_; }

  void Run() {
    stream_.expires_after(kTimeout);
    http::async_read(stream_, buffer_, parser_, [self = shared_from_this()](ErrorCode error, size_t) {
      if (!error) self->Answer();
    });
  }

 private:
  HttpReply ReplyTo(const http::request<http::empty_body>& request) const {
    if (request.method() != http::verb::get && request.method() != http::verb::head) {
      return {.status = 405, .body = "only GET and HEAD\n"};
    }
    const auto target = request.target();
    const absl::string_view path(target.data(), target.size());
    return handler_(path.substr(0, path.find('?')));
  }

  void Answer() {
    const auto& request = parser_.get();
    HttpReply reply = ReplyTo(request);
    response_.result(reply.status);
    response_.version(request.version());
    response_.keep_alive(false);
    response_.set(http::field::content_type, reply.content_type);
    response_.set(http::field::cache_control, "no-store");
    response_.content_length(reply.body.size());
    if (reply.status == 405) response_.set(http::field::allow, "GET, HEAD");
    if (request.method() != http::verb::head) response_.body() = std::move(reply.body);
    http::async_write(stream_, response_, [self = shared_from_this()](ErrorCode, size_t) { self->Close(); });
  }

  void Close() {
    ErrorCode ignored;
    stream_.socket().shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
  }

  beast::tcp_stream stream_;
  beast::flat_buffer buffer_;
  http::request_parser<http::empty_body> parser_;
  http::response<http::string_body> response_;
  const LoopbackServer::Handler& handler_;
  int& open_;
};

}  // namespace

class LoopbackServer::Impl {
 public:
  explicit Impl(Handler handler) : handler_(std::move(handler)) {}
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() {
    context_.stop();
    if (thread_.joinable()) thread_.join();
  }

  absl::Status Start(const Endpoint& endpoint) {
    try {
      acceptor_.open(endpoint.protocol());
      acceptor_.set_option(asio::socket_base::reuse_address(true));
      acceptor_.bind(endpoint);
      acceptor_.listen();
    } catch (const boost::system::system_error& error) {
      return absl::UnavailableError(error.code().message());
    }
    Accept();
    const BlockedSignals blocked;
    thread_ = std::thread([this] { context_.run(); });
    return absl::OkStatus();
  }

  std::string address() const {
    std::ostringstream text;
    text << acceptor_.local_endpoint();
    return text.str();
  }

 private:
  void Accept() {
    acceptor_.async_accept([this](ErrorCode error, asio::ip::tcp::socket socket) {
      if (error) return AcceptLater();
      // Beyond the bound, the socket closes here.
      if (open_ < kConnectionsMax) std::make_shared<Session>(std::move(socket), handler_, open_)->Run();
      Accept();
    });
  }

  // Without descriptors for another connection, for example.
  void AcceptLater() {
    pause_.expires_after(kAcceptAgain);
    pause_.async_wait([this](ErrorCode error) {
      if (!error) Accept();
    });
  }

  const Handler handler_;
  int open_ = 0;  // sessions; outlives the context, which destroys those that are pending
  asio::io_context context_{1};
  asio::ip::tcp::acceptor acceptor_{context_};
  asio::steady_timer pause_{context_};
  std::thread thread_;
};

LoopbackServer::LoopbackServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
LoopbackServer::~LoopbackServer() = default;

absl::StatusOr<std::unique_ptr<LoopbackServer>> LoopbackServer::Listen(const std::string& address, Handler handler) {
  SIDEBAND_ASSIGN_OR_RETURN(const Endpoint endpoint, Parse(address));
  auto impl = std::make_unique<Impl>(std::move(handler));
  if (const absl::Status started = impl->Start(endpoint); !started.ok()) {
    return absl::UnavailableError(absl::StrCat(address, ": ", started.message()));
  }
  return std::unique_ptr<LoopbackServer>(new LoopbackServer(std::move(impl)));
}

std::string LoopbackServer::address() const { return impl_->address(); }

}  // namespace sideband::client
