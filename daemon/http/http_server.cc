// SPDX-License-Identifier: Apache-2.0
#include "daemon/http/http_server.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <chrono>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "daemon/http/http_session.h"
#include "daemon/http/tls_context.h"
#include "proto/base/status_macros.h"

namespace sideband::daemon {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

// How long to wait after an accept that failed: mostly because file descriptors have run out, which takes time to pass.
constexpr std::chrono::milliseconds kAcceptRetry{100};

}  // namespace

class HttpServer::Impl {
 public:
  Impl(Options options, HttpHandler handler, std::unique_ptr<asio::ssl::context> tls)
      : options_(std::move(options)), handler_(std::move(handler)), tls_(std::move(tls)) {}
  ~Impl() { Stop(); }

  absl::Status Listen();
  void Run();
  void Stop();
  uint16_t port() const { return port_; }

 private:
  using Sessions = absl::flat_hash_map<HttpSession*, std::weak_ptr<HttpSession>>;

  void Accept();
  void OnAccept(const error_code& error, tcp::socket socket);
  void StartSession(tcp::socket socket);
  void Remove(HttpSession* session);
  bool NoSessions() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) { return sessions_.empty(); }
  std::vector<std::shared_ptr<HttpSession>> LiveSessions();

  const Options options_;
  const HttpHandler handler_;
  const std::unique_ptr<asio::ssl::context> tls_;
  uint16_t port_ = 0;

  absl::Mutex mu_;
  bool stopping_ ABSL_GUARDED_BY(mu_) = false;
  Sessions sessions_ ABSL_GUARDED_BY(mu_);

  // After the sessions' table: what its destruction destroys still takes itself out of the table.
  asio::io_context io_;
  // Used on its own strand only.
  tcp::acceptor acceptor_{asio::make_strand(io_)};
  asio::steady_timer retry_{acceptor_.get_executor()};
  std::vector<std::thread> threads_;  // running io_
};

absl::Status HttpServer::Impl::Listen() {
  error_code error;
  const auto& listen = options_.listener.listen;
  const auto fail = [&] {
    return absl::UnavailableError(absl::StrCat("http: cannot listen on ", listen.ToString(), ": ", error.message()));
  };
  const tcp::endpoint endpoint(asio::ip::make_address(listen.host, error), listen.port);
  if (error) return fail();
  if (acceptor_.open(endpoint.protocol(), error); error) return fail();
  if (acceptor_.set_option(tcp::acceptor::reuse_address(true), error); error) return fail();
  if (acceptor_.bind(endpoint, error); error) return fail();
  if (acceptor_.listen(asio::socket_base::max_listen_connections, error); error) return fail();
  port_ = acceptor_.local_endpoint(error).port();
  return error ? fail() : absl::OkStatus();
}

void HttpServer::Impl::Run() {
  asio::post(acceptor_.get_executor(), [this] { Accept(); });
  for (int i = 0; i < options_.threads; ++i) threads_.emplace_back([this] { io_.run(); });
}

void HttpServer::Impl::Accept() {
  acceptor_.async_accept(asio::make_strand(io_),
                         [this](const error_code& error, tcp::socket socket) { OnAccept(error, std::move(socket)); });
}

void HttpServer::Impl::OnAccept(const error_code& error, tcp::socket socket) {
  if (!acceptor_.is_open()) return;
  if (!error) {
    StartSession(std::move(socket));
    return Accept();
  }
  retry_.expires_after(kAcceptRetry);
  retry_.async_wait([this](const error_code&) {
    if (acceptor_.is_open()) Accept();
  });
}

void HttpServer::Impl::StartSession(tcp::socket socket) {
  error_code ignored;
  socket.set_option(tcp::no_delay(true), ignored);
  {
    absl::MutexLock lock(&mu_);
    if (stopping_ || sessions_.size() >= options_.connections_max) return;
  }
  auto session = std::make_shared<HttpSession>(std::move(socket), *tls_, options_, handler_,
                                               [this](HttpSession* ended) { Remove(ended); });
  bool late = false;
  {
    absl::MutexLock lock(&mu_);
    late = stopping_;
    sessions_.emplace(session.get(), session);
  }
  if (!late) session->Run();
}

void HttpServer::Impl::Remove(HttpSession* session) {
  absl::MutexLock lock(&mu_);
  sessions_.erase(session);
}

std::vector<std::shared_ptr<HttpSession>> HttpServer::Impl::LiveSessions() {
  absl::MutexLock lock(&mu_);
  std::vector<std::shared_ptr<HttpSession>> live;
  for (const auto& [key, session] : sessions_) {
    if (auto held = session.lock()) live.push_back(std::move(held));
  }
  return live;
}

void HttpServer::Impl::Stop() {
  {
    absl::MutexLock lock(&mu_);
    if (std::exchange(stopping_, true)) return;
  }
  asio::post(acceptor_.get_executor(), [this] {
    error_code ignored;
    acceptor_.close(ignored);
    retry_.cancel();
  });
  for (const auto& session : LiveSessions()) session->Stop();
  {
    absl::MutexLock lock(&mu_);
    mu_.AwaitWithTimeout(absl::Condition(this, &Impl::NoSessions), options_.stop_grace);
  }
  for (const auto& session : LiveSessions()) session->Abort();
  for (std::thread& thread : threads_) thread.join();
}

absl::StatusOr<std::unique_ptr<HttpServer>> HttpServer::Start(Options options, HttpHandler handler) {
  SIDEBAND_ASSIGN_OR_RETURN(std::unique_ptr<asio::ssl::context> tls, MakeTlsContext(options.listener.tls));
  auto impl = std::make_unique<Impl>(std::move(options), std::move(handler), std::move(tls));
  SIDEBAND_RETURN_IF_ERROR(impl->Listen());
  impl->Run();
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(impl)));
}

HttpServer::HttpServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
HttpServer::~HttpServer() = default;

uint16_t HttpServer::port() const { return impl_->port(); }
void HttpServer::Stop() { impl_->Stop(); }

}  // namespace sideband::daemon
