// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/serve/unix_listener.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "proto/base/file.h"
#include "proto/base/status_macros.h"

namespace sideband::mcu {
namespace {

constexpr int kBacklog = 64;

absl::StatusOr<sockaddr_un> SocketAddress(const std::string& path, absl::string_view kind) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof(address.sun_path)) {
    return absl::InvalidArgumentError(
        absl::StrCat(kind, " path '", path, "' must have from 1 to ", sizeof(address.sun_path) - 1, " characters"));
  }
  std::memcpy(address.sun_path, path.data(), path.size());
  return address;
}

Descriptor OpenSocket() { return Descriptor(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)); }

const sockaddr* Generic(const sockaddr_un& address) { return reinterpret_cast<const sockaddr*>(&address); }

// Whether a live server listens at `address`. Only a refused connection proves that no server listens.
bool IsServed(const sockaddr_un& address) {
  const Descriptor probe = OpenSocket();
  return connect(probe.get(), Generic(address), sizeof(address)) == 0 || errno != ECONNREFUSED;
}

bool IsSocket(const std::string& path) {
  struct stat file;
  return lstat(path.c_str(), &file) == 0 && S_ISSOCK(file.st_mode);
}

absl::Status Bind(int listener, const std::string& path, absl::string_view kind, const sockaddr_un& address) {
  if (bind(listener, Generic(address), sizeof(address)) == 0) return absl::OkStatus();
  if (errno != EADDRINUSE) return ErrnoStatus(errno, path);
  if (!IsSocket(path)) return absl::AlreadyExistsError(absl::StrCat(path, ": exists and is not a socket"));
  if (IsServed(address)) return absl::AlreadyExistsError(absl::StrCat(path, ": another program serves this ", kind));
  // The socket of a server that has died.
  unlink(path.c_str());
  if (bind(listener, Generic(address), sizeof(address)) == 0) return absl::OkStatus();
  return ErrnoStatus(errno, path);
}

}  // namespace

absl::StatusOr<std::unique_ptr<UnixListener>> UnixListener::Listen(const std::string& path, absl::string_view kind,
                                                                   std::optional<mode_t> mode) {
  SIDEBAND_ASSIGN_OR_RETURN(const sockaddr_un address, SocketAddress(path, kind));
  Descriptor socket = OpenSocket();
  // Linux gives the file the mode that its socket has, less the umask.
  if (!socket.is_open() || (mode && fchmod(socket.get(), *mode) != 0)) return ErrnoStatus(errno, path);
  SIDEBAND_RETURN_IF_ERROR(Bind(socket.get(), path, kind, address));
  std::unique_ptr<UnixListener> listener(new UnixListener(path, std::move(socket)));
  if (listen(listener->fd(), kBacklog) != 0) return ErrnoStatus(errno, path);
  return listener;
}

UnixListener::~UnixListener() { unlink(path_.c_str()); }

Descriptor UnixListener::Accept() const {
  return Descriptor(accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
}

bool WouldBlock() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

}  // namespace sideband::mcu
