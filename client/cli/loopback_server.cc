// SPDX-License-Identifier: Apache-2.0
#include "client/cli/loopback_server.h"

#include <signal.h>

#include <algorithm>
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
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "proto/base/status_macros.h"

namespace sideband::client {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using Endpoint = asio::ip::tcp::endpoint;
using ErrorCode = beast::error_code;

constexpr std::chrono::seconds kRequestTimeout{2};
constexpr std::chrono::seconds kAnswerTimeout{10};
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

// Whether HOST or HOST:PORT is this machine. Another name is one that a web page has made to point here.
bool IsThisMachine(absl::string_view host) {
  const size_t colon = host.rfind(':');
  const bool has_port = colon != absl::string_view::npos && !absl::EndsWith(host, "]");
  if (has_port) host = host.substr(0, colon);
  if (absl::EqualsIgnoreCase(host, "localhost")) return true;
  const bool is_bracketed = absl::ConsumePrefix(&host, "[") && absl::ConsumeSuffix(&host, "]");
  ErrorCode error;
  const asio::ip::address ip = asio::ip::make_address(std::string(host), error);
  return !error && ip.is_loopback() && ip.is_v6() == is_bracketed;
}

// The parts of a request's target (RFC 9112, section 3.2); the host is empty unless the target has one.
struct Target {
  absl::string_view host, path;
};

Target TargetOf(absl::string_view target) {
  absl::string_view host, rest = target;
  if (absl::StartsWithIgnoreCase(target, "http://")) {
    host = target.substr(7, target.find_first_of("/?", 7) - 7);
    rest = target.substr(7 + host.size());
  }
  const absl::string_view path = rest.substr(0, rest.find('?'));
  return {host, path.empty() ? "/" : path};
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
  Session(asio::ip::tcp::socket socket, const LoopbackServer::Handler& handler)
      : stream_(std::move(socket)), handler_(handler) {
    parser_.header_limit(kHeaderBytesMax);
    parser_.body_limit(0);
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // Whether its request has arrived.
  bool is_whole() const { return parser_.is_done(); }
  void Run() {
    stream_.expires_after(kRequestTimeout);
    http::async_read(stream_, buffer_, parser_, [self = shared_from_this()](ErrorCode error, size_t) {
      if (!error) self->Answer();
    });
  }
  void Abort() { stream_.close(); }

 private:
  HttpReply ReplyTo(const http::request<http::empty_body>& request) const {
    const auto hosts = request.count(http::field::host);
    if (hosts > 1 || (hosts == 0 && request.version() >= 11)) {
      return {.status = 400, .body = "a request needs exactly one Host field\n"};
    }
    const Target target = TargetOf({request.target().data(), request.target().size()});
    const auto field = request[http::field::host];
    const absl::string_view host = target.host.empty() ? absl::string_view(field.data(), field.size()) : target.host;
    // HTTP/1.0 needs no host. Browsers always send one.
    if ((hosts > 0 || !host.empty()) && !IsThisMachine(host)) {
      return {.status = 421, .body = "the host must be localhost or a loopback address\n"};
    }
    if (request.method() != http::verb::get && request.method() != http::verb::head) {
      return {.status = 405, .body = "only GET and HEAD\n"};
    }
    return handler_(target.path);
  }

  void Answer() {
    stream_.expires_after(kAnswerTimeout);
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
      MakeRoom();
      auto session = std::make_shared<Session>(std::move(socket), handler_);
      sessions_.push_back(session);
      session->Run();
      Accept();
    });
  }

  void MakeRoom() {
    std::erase_if(sessions_, [](const auto& session) { return session.expired(); });
    if (sessions_.size() < kConnectionsMax) return;
    auto oldest = std::ranges::find_if(sessions_, [](const auto& session) { return !session.lock()->is_whole(); });
    if (oldest == sessions_.end()) oldest = sessions_.begin();
    oldest->lock()->Abort();
    sessions_.erase(oldest);
  }

  // Without descriptors for another connection, for example.
  void AcceptLater() {
    pause_.expires_after(kAcceptAgain);
    pause_.async_wait([this](ErrorCode error) {
      if (!error) Accept();
    });
  }

  const Handler handler_;
  std::vector<std::weak_ptr<Session>> sessions_;  // that are open, oldest first
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
