// SPDX-License-Identifier: Apache-2.0
#include "daemon/listen/gate.h"

#include <netinet/in.h>
#include <openssl/rand.h>
#include <pthread.h>
#include <spdlog/spdlog.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "daemon/listen/acceptor.h"
#include "daemon/listen/connection_table.h"
#include "daemon/listen/gate_connection.h"
#include "daemon/listen/listener_tls.h"
#include "proto/base/status_macros.h"
#include "proto/base/steady_time.h"

namespace sideband::daemon {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

constexpr size_t kRandomBytes = 16;

// Binds to an abstract address: the path begins with a zero byte and extends to the end of the address.
bool BindTo(int fd, const std::string& name) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::copy(name.begin(), name.end(), address.sun_path + 1);
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  return bind(fd, reinterpret_cast<const sockaddr*>(&address), size) == 0;
}

}  // namespace

PairNames::PairNames() {
  std::string random(kRandomBytes, '\0');
  // Without randomness names would be predictable, and TLS impossible.
  if (RAND_bytes(reinterpret_cast<unsigned char*>(random.data()), kRandomBytes) != 1) std::abort();
  prefix_ = absl::StrCat("sideband-", absl::BytesToHexString(random), "-");
}

std::string PairNames::Next() { return absl::StrCat(prefix_, next_.fetch_add(1)); }

absl::StatusOr<NamedPair> MakeNamedPair(const std::string& name) {
  int ends[2] = {-1, -1};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) != 0) {
    return absl::ErrnoToStatus(errno, "socketpair");
  }
  // Only the gate's end is bound: gRPC's end reports the name of the other end as its peer.
  if (BindTo(ends[0], name)) return NamedPair{ends[0], ends[1]};
  const absl::Status status = absl::ErrnoToStatus(errno, absl::StrCat("bind to ", name));
  close(ends[0]);
  close(ends[1]);
  return status;
}

std::string PeerOf(const std::string& name) { return absl::StrCat("unix-abstract:", name); }

namespace {

using Id = ConnectionTable::Id;

constexpr char kListener[] = "grpc";
// Breaches are logged and audited once per holder and interval: a peer that keeps reconnecting must not fill the audit
// log.
constexpr absl::Duration kReportInterval = absl::Seconds(10);
constexpr size_t kReportedMax = 1024;

// OpenSSL writes with write(2), which cannot suppress SIGPIPE per call.
void BlockSigpipe() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
}

ConnectionTable::Limits LimitsOf(const Gate::Options& options) {
  return {.handshakes_max = options.handshakes_max,
          .known_max = options.connections_max,
          .per_identity_max = options.connections_per_identity_max};
}

std::string AddressOf(int fd) {
  tcp::endpoint peer;
  auto size = static_cast<socklen_t>(peer.capacity());
  if (getpeername(fd, peer.data(), &size) != 0) return "";
  peer.resize(size);
  return AddressName(peer.address());
}

}  // namespace

class Gate::Impl final : public GateConnectionOwner {
 public:
  Impl(Options options, const Clock& clock, ListenerMetrics& metrics)
      : options_(std::move(options)),
        clock_(clock),
        metrics_(metrics),
        throttle_(options_.throttle, clock),
        table_(LimitsOf(options_)) {
    for (int i = 0; i < options_.threads; ++i) lanes_.push_back(std::make_unique<Lane>());
  }
  ~Impl() override { Stop(); }

  absl::Status Listen();
  void Start(ServeFunction serve, BreachFunction on_breach);
  uint16_t port() const { return acceptor_.port(); }
  std::optional<Credentials> CredentialsOf(absl::string_view peer) const;
  bool CountAs(absl::string_view peer, const std::string& identity);
  void CheckCertificates(bool reload);
  void Post(std::function<void()> task) { asio::post(io_, std::move(task)); }
  void StopAccepting();
  void Stop();

  void OnSpeaks(Id id) override;
  void OnHandshakeFailed(Id id) override;
  bool MayStay(Id id, const ConnectionTable::Holder& holder) override;
  void SetBusy(Id id, bool busy) override;
  bool MakeRoom(Id id) override;
  std::optional<int> Attach(Id id, const Credentials& credentials) override;
  void OnBreach(Id id, const Credentials& credentials, absl::string_view reason) override;
  void OnEnd(Id id) override;

 private:
  struct Entry {
    // Weak: a connection lives as long as an operation of it is pending, and leaves the table when it is destroyed.
    std::weak_ptr<GateConnection> connection;
    std::string peer;  // gRPC's peer(); empty before Attach
    ConnectionTable::Holder holder;
  };
  struct Attached {
    Id id = 0;
    Credentials credentials;
  };
  // A thread and its connections: one that other threads could run, too, would cost a wake-up of them at each event.
  struct Lane {
    asio::io_context io{/*concurrency_hint=*/1};
    asio::executor_work_guard<asio::io_context::executor_type> work = asio::make_work_guard(io);
  };

  void RunOnThread(asio::io_context& io);
  void Add(AcceptedClient client);
  bool Apply(const ConnectionTable::Verdict& verdict, const char* refusal);
  void Evict(std::optional<Id> id, const char* reason, bool is_busy);
  bool IsCrowded() const;
  void EvictLongestIdle();
  std::shared_ptr<GateConnection> Find(Id id) const;
  std::vector<std::shared_ptr<GateConnection>> Live() const;
  bool IsToBeReported(Id id);
  bool NoConnections() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) { return connections_.empty(); }

  const Options options_;
  const Clock& clock_;
  ListenerMetrics& metrics_;
  HolderThrottle throttle_;
  PairNames names_;
  std::unique_ptr<ListenerTls> tls_;  // nullptr without a network listener
  ServeFunction serve_;
  BreachFunction on_breach_;

  mutable absl::Mutex mu_;
  SteadyCondVar changed_;  // connections_ changed
  bool draining_ ABSL_GUARDED_BY(mu_) = false;
  bool stopping_ ABSL_GUARDED_BY(mu_) = false;
  Id next_id_ ABSL_GUARDED_BY(mu_) = 1;
  ConnectionTable table_ ABSL_GUARDED_BY(mu_);
  absl::flat_hash_map<Id, Entry> connections_ ABSL_GUARDED_BY(mu_);
  absl::flat_hash_map<std::string, Attached> attached_ ABSL_GUARDED_BY(mu_);        // by gRPC's peer()
  absl::flat_hash_map<std::string, absl::Duration> reported_ ABSL_GUARDED_BY(mu_);  // by holder: last reported breach

  // Declared after connections_: destroying it destroys the remaining connections, whose destructors call OnEnd.
  std::vector<std::unique_ptr<Lane>> lanes_;  // constant after construction
  asio::io_context io_;                       // of all but connections
  asio::executor_work_guard<asio::io_context::executor_type> work_ = asio::make_work_guard(io_);
  Acceptor acceptor_{io_, kListener, metrics_};
  std::vector<std::thread> threads_;  // running io_ and each lane
};

absl::Status Gate::Impl::Listen() {
  if (options_.listener.on_network) {
    SIDEBAND_ASSIGN_OR_RETURN(
        tls_, ListenerTls::Create(kListener, options_.listener.tls, ApplicationProtocol::kHttp2, metrics_));
  }
  return acceptor_.Open(options_.listener, options_.local_operators, options_.inherited_socket);
}

void Gate::Impl::Start(ServeFunction serve, BreachFunction on_breach) {
  serve_ = std::move(serve);
  on_breach_ = std::move(on_breach);
  acceptor_.Start(
      {.client = [this](int fd) { Add({.fd = fd, .address = AddressOf(fd)}); },
       .local_operator = [this](int fd, const SocketPeer& peer) { Add({.fd = fd, .local_operator = peer.user}); },
       .exhausted = [this] { EvictLongestIdle(); }});
  RunOnThread(io_);
  for (const auto& lane : lanes_) RunOnThread(lane->io);
}

void Gate::Impl::RunOnThread(asio::io_context& io) {
  threads_.emplace_back([&io] {
    BlockSigpipe();
    io.run();
  });
}

void Gate::Impl::EvictLongestIdle() {
  std::optional<Id> idle;
  {
    absl::MutexLock lock(&mu_);
    idle = table_.TakeLongestIdle();
  }
  // Aborted, since an orderly farewell would hold the descriptors longer.
  Evict(idle, "no_descriptors", /*is_busy=*/true);
}

void Gate::Impl::Add(AcceptedClient client) {
  Id id = 0;
  {
    absl::MutexLock lock(&mu_);
    id = next_id_++;
  }
  const bool has_bytes = HasUnreadBytes(client.fd);
  const auto connection = MakeGateConnection(id, lanes_[id % lanes_.size()]->io, std::move(client),
                                             {.frames = options_.frames,
                                              .timeouts = options_.timeouts,
                                              .limits = options_.limits,
                                              .throttle = throttle_,
                                              .owner = *this,
                                              .clock = clock_,
                                              .tls = tls_.get()});
  if (connection == nullptr) return metrics_.ConnectionRefused(kListener, "no_memory");
  ConnectionTable::Verdict verdict;
  {
    absl::MutexLock lock(&mu_);
    // The lock is released before `connection`, whose destructor takes it in OnEnd().
    if (stopping_) return;
    verdict = table_.Add(id);
    // Ranks a peer that has sent its first bytes above silent ones before the next eviction.
    if (has_bytes) table_.SetSpeaking(id);
    connections_[id].connection = connection;
    metrics_.GrpcConnections(connections_.size());
  }
  // A peer in its handshake cannot read a GOAWAY, so its connection is aborted.
  Evict(verdict.evicted, "handshakes_max", /*is_busy=*/true);
  connection->Run();
}

std::shared_ptr<GateConnection> Gate::Impl::Find(Id id) const {
  absl::MutexLock lock(&mu_);
  const auto found = connections_.find(id);
  return found == connections_.end() ? nullptr : found->second.connection.lock();
}

bool Gate::Impl::IsCrowded() const {
  absl::MutexLock lock(&mu_);
  return connections_.size() > options_.connections_max + options_.handshakes_max;
}

// Retires an idle connection with a GOAWAY frame, so that a well-behaved client reconnects at once. Aborts it where too
// many evicted connections still wait for their peers and hold descriptors.
void Gate::Impl::Evict(std::optional<Id> id, const char* reason, bool is_busy) {
  if (!id) return;
  metrics_.ConnectionRefused(kListener, reason);
  const auto connection = Find(*id);
  if (connection == nullptr) return;
  is_busy || IsCrowded() ? connection->Abort() : connection->Retire(reason);
}

bool Gate::Impl::Apply(const ConnectionTable::Verdict& verdict, const char* refusal) {
  Evict(verdict.evicted, verdict.evicted_is_busy ? "no_identity" : "idle", verdict.evicted_is_busy);
  if (!verdict.admitted) metrics_.ConnectionRefused(kListener, refusal);
  return verdict.admitted;
}

void Gate::Impl::OnSpeaks(Id id) {
  absl::MutexLock lock(&mu_);
  table_.SetSpeaking(id);
}

void Gate::Impl::OnHandshakeFailed(Id) { metrics_.ConnectionRefused(kListener, "handshake"); }

bool Gate::Impl::MayStay(Id id, const ConnectionTable::Holder& holder) {
  ConnectionTable::Verdict verdict;
  {
    absl::MutexLock lock(&mu_);
    verdict = table_.Admit(id, holder);
    if (verdict.admitted) connections_[id].holder = holder;
  }
  return Apply(verdict, "all_busy");
}

bool Gate::Impl::CountAs(absl::string_view peer, const std::string& identity) {
  ConnectionTable::Verdict verdict;
  Id id = 0;
  {
    absl::MutexLock lock(&mu_);
    const auto attached = attached_.find(peer);
    // The connection has just ended, and its calls end with it.
    if (attached == attached_.end()) return true;
    id = attached->second.id;
    Entry& entry = connections_[id];
    // A connection that counts for a certificate, or for an earlier token, keeps its holder.
    if (!entry.holder.is_address || entry.holder.name == identity) return true;
    verdict = table_.Recount(id, {.name = identity});
    entry.holder = {.name = identity};
  }
  const auto connection = Find(id);
  const bool may_stay = Apply(verdict, "identity_busy");
  if (connection == nullptr) return may_stay;
  // Where it may not, the table has dropped it already.
  may_stay ? connection->CountAs(identity) : connection->Retire("identity_busy");
  return may_stay;
}

void Gate::Impl::SetBusy(Id id, bool busy) {
  absl::MutexLock lock(&mu_);
  table_.SetBusy(id, busy);
}

bool Gate::Impl::MakeRoom(Id id) {
  std::optional<Id> older;
  {
    absl::MutexLock lock(&mu_);
    // A call has shown a token, and the connection is about to be throttled as its identity.
    if (!connections_[id].holder.is_address) return true;
    older = table_.TakeOlderOfAddress(id);
  }
  Evict(older, "http2_streams_of_identity", /*is_busy=*/true);
  return older.has_value();
}

std::optional<int> Gate::Impl::Attach(Id id, const Credentials& credentials) {
  {
    absl::MutexLock lock(&mu_);
    // gRPC is shutting down and would drop the connection.
    if (draining_) return std::nullopt;
  }
  const std::string name = names_.Next();
  const absl::StatusOr<NamedPair> pair = MakeNamedPair(name);
  if (!pair.ok()) {
    metrics_.ConnectionRefused(kListener, "no_descriptors");
    metrics_.DescriptorsExhausted(kListener);
    EvictLongestIdle();
    return std::nullopt;
  }
  {
    absl::MutexLock lock(&mu_);
    connections_[id].peer = PeerOf(name);
    // Before gRPC gets the connection, so that its first call finds the credentials.
    attached_.emplace(PeerOf(name), Attached{id, credentials});
  }
  // Without the lock, which gRPC's first call takes to ask for the credentials.
  serve_(pair->server_end);
  return pair->gate_end;
}

std::optional<Credentials> Gate::Impl::CredentialsOf(absl::string_view peer) const {
  absl::MutexLock lock(&mu_);
  const auto found = attached_.find(peer);
  if (found == attached_.end()) return std::nullopt;
  return found->second.credentials;
}

bool Gate::Impl::IsToBeReported(Id id) {
  absl::MutexLock lock(&mu_);
  const absl::Duration now = clock_.Steady();
  if (reported_.size() >= kReportedMax) {
    absl::erase_if(reported_, [&](const auto& item) { return now - item.second >= kReportInterval; });
  }
  // More holders than that at one time: their breaches are only counted.
  if (reported_.size() >= kReportedMax) return false;
  const auto found = connections_.find(id);
  if (found == connections_.end()) return false;
  const auto [reported, is_new] = reported_.emplace(found->second.holder.name, now);
  if (!is_new && now - reported->second < kReportInterval) return false;
  reported->second = now;
  return true;
}

void Gate::Impl::OnBreach(Id id, const Credentials& credentials, absl::string_view reason) {
  metrics_.ConnectionRefused(kListener, reason);
  if (!IsToBeReported(id)) return;
  spdlog::warn("grpc: a connection was closed: {}", std::string(reason));
  on_breach_(credentials, reason);
}

void Gate::Impl::OnEnd(Id id) {
  absl::MutexLock lock(&mu_);
  table_.Remove(id);
  const auto found = connections_.find(id);
  if (found == connections_.end()) return;
  attached_.erase(found->second.peer);
  connections_.erase(found);
  metrics_.GrpcConnections(connections_.size());
  changed_.NotifyAll();
}

std::vector<std::shared_ptr<GateConnection>> Gate::Impl::Live() const {
  absl::MutexLock lock(&mu_);
  std::vector<std::shared_ptr<GateConnection>> live;
  for (const auto& [id, entry] : connections_) {
    if (auto held = entry.connection.lock()) live.push_back(std::move(held));
  }
  return live;
}

void Gate::Impl::CheckCertificates(bool reload) {
  if (tls_ != nullptr) reload ? tls_->Reload() : tls_->Check();
  // Over a list of its own: a connection that ends meanwhile takes the lock in OnEnd().
  for (const auto& connection : Live()) connection->CheckStanding();
}

void Gate::Impl::StopAccepting() {
  {
    absl::MutexLock lock(&mu_);
    draining_ = true;
  }
  acceptor_.Stop();
}

void Gate::Impl::Stop() {
  {
    absl::MutexLock lock(&mu_);
    // Stop() and the destructor both come here.
    if (std::exchange(stopping_, true)) return;
  }
  StopAccepting();
  {
    absl::MutexLock lock(&mu_);
    // gRPC has closed its ends; the connections still send their last bytes.
    changed_.AwaitFor(mu_, absl::Condition(this, &Impl::NoConnections), options_.stop_grace);
  }
  for (const auto& connection : Live()) connection->Abort();
  // Lets run() return once all handlers have finished.
  work_.reset();
  for (const auto& lane : lanes_) lane->work.reset();
  for (std::thread& thread : threads_) thread.join();
}

absl::StatusOr<std::unique_ptr<Gate>> Gate::Listen(Options options, const Clock& clock, ListenerMetrics& metrics) {
  auto impl = std::make_unique<Impl>(std::move(options), clock, metrics);
  SIDEBAND_RETURN_IF_ERROR(impl->Listen());
  return std::unique_ptr<Gate>(new Gate(std::move(impl)));
}

Gate::Gate(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Gate::~Gate() = default;

void Gate::Start(ServeFunction serve, BreachFunction on_breach) {
  impl_->Start(std::move(serve), std::move(on_breach));
}
uint16_t Gate::port() const { return impl_->port(); }
std::optional<Credentials> Gate::CredentialsOf(absl::string_view peer) const { return impl_->CredentialsOf(peer); }
bool Gate::CountAs(absl::string_view peer, const std::string& identity) { return impl_->CountAs(peer, identity); }
void Gate::CheckCertificates() { impl_->CheckCertificates(/*reload=*/false); }
void Gate::ReloadCertificates() { impl_->CheckCertificates(/*reload=*/true); }
void Gate::Post(std::function<void()> task) { impl_->Post(std::move(task)); }

void Gate::StopAccepting() { impl_->StopAccepting(); }
void Gate::Stop() { impl_->Stop(); }

}  // namespace sideband::daemon
