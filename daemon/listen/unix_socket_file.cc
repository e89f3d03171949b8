// SPDX-License-Identifier: Apache-2.0
#include "daemon/listen/unix_socket_file.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "proto/base/file.h"

namespace sideband::daemon {
namespace {

// False where the path is empty or too long.
bool AddressOf(const std::string& path, sockaddr_un& address) {
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof(address.sun_path)) return false;
  std::copy(path.begin(), path.end(), address.sun_path);
  return true;
}

Descriptor NewSocket() { return Descriptor(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)); }

}  // namespace

absl::Status UnixSocketFile::Error(int error) const {
  return absl::UnavailableError(ErrnoStatus(error, path_).message());
}

int UnixSocketFile::Bind() {
  sockaddr_un address{};
  if (!AddressOf(path_, address)) return ENAMETOOLONG;
  return bind(fd_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0 ? 0 : errno;
}

bool UnixSocketFile::IsStale() const {
  struct stat file;
  // A link is not followed: only a socket at the configured path itself may be removed.
  if (lstat(path_.c_str(), &file) != 0 || !S_ISSOCK(file.st_mode)) return false;
  sockaddr_un address{};
  if (!AddressOf(path_, address)) return false;
  const Descriptor probe = NewSocket();
  const int result = connect(probe.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address));
  // No other error proves that no process listens: a daemon whose queue is full answers EAGAIN.
  const bool refused = result != 0 && errno == ECONNREFUSED;
  return refused;
}

absl::Status UnixSocketFile::Open(const Options& options) {
  if (!fd_.is_open()) return Error(errno);
  // Linux gives the name the mode that its socket has, so that it is never open to more.
  if (fchmod(fd_.get(), options.mode) != 0) return Error(errno);
  int error = Bind();
  if (error == EADDRINUSE && IsStale() && unlink(path_.c_str()) == 0) error = Bind();
  if (error != 0) return Error(error);
  struct stat file;
  if (lstat(path_.c_str(), &file) != 0) return Error(errno);
  // From here on the destructor removes the file where a later step fails.
  device_ = file.st_dev;
  inode_ = file.st_ino;
  if (options.group && chown(path_.c_str(), -1, *options.group) != 0) {
    return absl::UnavailableError(
        absl::StrCat(path_, ": cannot be given to group ", *options.group, ": ", std::strerror(errno)));
  }
  if (chmod(path_.c_str(), options.mode) != 0) return Error(errno);  // what the umask has taken
  // Last: no process can connect before the file has its group and mode.
  if (listen(fd_.get(), SOMAXCONN) != 0) return Error(errno);
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<UnixSocketFile>> UnixSocketFile::Listen(const std::string& path,
                                                                       const Options& options) {
  std::unique_ptr<UnixSocketFile> socket(new UnixSocketFile(NewSocket(), path));
  const absl::Status opened = socket->Open(options);
  if (!opened.ok()) return opened;
  return socket;
}

UnixSocketFile::~UnixSocketFile() {
  struct stat file;
  // Another daemon may have replaced the file.
  const bool is_ours =
      inode_ != 0 && lstat(path_.c_str(), &file) == 0 && file.st_dev == device_ && file.st_ino == inode_;
  if (is_ours) unlink(path_.c_str());
}

}  // namespace sideband::daemon
