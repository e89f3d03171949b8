// SPDX-License-Identifier: Apache-2.0
#include "daemon/listen/acceptor.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"

namespace sideband::daemon {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

// The delay after a failed accept. Descriptors are usually exhausted then, and a connection is being closed to free
// one.
constexpr std::chrono::milliseconds kAcceptRetry{20};
// Bounds a burst of accepts, so that the thread's other work proceeds.
constexpr int kAcceptsAtOnce = 16;

// An address of either family, as the system calls take it.
class SocketAddress {
 public:
  // False if `address` is not a literal of either family.
  bool Set(const ListenAddress& address) {
    if (inet_pton(AF_INET, address.host.c_str(), &v4_.sin_addr) == 1) {
      v4_.sin_family = AF_INET;
      v4_.sin_port = htons(address.port);
      return true;
    }
    if (inet_pton(AF_INET6, address.host.c_str(), &v6_.sin6_addr) != 1) return false;
    v6_.sin6_family = AF_INET6;
    v6_.sin6_port = htons(address.port);
    is_v6_ = true;
    return true;
  }
  bool Get(int socket) {
    sockaddr_storage found{};
    socklen_t size = sizeof(found);
    if (getsockname(socket, reinterpret_cast<sockaddr*>(&found), &size) != 0) return false;
    is_v6_ = found.ss_family == AF_INET6;
    std::memcpy(is_v6_ ? static_cast<void*>(&v6_) : &v4_, &found, is_v6_ ? sizeof(v6_) : sizeof(v4_));
    return true;
  }

  bool is_v6() const { return is_v6_; }
  uint16_t port() const { return ntohs(is_v6_ ? v6_.sin6_port : v4_.sin_port); }
  const sockaddr* data() const {
    return is_v6_ ? reinterpret_cast<const sockaddr*>(&v6_) : reinterpret_cast<const sockaddr*>(&v4_);
  }
  socklen_t size() const { return is_v6_ ? sizeof(v6_) : sizeof(v4_); }

 private:
  bool is_v6_ = false;
  sockaddr_in v4_{};
  sockaddr_in6 v6_{};
};

// Not open if a step failed; errno says why.
Descriptor Listen(const SocketAddress& address) {
  Descriptor socket(::socket(address.data()->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const int on = 1;
  // A restarted daemon must not wait for the old connections in TIME_WAIT.
  const bool is_bound = socket.is_open() && setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) == 0 &&
                        bind(socket.get(), address.data(), address.size()) == 0;
  if (!is_bound) return Descriptor();
  DeferAccept(socket.get());
  return listen(socket.get(), SOMAXCONN) == 0 ? std::move(socket) : Descriptor();
}

// The service manager's sockets block, and would be passed on to children.
Descriptor Adopt(int inherited) {
  const int flags = fcntl(inherited, F_GETFL);
  if (flags < 0 || fcntl(inherited, F_SETFL, flags | O_NONBLOCK) != 0) return Descriptor();
  if (fcntl(inherited, F_SETFD, FD_CLOEXEC) != 0) return Descriptor();
  DeferAccept(inherited);
  return Descriptor(inherited);
}

}  // namespace

absl::StatusOr<NetworkListener> NetworkListener::Open(absl::string_view name, const ListenAddress& address,
                                                      int inherited) {
  const auto fail = [&](int error) {
    return absl::UnavailableError(
        absl::StrCat(name, ": cannot listen on ", address.ToString(), ": ", std::strerror(error)));
  };
  SocketAddress at;
  if (inherited < 0 && !at.Set(address)) return fail(EINVAL);
  Descriptor socket = inherited >= 0 ? Adopt(inherited) : Listen(at);
  if (!socket.is_open() || !at.Get(socket.get())) return fail(errno);
  return NetworkListener{std::move(socket), at.is_v6(), at.port()};
}

Acceptor::Acceptor(asio::io_context& io, std::string name, ListenerMetrics& metrics)
    : name_(std::move(name)), metrics_(metrics), socket_(asio::make_strand(io)), retry_(socket_.get_executor()) {}

absl::Status Acceptor::Open(const ListenerConfig& listener, const LocalOperators& operators, int inherited,
                            ApplicationProtocol protocol) {
  if (listener.on_network) SIDEBAND_RETURN_IF_ERROR(OpenNetwork(listener, inherited, protocol));
  if (listener.unix_socket.empty()) return absl::OkStatus();
  SIDEBAND_ASSIGN_OR_RETURN(local_, LocalListener::Listen({name_, listener.unix_socket, operators}, metrics_));
  return absl::OkStatus();
}

absl::Status Acceptor::OpenNetwork(const ListenerConfig& listener, int inherited, ApplicationProtocol protocol) {
  SIDEBAND_ASSIGN_OR_RETURN(tls_, ListenerTls::Create(name_, listener.tls, protocol, metrics_));
  SIDEBAND_ASSIGN_OR_RETURN(NetworkListener network, NetworkListener::Open(name_, listener.listen, inherited));
  port_ = network.port;
  protocol_ = network.is_v6 ? tcp::v6() : tcp::v4();
  error_code error;
  socket_.assign(protocol_, network.socket.Release(), error);
  if (!error) socket_.non_blocking(true, error);
  return error ? absl::InternalError(error.message()) : absl::OkStatus();
}

void Acceptor::Start(Handlers handlers) {
  handlers_ = std::move(handlers);
  if (tls_ != nullptr) asio::post(socket_.get_executor(), [this] { AwaitClients(); });
  if (local_ != nullptr) local_->Start(handlers_.local_operator);
}

void Acceptor::AwaitClients() {
  socket_.async_wait(tcp::acceptor::wait_read, [this](const error_code&) {
    if (socket_.is_open()) AcceptClients();
  });
}

void Acceptor::AcceptClients() {
  for (int i = 0; i < kAcceptsAtOnce; ++i) {
    const int fd = accept4(socket_.native_handle(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    // A client may have gone away between the readiness and the accept.
    if (fd < 0 && (errno == EAGAIN || errno == ECONNABORTED || errno == EINTR)) break;
    if (fd < 0) return OnError(errno);
    const int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));  // a failure costs latency only
    handlers_.client(fd);
  }
  AwaitClients();
}

void Acceptor::OnError(int error) {
  if (error == EMFILE || error == ENFILE) {
    descriptors_.OnExhausted(name_, metrics_);
    handlers_.exhausted();
  }
  retry_.expires_after(kAcceptRetry);
  retry_.async_wait([this](const error_code&) {
    if (socket_.is_open()) AwaitClients();
  });
}

void Acceptor::Stop() {
  // On the acceptor's strand, where an accept may be under way.
  asio::post(socket_.get_executor(), [this] {
    error_code ignored;
    socket_.close(ignored);
    retry_.cancel();
  });
  if (local_ != nullptr) local_->Stop();
}

}  // namespace sideband::daemon
