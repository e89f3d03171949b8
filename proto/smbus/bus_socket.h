// SPDX-License-Identifier: Apache-2.0
//
// The controller's end of the virtual bus: connects, and exchanges whole transactions (bus_frame.h). The caller owns
// the socket between exchanges.
//   const int socket = ConnectToBus("/run/sideband/gpu0.sock");     // < 0: minus an errno
//   auto result = ExchangeOnBus(socket, "/run/sideband/gpu0.sock", transfer, absl::Seconds(2));
//   if (!result.ok()) close(socket);                                // whatever is still on its way belongs to nobody
#ifndef SIDEBAND_PROTO_SMBUS_BUS_SOCKET_H_
#define SIDEBAND_PROTO_SMBUS_BUS_SOCKET_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "proto/smbus/transfer.h"

namespace sideband::smbus {

// Returns a new socket (close-on-exec, non-blocking) connected to the bus at `path`, or a negated errno: ENAMETOOLONG
// for a path too long for a socket, ENOENT and ECONNREFUSED if no server listens on it.
int ConnectToBus(const std::string& path);

// The file that programs lock (flock) while none of the others may use the bus at `path`: a socket cannot be locked.
inline std::string LockPathOf(const std::string& path) { return path + ".lock"; }

// Converts an errno of the bus at `path`: INVALID_ARGUMENT for ENAMETOOLONG, DEADLINE_EXCEEDED for EAGAIN (a connection
// that is not accepted), UNAVAILABLE for all others.
absl::Status BusError(const std::string& path, int error);

// Executes one transaction on a connected socket, blocking or not. `timeout` applies to the whole transaction, so that
// a peer cannot extend it by sending single bytes. DEADLINE_EXCEEDED after the timeout, UNAVAILABLE if the peer has
// closed the connection, INVALID_ARGUMENT for a malformed result frame; after each of these the socket must not be used
// again. The caller checks whether the result fits `transfer`. `path` is for messages. One exchange at a time.
absl::StatusOr<TransferResult> ExchangeOnBus(int socket, const std::string& path, const Transfer& transfer,
                                             absl::Duration timeout);

}  // namespace sideband::smbus

#endif  // SIDEBAND_PROTO_SMBUS_BUS_SOCKET_H_
