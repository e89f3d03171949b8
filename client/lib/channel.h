// SPDX-License-Identifier: Apache-2.0
//
// A connection to sidebandd: TLS with our certificate, a bearer token, or both; or its Unix socket.
//   SIDEBAND_ASSIGN_OR_RETURN(const auto channel, Connect(config));
//   TelemetryClient client(channel, {.peer = config.address});
#ifndef SIDEBAND_CLIENT_LIB_CHANNEL_H_
#define SIDEBAND_CLIENT_LIB_CHANNEL_H_

#include <memory>

#include "absl/status/statusor.h"
#include "client/lib/config.h"

namespace grpc {
class Channel;
}

namespace sideband::client {

// Records and snapshots of large devices; the daemon sends nothing larger.
inline constexpr int kMessageBytesMax = 16 << 20;

// To unix:PATH nothing but the address is needed: the kernel tells the daemon who we are. Otherwise:
// Reads and checks the files and the form of the address; a missing setting, a missing or wrong file is an error that
// names it. The connection itself is made by the first call on the channel. TLS 1.2 or later; the server's certificate
// must be of `ca_file` and for `server_name`, or for the address's host where that is empty. The token is read once: a
// connection that lives longer than its token makes calls that are refused.
absl::StatusOr<std::shared_ptr<grpc::Channel>> Connect(const ClientConfig& config);

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_LIB_CHANNEL_H_
