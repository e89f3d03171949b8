// SPDX-License-Identifier: Apache-2.0
//
// A listening Unix socket and its name in the file system. One that a daemon left behind is replaced; one in use, or
// anything else of that name, is left alone.
//   SIDEBAND_ASSIGN_OR_RETURN(auto socket, UnixSocketFile::Listen("/run/sideband/http.sock", {.mode = 0660}));
//   accept4(socket->fd(), …);
#ifndef SIDEBAND_DAEMON_LISTEN_UNIX_SOCKET_FILE_H_
#define SIDEBAND_DAEMON_LISTEN_UNIX_SOCKET_FILE_H_

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace sideband::daemon {

class UnixSocketFile {
 public:
  struct Options {
    mode_t mode = 0600;             // whatever the umask is; never wider for a moment
    std::optional<uint32_t> group;  // of the file; absent: the process's
  };
  // UNAVAILABLE "PATH: why".
  static absl::StatusOr<std::unique_ptr<UnixSocketFile>> Listen(const std::string& path, const Options& options);
  // Closes, and removes the name unless it is another's by now.
  ~UnixSocketFile();
  UnixSocketFile(const UnixSocketFile&) = delete;
  UnixSocketFile& operator=(const UnixSocketFile&) = delete;

  // Non-blocking.
  int fd() const { return fd_; }

 private:
  UnixSocketFile(int fd, std::string path) : fd_(fd), path_(std::move(path)) {}

  // Gives it its name. 0, or the errno value.
  int Bind();
  // Whether the name is a socket that nobody listens on any more.
  bool IsStale() const;
  absl::Status Open(const Options& options);
  absl::Status Error(int error) const;

  const int fd_;
  const std::string path_;
  // Of the name that is ours; 0 until then.
  uint64_t device_ = 0;
  uint64_t inode_ = 0;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_LISTEN_UNIX_SOCKET_FILE_H_
