// SPDX-License-Identifier: Apache-2.0
//
// A client's end of a Unix stream socket: connects, and sends and receives whole messages within a time.
//   const int socket = ConnectToUnixSocket("/run/sideband/gpu0.sock");     // < 0: minus an errno
//   UnixExchange exchange(socket, "bus", "/run/sideband/gpu0.sock", absl::Seconds(2));
//   SIDEBAND_RETURN_IF_ERROR(exchange.Send(request));
//   SIDEBAND_ASSIGN_OR_RETURN(const Bytes answer, exchange.Receive(12));
#ifndef SIDEBAND_PROTO_BASE_UNIX_SOCKET_H_
#define SIDEBAND_PROTO_BASE_UNIX_SOCKET_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "proto/base/bytes.h"

namespace sideband {

// Returns a new socket (close-on-exec, non-blocking) connected to `path`, or a negated errno: ENAMETOOLONG for a path
// too long for a socket, ENOENT and ECONNREFUSED if no server listens on it.
int ConnectToUnixSocket(const std::string& path);

// "KIND PATH: why" for an errno of the socket: INVALID_ARGUMENT for ENAMETOOLONG, DEADLINE_EXCEEDED for EAGAIN (a
// connection that is not accepted), UNAVAILABLE for all others.
absl::Status UnixSocketError(absl::string_view kind, const std::string& path, int error);

// One exchange on a connected socket, blocking or not. The timeout applies to all of its steps together, so that a peer
// cannot extend it by sending single bytes. `kind` and `path` are for messages and must outlive it. Not thread-safe.
class UnixExchange {
 public:
  UnixExchange(int socket, absl::string_view kind, const std::string& path, absl::Duration timeout);

  // DEADLINE_EXCEEDED after the timeout, UNAVAILABLE if the peer has closed the connection. After an error the socket
  // must not be used again.
  absl::Status Send(ByteSpan bytes);
  // Returns `size` bytes. Bytes that the peer has sent beyond them are kept for the next call: the parts of a message
  // cost one system call.
  absl::StatusOr<Bytes> Receive(size_t size);

 private:
  absl::Status Await(short events);
  // Appends what has come, to at least `size` bytes in all as soon as it has.
  absl::Status ReceiveSome(size_t size, Bytes& bytes);

  const int socket_;
  const absl::string_view kind_;
  const std::string& path_;
  const absl::Duration deadline_;
  Bytes ahead_;  // received, and not asked for yet
};

}  // namespace sideband

#endif  // SIDEBAND_PROTO_BASE_UNIX_SOCKET_H_
