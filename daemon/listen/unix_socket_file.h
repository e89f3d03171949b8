// SPDX-License-Identifier: Apache-2.0
//
// A listening Unix socket and its file. A stale file of an ended daemon is replaced; a socket in use, or any other
// file, is not.
//   SIDEBAND_ASSIGN_OR_RETURN(auto socket, UnixSocketFile::Listen("/run/sideband/http.sock", {.mode = 0660}));
//   const Descriptor connection(accept4(socket->fd(), nullptr, nullptr, SOCK_CLOEXEC));
#ifndef SIDEBAND_DAEMON_LISTEN_UNIX_SOCKET_FILE_H_
#define SIDEBAND_DAEMON_LISTEN_UNIX_SOCKET_FILE_H_

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/base/descriptor.h"

namespace sideband::daemon {

class UnixSocketFile {
 public:
  struct Options {
    mode_t mode = 0600;             // independent of the umask; never wider, not even briefly
    std::optional<uint32_t> group;  // of the file; absent: the group of the process
  };
  // Binds and listens. UNAVAILABLE "PATH: why".
  static absl::StatusOr<std::unique_ptr<UnixSocketFile>> Listen(const std::string& path, const Options& options);
  // Closes the socket, and removes the file unless it was replaced.
  ~UnixSocketFile();
  UnixSocketFile(const UnixSocketFile&) = delete;
  UnixSocketFile& operator=(const UnixSocketFile&) = delete;

  // Non-blocking.
  int fd() const { return fd_.get(); }

 private:
  UnixSocketFile(Descriptor fd, std::string path) : fd_(std::move(fd)), path_(std::move(path)) {}

  // Binds the socket to the path. Returns 0 or the errno value.
  int Bind();
  // Whether the path is a socket on which no process listens.
  bool IsStale() const;
  absl::Status Open(const Options& options);
  absl::Status Error(int error) const;

  const Descriptor fd_;
  const std::string path_;
  // The created file; 0 before.
  uint64_t device_ = 0;
  uint64_t inode_ = 0;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_LISTEN_UNIX_SOCKET_FILE_H_
