// SPDX-License-Identifier: Apache-2.0
//
// A listening Unix socket and its file. The socket of a dead server is replaced; one in use, and any other file, is
// not.
//   SIDEBAND_ASSIGN_OR_RETURN(const auto listener, UnixListener::Listen("ports/vm1.sock", "guest port", 0600));
//   const Descriptor connection = listener->Accept();
#ifndef SIDEBAND_SECURE_MCU_SERVE_UNIX_LISTENER_H_
#define SIDEBAND_SECURE_MCU_SERVE_UNIX_LISTENER_H_

#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/base/file.h"

namespace sideband::mcu {

// Not thread-safe.
class UnixListener {
 public:
  // INVALID_ARGUMENT if the path is empty or too long for a socket; ALREADY_EXISTS if a server answers at `path` or
  // `path` is no socket; else the system's error. `kind` names the socket in messages: "bus". `mode` is that of the
  // file, which is never open to more users; absent: as the umask has it.
  static absl::StatusOr<std::unique_ptr<UnixListener>> Listen(const std::string& path, absl::string_view kind,
                                                              std::optional<mode_t> mode = std::nullopt);
  // Removes the file.
  ~UnixListener();
  UnixListener(const UnixListener&) = delete;
  UnixListener& operator=(const UnixListener&) = delete;

  int fd() const { return socket_.get(); }
  // A new connection, non-blocking; not open if none waits.
  Descriptor Accept() const;

 private:
  UnixListener(std::string path, Descriptor socket) : path_(std::move(path)), socket_(std::move(socket)) {}

  const std::string path_;
  const Descriptor socket_;
};

// Whether a call on a connection that has failed can be repeated later, by errno.
bool WouldBlock();

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_SERVE_UNIX_LISTENER_H_
