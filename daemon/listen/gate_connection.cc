// SPDX-License-Identifier: Apache-2.0
#include "daemon/listen/gate_connection.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cerrno>
#include <chrono>
#include <climits>
#include <utility>

#include "daemon/listen/connection_table.h"
#include "daemon/listen/listener_tls.h"
#include "proto/base/openssl.h"

namespace sideband::daemon {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

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

namespace {

using StreamDescriptor = asio::posix::stream_descriptor;

constexpr size_t kReadBytes = 16 << 10;
// After this many pieces a busy connection yields to others.
constexpr int kPieces = 4;
// The bytes of the client that are read and discarded after the farewell. Closing with unread bytes would make the
// kernel reset the connection before the client has read the farewell.
constexpr size_t kLingerBytes = 1 << 20;
// Enough for the first call of a connection that counts as its address.
constexpr size_t kFirstStreams = 4;
constexpr int kFirstReads = 4;
constexpr char kStreamsBreach[] = "http2_streams_of_identity";
// A larger buffer is freed when it becomes empty.
constexpr size_t kKeptBytes = 4 << 10;

std::chrono::nanoseconds Nanoseconds(absl::Duration duration) { return absl::ToChronoNanoseconds(duration); }

// One buffer per thread: its content is forwarded or copied before the next read.
std::span<char> ReadBuffer() {
  thread_local std::array<char, kReadBytes> buffer;
  return buffer;
}

bool NegotiatedHttp2(const SSL* ssl) {
  const unsigned char* protocol = nullptr;
  unsigned size = 0;
  SSL_get0_alpn_selected(ssl, &protocol, &size);
  return absl::string_view(reinterpret_cast<const char*>(protocol), size) == "h2";
}

void Trim(std::string& bytes) {
  if (bytes.empty() && bytes.capacity() > kKeptBytes) bytes = std::string();
}

class Connection final : public GateConnection, public std::enable_shared_from_this<Connection> {
 public:
  Connection(ConnectionTable::Id id, asio::io_context& io, AcceptedClient client, GateConnectionContext context)
      : id_(id),
        context_(context),
        peer_(std::move(client)),
        executor_(io.get_executor()),
        client_(executor_),
        server_(executor_),
        deadline_(executor_),
        pause_(executor_),
        guard_(context.frames, context.clock) {}
  ~Connection() override {
    LetGoOfShare();
    context_.owner.OnEnd(id_);
  }

  // False if memory or descriptors are exhausted. Takes ownership of the socket in any case.
  bool Link(SSL_CTX* tls) {
    error_code error;
    client_.assign(peer_.fd, error);
    // A descriptor that refused the socket does not own it.
    if (error) close(peer_.fd);
    if (error) return false;
    link_ = tls == nullptr ? ByteLink::Plain(peer_.fd) : ByteLink::OverTls(peer_.fd, *tls);
    return link_ != nullptr;
  }

  void Run() override { OnThread(&Connection::Start); }
  void Abort() override { OnThread(&Connection::Close); }
  void CheckStanding() override { OnThread(&Connection::EndIfDue); }
  void Retire(absl::string_view words) override {
    asio::dispatch(executor_, [self = shared_from_this(), text = std::string(words)] { self->RetireWhenIdle(text); });
  }
  void CountAs(const std::string& identity) override {
    asio::dispatch(executor_, [self = shared_from_this(), identity] {
      self->counts_as_address_ = false;
      self->UseShareOf(identity);
    });
  }

 private:
  using Step = void (Connection::*)();

  void OnThread(Step step) {
    asio::dispatch(executor_, [self = shared_from_this(), step] { (self.get()->*step)(); });
  }
  // Runs `step` when the descriptor is ready or the wait is cancelled.
  void Wait(StreamDescriptor& descriptor, StreamDescriptor::wait_type what, Step step) {
    descriptor.async_wait(what, [self = shared_from_this(), step](const error_code&) {
      if (!self->is_closed_) (self.get()->*step)();
    });
  }
  void WaitForClient(Outcome outcome, Step step) {
    // TLS may have to read before it can write, and the reverse.
    Wait(client_, outcome == Outcome::kWantsRead ? StreamDescriptor::wait_read : StreamDescriptor::wait_write, step);
  }
  void Again(Step step) {
    asio::post(executor_, [self = shared_from_this(), step] {
      if (!self->is_closed_) (self.get()->*step)();
    });
  }
  void SetDeadline(absl::Duration after, Step step) {
    deadline_.expires_after(Nanoseconds(after));
    deadline_.async_wait([self = shared_from_this(), step](const error_code& error) {
      if (!error && !self->is_closed_) (self.get()->*step)();
    });
  }

  // Handshake.
  void Start() {
    if (is_closed_) return;
    SetDeadline(context_.timeouts.handshake, &Connection::FailHandshake);
    // The kernel has identified a local peer already, and a Unix socket has no handshake.
    if (peer_.local_operator) return OnHandshake();
    Wait(client_, StreamDescriptor::wait_read, &Connection::OnFirstBytes);
  }
  void OnFirstBytes() {
    context_.owner.OnSpeaks(id_);
    Handshake();
  }
  void Handshake() {
    const Outcome outcome = link_->Handshake();
    if (outcome == Outcome::kDone) return OnHandshake();
    outcome == Outcome::kEnded ? FailHandshake() : WaitForClient(outcome, &Connection::Handshake);
  }
  void FailHandshake() {
    if (share_ != nullptr) return;  // the deadline expired while the handshake completed
    context_.owner.OnHandshakeFailed(id_);
    Close();
  }

  void OnHandshake() {
    if (!Identify()) return FailHandshake();
    // Not FailHandshake(): the owner has counted the refusal under its own reason.
    if (!context_.owner.MayStay(id_, holder_)) return Close();
    const std::optional<int> server = context_.owner.Attach(id_, credentials_);
    if (!server) return Close();
    error_code error;
    server_.assign(*server, error);
    if (error) close(*server);
    if (error) return Close();
    counts_as_address_ = holder_.is_address;
    UseShareOf(holder_.name);
    // From here on the deadline is that of the SETTINGS acknowledgement.
    SetDeadline(context_.timeouts.settings, &Connection::MissSettings);
    Up();
    if (!is_closed_) Down();
  }

  // False where the client has not negotiated HTTP/2.
  bool Identify() {
    if (peer_.local_operator) {
      credentials_ = {.local_operator = peer_.local_operator,
                      .connection = std::make_shared<const ConnectionAge>(context_.limits)};
      holder_ = {.name = LocalIdentity(*peer_.local_operator)};
      return true;
    }
    if (!NegotiatedHttp2(link_->tls())) return false;
    auto peer = std::make_shared<const TlsPeer>(link_->tls(), *context_.tls, context_.limits);
    holder_ = HolderOf(peer->names(), peer_.address);
    credentials_.certificate = peer->names();
    credentials_.connection = std::move(peer);
    return true;
  }

  void MissSettings() {
    if (!is_settled_) OnBreach("http2_settings_timeout");
  }

  // Client to gRPC.
  void Up() {
    for (int i = 0; i < kPieces; ++i) {
      // Forwards before it reads on, so that at most a header block or one piece of a client is buffered.
      if (is_closed_ || is_leaving_ || !PassUp()) return;
      const std::span<char> buffer = ReadBuffer();
      const ByteLink::Result read = link_->Read(buffer);
      if (link_->tls() != nullptr && HasTooManyKeyUpdates(link_->tls())) return OnBreach(kKeyUpdatesBreach);
      if (read.outcome == Outcome::kEnded) return Close();
      // The socket is drained: the connection may now be silent for long, and should not hold a large buffer.
      if (read.outcome != Outcome::kDone) {
        Trim(up_);
        if (!Charge({})) return;  // a TLS record without data is charged, too
        return WaitForClient(read.outcome, &Connection::Up);
      }
      if (!Take({buffer.data(), read.bytes})) return;
    }
    Again(&Connection::Up);
  }

  // False where reading must stop or pause.
  bool Take(absl::string_view bytes) {
    up_.append(bytes.data(), bytes.size());
    // The bytes are judged before any of them is forwarded to gRPC.
    const FrameGuard::Breach breach = guard_.FromClient(bytes);
    TellBusy();
    if (breach != FrameGuard::Breach::kNone) {
      OnBreach(BreachName(breach));
      return false;
    }
    if (!CountStreams() && !FindRoom()) {
      OnBreach(kStreamsBreach);
      return false;
    }
    if (guard_.has_settings_acknowledged() && !std::exchange(is_settled_, true)) OnSettled();
    return Charge(guard_.TakeWork());
  }

  // An answer to an earlier request may be waiting to be read.
  void OnSettled() {
    if (is_leaving_) return;  // by the farewell's deadline
    if (down_.empty()) {
      deadline_.cancel();
    } else {
      SetDeadline(context_.timeouts.write, &Connection::Close);
    }
  }

  // False where the holder has used up its share: reading goes on after a pause.
  bool Charge(FrameGuard::Work work) {
    ++work.frames;  // a read costs about as much as a frame, whatever its content
    const absl::Duration wait = share_->Charge(work);
    // Others at the address may have run up its debt.
    const bool is_first = counts_as_address_ && reads_++ < kFirstReads;
    if (wait <= absl::ZeroDuration() || is_first) return true;
    pause_.expires_after(Nanoseconds(wait));
    // A cancelled pause calls Up(), too: it returns at once on a connection that is leaving or closed.
    pause_.async_wait([self = shared_from_this()](const error_code&) { self->Up(); });
    return false;
  }

  // Forwards all bytes that are not held; false where gRPC's socket is full or closed.
  bool PassUp() {
    size_t passed = 0;
    const size_t ready = up_.size() - guard_.held();
    while (passed < ready) {
      const ssize_t sent = send(server_.native_handle(), up_.data() + passed, ready - passed, MSG_NOSIGNAL);
      if (sent < 0) break;
      passed += sent;
    }
    const int error = errno;
    up_.erase(0, passed);
    if (passed == ready) return true;
    // On other errors gRPC has closed its end: Down() still forwards its last bytes.
    if (error == EAGAIN || error == EINTR) Wait(server_, StreamDescriptor::wait_write, &Connection::Up);
    return false;
  }

  // gRPC to client.
  void Down() {
    for (int i = 0; i < kPieces; ++i) {
      if (is_closed_ || !PassDown()) return;
      // The farewell must not split a frame of gRPC.
      if (is_leaving_ && guard_.is_at_server_boundary()) return Leave();
      const std::span<char> buffer = ReadBuffer();
      const ssize_t read = recv(server_.native_handle(), buffer.data(), buffer.size(), 0);
      if (read < 0 && (errno == EAGAIN || errno == EINTR)) {
        Trim(down_);
        return Wait(server_, StreamDescriptor::wait_read, &Connection::Down);
      }
      // gRPC has closed its end. Its last bytes are on their way, and no farewell of the gate is needed.
      if (read <= 0) return Leave();
      TakeDown({buffer.data(), static_cast<size_t>(read)});
      if (static_cast<size_t>(read) < buffer.size()) return FinishDown();
    }
    Again(&Connection::Down);
  }

  // After all that gRPC had written: another read would most likely find nothing.
  void FinishDown() {
    if (is_closed_ || !PassDown()) return;
    if (is_leaving_) return Again(&Connection::Down);
    Trim(down_);
    Wait(server_, StreamDescriptor::wait_read, &Connection::Down);
  }

  void TakeDown(absl::string_view bytes) {
    guard_.FromServer(bytes);
    share_->CreditAnswer(bytes.size());
    CountStreams();
    TellBusy();
    down_.append(bytes.data(), bytes.size());
  }

  bool PassDown() {
    size_t passed = 0;
    Outcome outcome = Outcome::kDone;
    while (passed < down_.size() && outcome == Outcome::kDone) {
      const ByteLink::Result written = link_->Write(absl::string_view(down_).substr(passed));
      outcome = written.outcome;
      passed += written.bytes;
    }
    down_.erase(0, passed);
    // Before the acknowledgement and during the farewell, the one timer belongs to them.
    const bool is_standing = is_settled_ && !is_leaving_;
    if (outcome == Outcome::kDone) {
      if (is_standing) deadline_.cancel();
      return true;
    }
    if (outcome == Outcome::kEnded) {
      Close();
      return false;
    }
    // gRPC cannot see that the client does not read. Without a deadline the connection would stay busy, and so exempt
    // from eviction, forever.
    if (is_standing) SetDeadline(context_.timeouts.write, &Connection::Close);
    WaitForClient(outcome, &Connection::Down);
    return false;
  }

  void UseShareOf(const std::string& holder) {
    LetGoOfShare();
    share_ = context_.throttle.ShareOf(holder);
    if (!CountStreams() && !is_closed_) OnBreach(kStreamsBreach);
  }

  // A caller that makes its first calls must not wait for those at its address that show no token.
  bool FindRoom() {
    return counts_as_address_ && guard_.open_streams() <= kFirstStreams && context_.owner.MakeRoom(id_);
  }

  void LetGoOfShare() {
    if (share_ != nullptr) share_->CountOpen(-static_cast<ptrdiff_t>(std::exchange(counted_streams_, 0)));
  }

  // Tells the holder's share how many streams are open. False where they are too many.
  bool CountStreams() {
    const size_t open = guard_.open_streams();
    const auto change = static_cast<ptrdiff_t>(open) - static_cast<ptrdiff_t>(std::exchange(counted_streams_, open));
    return change == 0 || share_->CountOpen(change);
  }

  // Reports changes only.
  void TellBusy() {
    const bool busy = guard_.open_streams() > 0;
    if (std::exchange(is_busy_, busy) == busy) return;
    context_.owner.SetBusy(id_, busy);
    // The last stream has ended: what RetireWhenIdle() postponed is due.
    if (!busy && !retirement_.empty()) BeginRetiring(std::exchange(retirement_, ""));
  }

  // Shutdown.
  void OnBreach(absl::string_view reason) {
    if (is_leaving_) return;
    context_.owner.OnBreach(id_, credentials_, reason);
    LeaveWith(CalmFrame(guard_.last_stream(), reason));
  }

  // A request may have arrived after the connection was chosen: it is answered first.
  void RetireWhenIdle(const std::string& words) {
    if (guard_.open_streams() == 0) return BeginRetiring(words);
    retirement_ = words;
  }

  void BeginRetiring(const std::string& words) {
    if (is_closed_ || is_leaving_) return;
    // Without gRPC no SETTINGS were sent, and HTTP/2 allows no GOAWAY before them.
    if (!server_.is_open()) return Close();
    LeaveWith(FarewellFrame(guard_.last_stream(), words));
  }

  // Stops reading from the client; `farewell` follows the current frame of gRPC.
  void LeaveWith(std::string farewell) {
    is_leaving_ = true;
    farewell_ = std::move(farewell);
    SetDeadline(context_.timeouts.farewell, &Connection::Close);
    error_code ignored;
    // Wakes Down(), which sends the farewell.
    server_.cancel(ignored);
    pause_.cancel();
  }

  void Leave() {
    is_leaving_ = true;
    if (!farewell_.empty()) {
      down_ = std::exchange(farewell_, "");
      // Down() comes back here once the client can take the rest; the farewell is then empty.
      if (!PassDown()) return;
    }
    link_->Shutdown();
    error_code ignored;
    // gRPC ends the calls of this connection now: their answers could no longer be sent.
    server_.close(ignored);
    SetDeadline(context_.timeouts.farewell, &Connection::Close);
    Linger();
  }

  void Linger() {
    while (lingered_ < kLingerBytes) {
      const std::span<char> buffer = ReadBuffer();
      // From the socket, not through the link: what is discarded need not be decrypted.
      const ssize_t read = recv(peer_.fd, buffer.data(), buffer.size(), MSG_DONTWAIT);
      if (read < 0 && (errno == EAGAIN || errno == EINTR)) {
        return Wait(client_, StreamDescriptor::wait_read, &Connection::Linger);
      }
      if (read <= 0) break;
      lingered_ += read;
    }
    Close();
  }

  void EndIfDue() {
    if (is_closed_ || is_leaving_ || credentials_.connection == nullptr) return;
    const FrameGuard::Breach breach = guard_.CheckRequests();
    if (breach != FrameGuard::Breach::kNone) return OnBreach(BreachName(breach));
    absl::Status due = credentials_.connection->Check();
    if (due.ok()) due = credentials_.connection->CheckAge();
    if (due.ok()) return;
    const absl::Duration now = context_.clock.Steady();
    // The first check that fails starts the time that streams get; later checks must not prolong it.
    if (!due_since_) due_since_ = now;
    // Streams end by themselves with this status (daemon/grpc/stream_reactor.h); they get some time for that.
    if (guard_.open_streams() > 0 && now - *due_since_ < context_.timeouts.streams) return;
    BeginRetiring(std::string(due.message()));
  }

  void Close() {
    if (std::exchange(is_closed_, true)) return;
    error_code ignored;
    deadline_.cancel();
    pause_.cancel();
    client_.close(ignored);
    server_.close(ignored);
  }

  const ConnectionTable::Id id_;
  const GateConnectionContext context_;
  const AcceptedClient peer_;
  const asio::io_context::executor_type executor_;  // of one thread, which takes the place of a lock

  // Used on the executor's thread only.
  StreamDescriptor client_, server_;
  asio::steady_timer deadline_, pause_;
  std::unique_ptr<ByteLink> link_;
  FrameGuard guard_;
  Credentials credentials_;         // since the handshake
  ConnectionTable::Holder holder_;  // likewise
  std::shared_ptr<HolderThrottle::Share> share_;
  size_t counted_streams_ = 0;  // open streams that the share knows
  std::string up_, down_;       // not yet forwarded
  std::string retirement_;      // reason to retire with when idle; empty: none
  std::string farewell_;
  size_t lingered_ = 0;
  std::optional<absl::Duration> due_since_;  // since when it should have ended
  bool counts_as_address_ = false;           // until a call shows a token
  int reads_ = 0;                            // while it counts as an address
  bool is_settled_ = false;                  // the client has acknowledged the SETTINGS
  bool is_busy_ = false;
  bool is_leaving_ = false;
  bool is_closed_ = false;
};

}  // namespace

std::shared_ptr<GateConnection> MakeGateConnection(ConnectionTable::Id id, asio::io_context& io, AcceptedClient client,
                                                   GateConnectionContext context) {
  // A connection keeps the certificates that it began with. A reload concerns later ones.
  const TlsContext tls = client.local_operator ? nullptr : context.tls->Current().context;
  auto connection = std::make_shared<Connection>(id, io, std::move(client), context);
  return connection->Link(tls.get()) ? connection : nullptr;
}

}  // namespace sideband::daemon
