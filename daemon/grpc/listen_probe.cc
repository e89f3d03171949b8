// SPDX-License-Identifier: Apache-2.0
#include "daemon/grpc/listen_probe.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace sideband::daemon {
namespace {

// Fills `storage` and returns how much of it counts.
socklen_t SocketAddress(const ListenAddress& address, sockaddr_storage& storage) {
  auto& v4 = reinterpret_cast<sockaddr_in&>(storage);
  if (inet_pton(AF_INET, address.host.c_str(), &v4.sin_addr) == 1) {
    v4.sin_family = AF_INET;
    v4.sin_port = htons(address.port);
    return sizeof(v4);
  }
  auto& v6 = reinterpret_cast<sockaddr_in6&>(storage);
  inet_pton(AF_INET6, address.host.c_str(), &v6.sin6_addr);
  v6.sin6_family = AF_INET6;
  v6.sin6_port = htons(address.port);
  return sizeof(v6);
}

// 0, or the errno value.
int TryBind(const ListenAddress& address) {
  sockaddr_storage storage{};
  const socklen_t size = SocketAddress(address, storage);
  const int fd = socket(storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return errno;
  const int on = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  const bool good = bind(fd, reinterpret_cast<const sockaddr*>(&storage), size) == 0 && listen(fd, 1) == 0;
  const int error = good ? 0 : errno;
  close(fd);
  return error;
}

}  // namespace

absl::Status ProbeListen(const ListenAddress& address) {
  const int error = TryBind(address);
  if (error == 0) return absl::OkStatus();
  return absl::UnavailableError(
      absl::StrCat("grpc: cannot listen on ", address.ToString(), ": ", std::strerror(error)));
}

}  // namespace sideband::daemon
