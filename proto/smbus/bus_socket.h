// SPDX-License-Identifier: Apache-2.0
//
// A controller's end of the virtual bus: connect, and exchange whole transactions (bus_frame.h). What becomes of the
// socket between exchanges is the caller's matter.
//   const int socket = ConnectToBus("/run/sideband/gpu0.sock");     // < 0: minus an errno
//   auto result = ExchangeOnBus(socket, "/run/sideband/gpu0.sock", transfer, absl::Now() + absl::Seconds(2));
//   if (!result.ok()) close(socket);                                // whatever is still on its way belongs to nobody
#ifndef SIDEBAND_PROTO_SMBUS_BUS_SOCKET_H_
#define SIDEBAND_PROTO_SMBUS_BUS_SOCKET_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "proto/smbus/transfer.h"

namespace sideband::smbus {

// A new socket (close-on-exec, non-blocking) that is connected to the bus at `path`, or minus the errno:
// ENAMETOOLONG for a path that no socket can have, ENOENT and ECONNREFUSED where nobody serves it.
int ConnectToBus(const std::string& path);

// What went wrong with the bus at `path`, for a person: INVALID_ARGUMENT for ENAMETOOLONG, DEADLINE_EXCEEDED for
// EAGAIN, which is what a connection that nobody accepts is, and UNAVAILABLE for all others.
absl::Status BusError(const std::string& path, int error);

// Carries out one transaction on a connected socket, whether it blocks or not. `deadline` is the whole transaction's:
// a far end that drips bytes gains nothing. DEADLINE_EXCEEDED where it passes, UNAVAILABLE where the far end is gone,
// INVALID_ARGUMENT for what is no result frame; after each of them the socket is of no further use. Whether a result
// fits `transfer` is for the caller to see. `path` is for messages. One exchange at a time.
absl::StatusOr<TransferResult> ExchangeOnBus(int socket, const std::string& path, const Transfer& transfer,
                                             absl::Time deadline);

}  // namespace sideband::smbus

#endif  // SIDEBAND_PROTO_SMBUS_BUS_SOCKET_H_
