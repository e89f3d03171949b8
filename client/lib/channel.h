// SPDX-License-Identifier: Apache-2.0
//
// Connects to sidebandd: by TLS with a client certificate, a bearer token, or both; or through its Unix socket.
//   SIDEBAND_ASSIGN_OR_RETURN(const auto channel, Connect(config));
//   TelemetryClient client(channel, {.peer = config.address}, cancellation);
#ifndef SIDEBAND_CLIENT_LIB_CHANNEL_H_
#define SIDEBAND_CLIENT_LIB_CHANNEL_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "client/lib/config.h"

namespace grpc {
class Channel;
}

namespace sideband::client {

// Sufficient for records and snapshots of large devices; the daemon sends no larger messages.
inline constexpr int kMessageBytesMax = 16 << 20;

// unix:PATH needs no other setting: the kernel identifies the user to the daemon.
//
// For other addresses, reads and checks the files, and checks the form of the address. A missing setting, or a missing
// or malformed file, is an error that names it. The first call on the channel opens the connection. TLS 1.2 or later is
// required. The server's certificate must be issued by `ca_file` and for `server_name`, or for the address's host if
// that is empty. The token is read once: calls on a connection that outlives its token are rejected.
absl::StatusOr<std::shared_ptr<grpc::Channel>> Connect(const ClientConfig& config);

// The first of "ca_file", "cert_file" and "key_file" that the connection needs and that is not given; empty if none.
std::string MissingSetting(const ClientConfig& config);

// The gRPC target for `address`, HOST:PORT. `localhost`, in any case, becomes ::1 and then 127.0.0.1 without a resolver
// (RFC 6761, section 6.3): gRPC's own resolver knows it from /etc/hosts only, where a container may not have it. Other
// addresses are returned unchanged.
std::string DialTarget(const std::string& address);

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_LIB_CHANNEL_H_
