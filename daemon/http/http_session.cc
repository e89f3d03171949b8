// SPDX-License-Identifier: Apache-2.0
#include "daemon/http/http_session.h"

#include <openssl/ssl.h>

#include <array>
#include <atomic>
#include <boost/asio/buffer.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/ssl/stream_base.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/basic_stream.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <chrono>
#include <optional>
#include <utility>

#include "absl/strings/string_view.h"
#include "daemon/http/http_exchange.h"
#include "daemon/identity/identity.h"
#include "daemon/listen/acceptor.h"
#include "daemon/listen/connection_table.h"
#include "daemon/listen/listener_tls.h"
#include "daemon/listen/tls_peer.h"

namespace sideband::daemon {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
using ErrorCode = beast::error_code;
using Local = asio::local::stream_protocol;

constexpr std::chrono::seconds kShutdownTimeout{2};
// Large enough for most requests in one read.
constexpr size_t kReadBytes = 2048;

std::chrono::nanoseconds Timeout(absl::Duration duration) { return absl::ToChronoNanoseconds(duration); }

// Empty where the peer has already disconnected.
std::string AddressOf(const asio::ip::tcp::socket& socket) {
  ErrorCode error;
  const auto peer = socket.remote_endpoint(error);
  return error ? "" : AddressName(peer.address());
}

// TLS over TCP. The handshake identifies the peer.
class TlsLink {
 public:
  static constexpr bool kHasHandshake = true;
  using Stream = asio::ssl::stream<beast::tcp_stream>;

  TlsLink(asio::ip::tcp::socket socket, std::shared_ptr<asio::ssl::context> tls)
      : address_(AddressOf(socket)), tls_(std::move(tls)), stream_(std::move(socket), *tls_) {}

  Stream& stream() { return stream_; }
  void Identify(const HttpSessionContext& context) {
    auto peer = std::make_shared<const TlsPeer>(stream_.native_handle(), *context.tls, context.options.limits);
    credentials_.certificate = peer->names();
    credentials_.connection = std::move(peer);
  }
  const Credentials& credentials() const { return credentials_; }
  ConnectionTable::Holder holder() { return HolderOf(credentials_.certificate, address_); }
  bool HasBreach() { return HasTooManyKeyUpdates(stream_.native_handle()); }

  // Continues the handshake from the first bytes, which have been read from the socket.
  template <typename Done>
  void Handshake(asio::const_buffer first, Done done) {
    stream_.async_handshake(asio::ssl::stream_base::server, first,
                            [done = std::move(done)](ErrorCode error, size_t) { done(error); });
  }
  template <typename Done>
  void Shutdown(Done done) {
    stream_.async_shutdown(std::move(done));
  }

 private:
  const std::string address_;
  const std::shared_ptr<asio::ssl::context> tls_;  // shared with the server, which may have replaced it
  Stream stream_;
  Credentials credentials_;  // after the handshake
};

// A Unix socket. The kernel has identified the peer.
class LocalLink {
 public:
  static constexpr bool kHasHandshake = false;
  using Stream = beast::basic_stream<Local>;

  LocalLink(Local::socket socket, uint32_t user) : stream_(std::move(socket)), user_(user) {}

  Stream& stream() { return stream_; }
  void Identify(const HttpSessionContext& context) {
    credentials_ = {.local_operator = user_,
                    .connection = std::make_shared<const ConnectionAge>(context.options.limits)};
  }
  const Credentials& credentials() const { return credentials_; }
  ConnectionTable::Holder holder() { return {.name = LocalIdentity(user_)}; }
  bool HasBreach() const { return false; }

  template <typename Done>
  void Shutdown(Done done) {
    ErrorCode error;
    stream_.socket().shutdown(Local::socket::shutdown_both, error);
    done(error);
  }

 private:
  Stream stream_;
  const uint32_t user_;
  Credentials credentials_;
};

template <typename Link>
class SessionOver final : public HttpSession, public std::enable_shared_from_this<SessionOver<Link>> {
 public:
  template <typename... Arguments>
  SessionOver(ConnectionTable::Id id, HttpSessionContext context, Arguments&&... link)
      : id_(id), context_(context), link_(std::forward<Arguments>(link)...) {}
  ~SessionOver() override { context_.owner.OnEnd(id_); }

  void Run() override {
    asio::dispatch(stream().get_executor(), [self = this->shared_from_this()] { self->Start(); });
  }

  bool HasBytes() override { return HasUnreadBytes(lowest().socket().native_handle()); }

  void Stop() override {
    asio::dispatch(stream().get_executor(), [self = this->shared_from_this()] {
      self->is_stopping_ = true;
      // An answer that is being made or written is finished first.
      if (self->is_waiting_) self->StopWaiting();
    });
  }

  void CheckStanding() override {
    asio::dispatch(stream().get_executor(), [self = this->shared_from_this()] {
      const auto& connection = self->link_.credentials().connection;
      const bool stands = connection == nullptr || connection->Check().ok();
      if (stands && !self->link_.HasBreach()) return;
      self->is_stopping_ = true;
      if (self->is_waiting_) self->StopWaiting();
    });
  }

  void Abort() override {
    is_aborted_ = true;
    asio::dispatch(stream().get_executor(), [self = this->shared_from_this()] {
      self->is_stopping_ = true;
      self->StopWaiting();
      self->lowest().close();
    });
  }

 private:
  typename Link::Stream& stream() { return link_.stream(); }
  auto& lowest() { return beast::get_lowest_layer(stream()); }

  void Start() {
    if (is_stopping_) return;
    if constexpr (!Link::kHasHandshake) {
      OnHandshake(ErrorCode());
    } else {
      AwaitFirstBytes();
    }
  }

  // Reads from the socket below TLS, to report the first bytes before the handshake consumes them.
  void AwaitFirstBytes() {
    is_waiting_ = true;
    lowest().expires_after(Timeout(context_.options.handshake_timeout));
    lowest().async_read_some(asio::buffer(read_), [self = this->shared_from_this()](ErrorCode error, size_t size) {
      self->OnFirstBytes(error, size);
    });
  }

  // Runs under the deadline of AwaitFirstBytes.
  void OnFirstBytes(ErrorCode error, size_t size) {
    if (error || is_stopping_) return OnHandshake(error);
    context_.owner.OnSpeaks(id_);
    if constexpr (Link::kHasHandshake) {
      link_.Handshake(asio::buffer(read_.data(), size),
                      [self = this->shared_from_this()](ErrorCode failed) { self->OnHandshake(failed); });
    }
  }

  void OnHandshake(ErrorCode error) {
    is_waiting_ = false;
    if (is_stopping_) return;
    if (error) return context_.owner.OnHandshakeFailed(id_);
    link_.Identify(context_);
    holder_ = link_.holder();
    // A connection that counts for its address is recounted when a request shows a token.
    shows_by_request_ = holder_.is_address;
    if (!context_.owner.MayStay(id_, holder_)) return Shutdown();
    exchange_.emplace(link_.credentials(), context_.handler);
    UseShare();
    // Others at the address may have run up its debt: the first request may show a token.
    shows_by_request_ ? AnswerNext() : GoOn(0);
  }

  // Answers a buffered request, or waits for more bytes.
  void AnswerNext() {
    if (is_stopping_) return Shutdown();
    if (auto answer = exchange_->Next()) return Answer(*std::move(answer));
    SetBusy(false);
    if (!exchange_->is_idle()) context_.owner.SetArriving(id_);
    lowest().expires_after(
        Timeout(exchange_->is_idle() ? context_.options.idle_timeout : context_.options.header_timeout));
    Read();
  }

  // Runs under the current deadline: pieces of a header do not extend it.
  void Read() {
    is_waiting_ = true;
    stream().async_read_some(asio::buffer(read_), [self = this->shared_from_this()](ErrorCode error, size_t size) {
      self->OnRead(error, size);
    });
  }

  void OnRead(ErrorCode error, size_t size) {
    is_waiting_ = false;
    // The session ends with its last reference, which closes the socket.
    if (link_.HasBreach()) return context_.owner.OnBreach(id_, kKeyUpdatesBreach);
    // After any other error TLS must not write: the session ends likewise.
    if (is_stopping_ || error == asio::error::eof) return Shutdown();
    if (error) return;
    const bool was_idle = exchange_->is_idle();
    exchange_->Feed({read_.data(), size});
    if (auto answer = exchange_->Next()) return Answer(*std::move(answer));
    if (was_idle) {
      context_.owner.SetArriving(id_);
      lowest().expires_after(Timeout(context_.options.header_timeout));
    }
    Read();
  }

  void Answer(HttpExchange::Answer answer) {
    if (answer.work == nullptr) return Write(std::move(answer));
    if (!MayStayAs(answer.identity)) return Shutdown();
    SetBusy(true);
    // The answer's deadline begins when it has been made.
    lowest().expires_never();
    const std::shared_ptr<const HttpWork> work = std::move(answer.work);
    // An operator's scrape is mostly rendered already: two hops to another thread and back would take longer.
    const bool is_at_once = work->is_operator && work->lane == WorkQueue::Lane::kScrapes;
    if (context_.options.work == nullptr || is_at_once) return OnMade(work->make(absl::OkStatus()));
    context_.options.work->Add(work->lane, {.name = answer.identity, .is_operator = work->is_operator},
                               [self = this->shared_from_this(), work](const absl::Status& may) {
                                 // The connection is closed: the answer would have no reader.
                                 if (self->is_aborted_) return;
                                 auto response = std::make_shared<HttpResponse>(work->make(may));
                                 asio::post(self->stream().get_executor(),
                                            [self, response] { self->OnMade(std::move(*response)); });
                               });
  }

  void OnMade(HttpResponse response) { Write(exchange_->Complete(std::move(response))); }

  void Write(HttpExchange::Answer answer) {
    if (!MayStayAs(answer.identity)) return Shutdown();
    SetBusy(true);
    answer_ = std::move(answer);
    lowest().expires_after(Timeout(context_.options.write_timeout));
    WriteFrom(0);
  }

  // Writes one piece at a time: given several buffers, Boost 1.81 writes only the first over TLS and reports
  // completion.
  void WriteFrom(size_t piece) {
    const std::array<absl::string_view, 4> pieces = {answer_.header, answer_.body.head, answer_.body.shared,
                                                     answer_.body.tail};
    while (piece < pieces.size() && pieces[piece].empty()) ++piece;
    if (piece == pieces.size()) return OnWritten();
    asio::async_write(stream(), asio::buffer(pieces[piece].data(), pieces[piece].size()),
                      [self = this->shared_from_this(), piece](ErrorCode error, size_t) {
                        // A failed write leaves no operation pending, so that the session is destroyed.
                        if (!error) self->WriteFrom(piece + 1);
                      });
  }

  void OnWritten() {
    // Releases a shared body before the connection becomes idle.
    answer_.body = {};
    GoOn(1);
  }

  // Charges the holder for requests, and answers the next one when it may.
  void GoOn(size_t requests) {
    const absl::Duration wait = share_ == nullptr ? absl::ZeroDuration() : share_->Charge({.streams = requests});
    if (requests > 0 && !answer_.keep_alive) return Shutdown();
    if (wait <= absl::ZeroDuration()) return AnswerNext();
    SetBusy(false);
    is_waiting_ = true;
    pause_.emplace(stream().get_executor(), Timeout(wait));
    pause_->async_wait([self = this->shared_from_this()](ErrorCode) {
      self->is_waiting_ = false;
      self->AnswerNext();
    });
  }

  void StopWaiting() {
    lowest().cancel();
    if (pause_) pause_->cancel();
  }

  // The share is the holder's, over all of its connections.
  void UseShare() {
    if (context_.options.throttle != nullptr) share_ = context_.options.throttle->ShareOf(holder_.name);
  }

  void Shutdown() {
    // A peer that never sends its close_notify must not hold the descriptor.
    lowest().expires_after(kShutdownTimeout);
    link_.Shutdown([self = this->shared_from_this()](ErrorCode) {});
  }

  // False where the identity's share of connections is used up and all of them are busy. The connection is then closed
  // without the answer, although the request was handled and audited: only the handler can authenticate the caller.
  // Reports changes of the holder only.
  bool MayStayAs(const std::string& identity) {
    if (!shows_by_request_ || identity.empty() || identity == holder_.name) return true;
    holder_ = {.name = identity};
    UseShare();
    return context_.owner.MayStayAs(id_, holder_);
  }

  void SetBusy(bool busy) {
    if (std::exchange(is_busy_, busy) != busy) context_.owner.SetBusy(id_, busy);
  }

  const ConnectionTable::Id id_;
  const HttpSessionContext context_;
  Link link_;
  std::optional<HttpExchange> exchange_;  // after the handshake
  std::array<char, kReadBytes> read_;
  HttpExchange::Answer answer_;     // being written
  ConnectionTable::Holder holder_;  // known after the handshake
  std::shared_ptr<HolderThrottle::Share> share_;
  std::optional<asio::steady_timer> pause_;  // while the holder has used up its share
  bool shows_by_request_ = false;            // no identity since the handshake: tokens determine the holder
  bool is_waiting_ = false;                  // reading a handshake or a request: stopping now loses no answer
  bool is_busy_ = false;
  bool is_stopping_ = false;
  std::atomic<bool> is_aborted_ = false;  // from any thread
};

}  // namespace

std::shared_ptr<HttpSession> MakeTlsSession(ConnectionTable::Id id, asio::ip::tcp::socket socket,
                                            std::shared_ptr<asio::ssl::context> tls, HttpSessionContext context) {
  return std::make_shared<SessionOver<TlsLink>>(id, context, std::move(socket), std::move(tls));
}

std::shared_ptr<HttpSession> MakeLocalSession(ConnectionTable::Id id, Local::socket socket, uint32_t user,
                                              HttpSessionContext context) {
  return std::make_shared<SessionOver<LocalLink>>(id, context, std::move(socket), user);
}

}  // namespace sideband::daemon
