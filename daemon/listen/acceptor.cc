// SPDX-License-Identifier: Apache-2.0
#include "daemon/listen/network_listener.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "daemon/listen/descriptors.h"

namespace sideband::daemon {
namespace {

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

}  // namespace sideband::daemon
