// SPDX-License-Identifier: Apache-2.0
//
// The sections `grpc` and `http` of the configuration: listen addresses, TLS and client authentication.
//   config.http = ReadHttp(root, has_tokens, context);
#ifndef SIDEBAND_DAEMON_CONFIG_LISTENER_CONFIG_H_
#define SIDEBAND_DAEMON_CONFIG_LISTENER_CONFIG_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "daemon/config/config_context.h"

namespace sideband::daemon {

// The address of a listener: a literal IP address and a port.
struct ListenAddress {
  std::string host;   // an IPv4 or IPv6 literal, without brackets
  uint16_t port = 0;  // 0: the system chooses

  // Parses "127.0.0.1:9877" or "[::1]:9877". INVALID_ARGUMENT for a host name, since its resolution may change.
  static absl::StatusOr<ListenAddress> Parse(absl::string_view text);
  std::string ToString() const;
  bool operator==(const ListenAddress&) const = default;
};

// The local users and groups that may operate the daemon over its Unix sockets, besides root and the daemon's own user.
struct LocalOperators {
  std::vector<uint32_t> users;
  std::vector<uint32_t> groups;

  bool operator==(const LocalOperators&) const = default;
};

// Returns the id of a user or group of this machine, given by name or as a decimal number. A number need not be
// assigned. INVALID_ARGUMENT "user 'NAME' is unknown".
absl::StatusOr<uint32_t> UserId(const std::string& name);
absl::StatusOr<uint32_t> GroupId(const std::string& name);

enum class TlsVersion { kTls12, kTls13 };
// The client certificate required in the TLS handshake. A certificate that is presented is always verified.
enum class ClientAuth { kRequireAndVerify, kVerifyIfGiven, kNone };

// With kRequireAndVerify the handshake fails for a client without a certificate from this CA.
struct TlsServerConfig {
  std::string cert_file;       // PEM: the server's certificate, then intermediates
  std::string key_file;        // PEM, unencrypted
  std::string client_ca_file;  // PEM; empty if and only if kNone
  TlsVersion min_version = TlsVersion::kTls13;
  ClientAuth client_auth = ClientAuth::kRequireAndVerify;

  bool operator==(const TlsServerConfig&) const = default;
};

// A listener on the network with TLS, on a Unix socket for local operators, or both.
struct ListenerConfig {
  ListenAddress listen;
  TlsServerConfig tls;
  bool on_network = true;   // false: `listen` and `tls` are ignored
  std::string unix_socket;  // path; empty: no Unix socket
  // Older connections are closed, and the peers reconnect; 1 s to 30 days.
  absl::Duration max_connection_age = absl::Hours(24);
};

struct GrpcConfig {
  ListenerConfig listener;
  bool reflection = false;
};

struct HttpConfig {
  ListenerConfig listener;
  bool redfish = false;  // whether /redfish is served
};

// `root` is the whole configuration; both sections are required. `has_tokens`: bearer tokens are configured, so that a
// client may be authenticated without a certificate.
GrpcConfig ReadGrpc(const YamlMap& root, bool has_tokens, const ConfigContext& context);
HttpConfig ReadHttp(const YamlMap& root, bool has_tokens, const ConfigContext& context);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_CONFIG_LISTENER_CONFIG_H_
