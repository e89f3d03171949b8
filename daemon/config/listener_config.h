// SPDX-License-Identifier: Apache-2.0
//
// The sections `grpc` and `http` of the configuration: listen addresses, TLS and client authentication; and the files
// that they name for TLS. These are read and checked before a TLS library uses them, so that errors name the file.
//   config.http = ReadHttp(root, has_tokens, context);
//   SIDEBAND_ASSIGN_OR_RETURN(const auto files, TlsFiles::Load(config.http.listener.tls));
#ifndef SIDEBAND_DAEMON_CONFIG_LISTENER_CONFIG_H_
#define SIDEBAND_DAEMON_CONFIG_LISTENER_CONFIG_H_

#include <openssl/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "daemon/config/config_context.h"
#include "proto/base/errors.h"

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

// Shared by the listeners and the generations of their files. OpenSSL wipes the key when the last reference is
// released.
using PrivateKey = std::shared_ptr<EVP_PKEY>;

// Loads the private key of a TLS listener such that memory contains it only once. The file is read into OpenSSL's
// secure heap (locked, excluded from core dumps) if the program has created it, parsed there and wiped. Listeners with
// the same key share one object. INVALID_ARGUMENT "PATH: why" if the file cannot be read, is not a regular file, is
// world-readable, is larger than 64 KiB, or does not contain an unencrypted private key in PEM form. Thread-safe.
absl::StatusOr<PrivateKey> LoadPrivateKey(const std::string& path);

// Certificates are held as PEM texts, the key only as OpenSSL's object (PrivateKey).
class TlsFiles {
 public:
  // INVALID_ARGUMENT if a file is missing, is world-writable (the key: also world-readable) or is not PEM to its end,
  // if the key is encrypted or does not belong to the certificate, or if OpenSSL's policy refuses the certificate or
  // key (for example a key that is too short). Whether clients can use it is not judged
  // (daemon/listen/listener_tls.h).
  static absl::StatusOr<std::unique_ptr<TlsFiles>> Load(const TlsServerConfig& config);
  TlsFiles(const TlsFiles&) = delete;
  TlsFiles& operator=(const TlsFiles&) = delete;

  const std::string& certificates() const { return certificates_; }
  const PrivateKey& key() const { return key_; }
  const std::string& client_ca() const { return client_ca_; }  // empty if no client certificate is requested
  // End of validity of the server certificate.
  absl::Time not_after() const { return not_after_; }

 private:
  TlsFiles() = default;

  std::string certificates_;
  PrivateKey key_;
  std::string client_ca_;
  absl::Time not_after_;
};

// Adds the error of TlsFiles::Load() to `errors`, and an error of the client CA file if that did not reach it.
void CheckTlsFiles(const TlsServerConfig& config, ErrorList& errors);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_CONFIG_LISTENER_CONFIG_H_
