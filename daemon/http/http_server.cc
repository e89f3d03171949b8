// SPDX-License-Identifier: Apache-2.0
#include "daemon/http/http_server.h"

#include <openssl/ssl.h>
#include <unistd.h>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"
#include "daemon/http/http_session.h"
#include "daemon/listen/acceptor.h"
#include "daemon/listen/connection_table.h"
#include "daemon/listen/listener_tls.h"
#include "proto/base/status_macros.h"
#include "proto/base/steady_time.h"

namespace sideband::daemon {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using Id = ConnectionTable::Id;
using Local = asio::local::stream_protocol;

constexpr char kListener[] = "http";

ConnectionTable::Limits LimitsOf(const HttpServer::Options& options) {
  return {.handshakes_max = options.handshakes_max,
          .known_max = options.connections_max,
          .per_identity_max = options.connections_per_identity_max};
}

}  // namespace

class HttpServer::Impl final : public HttpSessionOwner {
 public:
  Impl(Options options, HttpHandler handler, ListenerMetrics& metrics)
      : options_(std::move(options)), handler_(std::move(handler)), metrics_(metrics), table_(LimitsOf(options_)) {}
  ~Impl() override { Stop(); }

  absl::Status Listen();
  void Run();
  void Stop();
  uint16_t port() const { return acceptor_.port(); }
  void CheckCertificates();
  void ReloadCertificates();
  void Post(std::function<void()> task) { asio::post(io_, std::move(task)); }

  void OnSpeaks(Id id) override;
  void OnHandshakeFailed(Id id) override;
  bool MayStay(Id id, const ConnectionTable::Holder& holder) override;
  bool MayStayAs(Id id, const ConnectionTable::Holder& holder) override;
  void SetBusy(Id id, bool busy) override;
  void SetArriving(Id id) override;
  void OnBreach(Id, const char* reason) override { metrics_.ConnectionRefused(kListener, reason); }
  void OnEnd(Id id) override;

 private:
  using Sessions = absl::flat_hash_map<Id, std::weak_ptr<HttpSession>>;

  void UseTls(const ListenerTls::Loaded& loaded);
  void Add(int fd);
  void AddLocal(int fd, uint32_t user);
  // Registers the session that `make(id)` returns, and runs it.
  template <typename Make>
  void StartSession(Make make);
  void EvictLongestIdle();
  // Aborts a busy connection; shuts an idle one down in order (TLS close_notify).
  void Evict(std::optional<Id> id, const char* reason, bool is_busy = false);
  // Evicts the connection that the verdict names. Returns whether the new connection is admitted; counts `refusal` if
  // not.
  bool Apply(const ConnectionTable::Verdict& verdict, const char* refusal);
  bool NoSessions() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) { return sessions_.empty(); }
  std::vector<std::shared_ptr<HttpSession>> LiveSessions();
  HttpSessionContext Context() { return {.options = options_, .handler = handler_, .owner = *this, .tls = tls_.get()}; }

  const Options options_;
  const HttpHandler handler_;
  ListenerMetrics& metrics_;
  std::unique_ptr<ListenerTls> tls_;  // nullptr without a network listener

  absl::Mutex mu_;
  SteadyCondVar changed_;  // sessions_ changed
  bool stopping_ ABSL_GUARDED_BY(mu_) = false;
  Id next_id_ ABSL_GUARDED_BY(mu_) = 1;
  ConnectionTable table_ ABSL_GUARDED_BY(mu_);
  Sessions sessions_ ABSL_GUARDED_BY(mu_);

  // Declared after sessions_: destroying it destroys the remaining sessions, whose destructors call OnEnd.
  asio::io_context io_;
  asio::executor_work_guard<asio::io_context::executor_type> work_ = asio::make_work_guard(io_);
  Acceptor acceptor_{io_, kListener, metrics_};
  uint64_t tls_version_ = 0;
  std::shared_ptr<asio::ssl::context> tls_context_;  // shared with the sessions
  std::vector<std::thread> threads_;                 // running io_
};

absl::Status HttpServer::Impl::Listen() {
  if (options_.listener.on_network) {
    SIDEBAND_ASSIGN_OR_RETURN(
        tls_, ListenerTls::Create(kListener, options_.listener.tls, ApplicationProtocol::kAny, metrics_));
    UseTls(tls_->Current());
  }
  return acceptor_.Open(options_.listener, options_.local_operators, options_.inherited_socket);
}

void HttpServer::Impl::UseTls(const ListenerTls::Loaded& loaded) {
  tls_version_ = loaded.version;
  // asio::ssl::context takes ownership of one reference.
  SSL_CTX_up_ref(loaded.context.get());
  tls_context_ = std::make_shared<asio::ssl::context>(loaded.context.get());
}

void HttpServer::Impl::Run() {
  acceptor_.Start({.client = [this](int fd) { Add(fd); },
                   .local_operator = [this](int fd, const SocketPeer& peer) { AddLocal(fd, peer.user); },
                   .exhausted = [this] { EvictLongestIdle(); }});
  // No mask for SIGPIPE as in the gate: Asio sends with MSG_NOSIGNAL, also below TLS.
  for (int i = 0; i < options_.threads; ++i) threads_.emplace_back([this] { io_.run(); });
}

void HttpServer::Impl::Add(int fd) {
  // New certificates apply to new connections only.
  if (const auto loaded = tls_->Current(); loaded.version != tls_version_) UseTls(loaded);
  tcp::socket socket(asio::make_strand(io_));
  boost::system::error_code error;
  socket.assign(acceptor_.protocol(), fd, error);
  if (error) {
    ::close(fd);
    return metrics_.ConnectionRefused(kListener, "no_memory");
  }
  StartSession([&](Id id) { return MakeTlsSession(id, std::move(socket), tls_context_, Context()); });
}

void HttpServer::Impl::AddLocal(int fd, uint32_t user) {
  StartSession(
      [&](Id id) { return MakeLocalSession(id, Local::socket(asio::make_strand(io_), Local(), fd), user, Context()); });
}

void HttpServer::Impl::EvictLongestIdle() {
  std::optional<Id> idle;
  {
    absl::MutexLock lock(&mu_);
    idle = table_.TakeLongestIdle();
  }
  // Aborted, since an orderly shutdown would hold the descriptor for up to two seconds more.
  Evict(idle, "no_descriptors", /*is_busy=*/true);
}

template <typename Make>
void HttpServer::Impl::StartSession(Make make) {
  Id id = 0;
  {
    absl::MutexLock lock(&mu_);
    id = next_id_++;
  }
  const std::shared_ptr<HttpSession> session = make(id);
  ConnectionTable::Verdict verdict;
  {
    absl::MutexLock lock(&mu_);
    // The lock is released before `session`, whose destructor takes it in OnEnd().
    if (stopping_) return;
    verdict = table_.Add(id);
    // Ranks a peer that has sent its first bytes above silent ones before the next eviction.
    if (session->HasBytes()) table_.SetSpeaking(id);
    sessions_.emplace(id, session);
    metrics_.HttpConnections(sessions_.size());
  }
  Evict(verdict.evicted, "handshakes_max");
  session->Run();
}

void HttpServer::Impl::Evict(std::optional<Id> id, const char* reason, bool is_busy) {
  if (!id) return;
  metrics_.ConnectionRefused(kListener, reason);
  std::shared_ptr<HttpSession> session;
  bool is_crowded = false;
  {
    absl::MutexLock lock(&mu_);
    const auto found = sessions_.find(*id);
    if (found != sessions_.end()) session = found->second.lock();
    // Evicted connections hold their descriptors until their peers' close_notify. Aborts where too many wait.
    is_crowded = sessions_.size() > options_.connections_max + options_.handshakes_max;
  }
  if (session == nullptr) return;
  is_busy || is_crowded ? session->Abort() : session->Stop();
}

void HttpServer::Impl::OnSpeaks(Id id) {
  absl::MutexLock lock(&mu_);
  table_.SetSpeaking(id);
}

void HttpServer::Impl::OnHandshakeFailed(Id) { metrics_.ConnectionRefused(kListener, "handshake"); }

bool HttpServer::Impl::MayStay(Id id, const ConnectionTable::Holder& holder) {
  ConnectionTable::Verdict verdict;
  {
    absl::MutexLock lock(&mu_);
    verdict = table_.Admit(id, holder);
  }
  return Apply(verdict, "all_busy");
}

bool HttpServer::Impl::MayStayAs(Id id, const ConnectionTable::Holder& holder) {
  ConnectionTable::Verdict verdict;
  {
    absl::MutexLock lock(&mu_);
    verdict = table_.Recount(id, holder);
  }
  return Apply(verdict, "identity_busy");
}

bool HttpServer::Impl::Apply(const ConnectionTable::Verdict& verdict, const char* refusal) {
  Evict(verdict.evicted, verdict.evicted_is_busy ? "no_identity" : "idle", verdict.evicted_is_busy);
  if (!verdict.admitted) metrics_.ConnectionRefused(kListener, refusal);
  return verdict.admitted;
}

void HttpServer::Impl::SetBusy(Id id, bool busy) {
  absl::MutexLock lock(&mu_);
  table_.SetBusy(id, busy);
}

void HttpServer::Impl::SetArriving(Id id) {
  absl::MutexLock lock(&mu_);
  table_.SetArriving(id);
}

void HttpServer::Impl::CheckCertificates() {
  // Peers of a Unix socket have no certificate, and the age of their connections is checked at each request.
  if (tls_ == nullptr) return;
  tls_->Check();
  for (const auto& session : LiveSessions()) session->CheckStanding();
}

void HttpServer::Impl::ReloadCertificates() {
  if (tls_ == nullptr) return;
  tls_->Reload();
  for (const auto& session : LiveSessions()) session->CheckStanding();
}

void HttpServer::Impl::OnEnd(Id id) {
  absl::MutexLock lock(&mu_);
  table_.Remove(id);
  sessions_.erase(id);
  changed_.NotifyAll();
  metrics_.HttpConnections(sessions_.size());
}

std::vector<std::shared_ptr<HttpSession>> HttpServer::Impl::LiveSessions() {
  absl::MutexLock lock(&mu_);
  std::vector<std::shared_ptr<HttpSession>> live;
  for (const auto& [id, session] : sessions_) {
    if (auto held = session.lock()) live.push_back(std::move(held));
  }
  return live;
}

void HttpServer::Impl::Stop() {
  {
    absl::MutexLock lock(&mu_);
    if (std::exchange(stopping_, true)) return;
  }
  acceptor_.Stop();
  for (const auto& session : LiveSessions()) session->Stop();
  {
    absl::MutexLock lock(&mu_);
    changed_.AwaitFor(mu_, absl::Condition(this, &Impl::NoSessions), options_.stop_grace);
  }
  // The grace is over: whatever is under way is cut off.
  for (const auto& session : LiveSessions()) session->Abort();
  // Lets io_.run() return once all handlers have finished.
  work_.reset();
  for (std::thread& thread : threads_) thread.join();
}

absl::StatusOr<std::unique_ptr<HttpServer>> HttpServer::Start(Options options, HttpHandler handler,
                                                              ListenerMetrics& metrics) {
  auto impl = std::make_unique<Impl>(std::move(options), std::move(handler), metrics);
  SIDEBAND_RETURN_IF_ERROR(impl->Listen());
  impl->Run();
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(impl)));
}

HttpServer::HttpServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
HttpServer::~HttpServer() = default;

uint16_t HttpServer::port() const { return impl_->port(); }

void HttpServer::CheckCertificates() { impl_->CheckCertificates(); }

void HttpServer::ReloadCertificates() { impl_->ReloadCertificates(); }

void HttpServer::Post(std::function<void()> task) { impl_->Post(std::move(task)); }

void HttpServer::Stop() { impl_->Stop(); }

}  // namespace sideband::daemon
