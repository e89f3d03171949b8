// SPDX-License-Identifier: Apache-2.0
//
// The client's configuration, and the connection to sidebandd by it: by TLS with a client certificate, a bearer token,
// or both; or through its Unix socket. Reads and checks the files of these credentials.
//   const FileStamps before = CredentialStamps(config);
//   SIDEBAND_ASSIGN_OR_RETURN(const auto channel, Connect(config));
//   TelemetryClient client(channel, {.peer = config.address}, cancellation);
//   if (CredentialStamps(config) != before) ConnectAgain();
#ifndef SIDEBAND_CLIENT_LIB_CHANNEL_H_
#define SIDEBAND_CLIENT_LIB_CHANNEL_H_

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace grpc {
class Channel;
}

namespace sideband::client {

// The daemon's default listen address on this host.
inline constexpr char kDefaultAddress[] = "127.0.0.1:9878";

// The daemon's address and the client's credentials, from a YAML file. Flags override single values.
//   address: sideband.example:9878   # or a list, for commands that ask several daemons
//   ca_file: ca.pem            # relative to the file's own folder
//   cert_file: client.pem
//   key_file: client.key
//   token_file: token          # optional: a bearer token, beside the certificate or in its place
//   server_name: sidebandd     # optional: the name in the server's certificate
//
// Empty members are not given.
struct ClientConfig {
  std::string address;  // several are separated by commas
  std::string ca_file;
  std::string cert_file;
  std::string key_file;
  std::string token_file;
  std::string server_name;

  bool operator==(const ClientConfig&) const = default;
};

// Strict: unknown keys and wrong types are rejected with "FILE:LINE: reason". The existence of the certificates is
// checked by Connect() only.
absl::StatusOr<ClientConfig> LoadClientConfig(const std::string& path);

// Returns the value of an environment variable, or nullopt if it is not set.
using GetEnv = std::function<std::optional<std::string>(const std::string& name)>;

// The file to load: `given` if it is not empty (--config), else $SIDEBAND_CONFIG, else ~/.config/sideband/client.yaml
// if that exists, else nullopt.
std::optional<std::string> FindClientConfig(const std::string& given, const GetEnv& get_env);

// Overrides the members of `config` that `flags` gives. Sets the default address if neither has one. Each address is in
// the result once.
ClientConfig Override(ClientConfig config, const ClientConfig& flags);

// The addresses, each once. Connect() takes a configuration of one.
std::vector<std::string> AddressesOf(const ClientConfig& config);

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

// The PEM texts of one side of a mutual TLS connection.
struct TlsMaterial {
  std::string ca;
  std::string certificate;
  std::string key;
};

// Reads the files, before gRPC does, which reports a bad file only by a log line and a channel that never connects.
// Checks that they contain certificates and the client certificate's own private key (without a password). If both
// client paths are empty, those two members stay empty. Errors start with the path of the faulty file.
absl::StatusOr<TlsMaterial> LoadTlsMaterial(const std::string& ca_file, const std::string& cert_file,
                                            const std::string& key_file);

// The daemon rejects longer tokens.
inline constexpr size_t kTokenBytesMax = 8192;

// Reads a bearer token from a file, as Kubernetes and SPIRE write it: the content without surrounding white space.
// INVALID_ARGUMENT naming the file if the token is empty, too long, or not valid in a header field. The daemon verifies
// the token.
absl::StatusOr<std::string> LoadToken(const std::string& path);

// The expiry time in a JWT; nullopt if the token is not a JWT or has no expiry. Not verified: for messages only.
std::optional<absl::Time> TokenExpiry(const std::string& token);

// Device, inode, size and time of change of each file, behind links; zeros for one that is not there.
using FileStamps = std::vector<std::array<int64_t, 4>>;

// The stamps of the files that the configuration names: certificates, key and token. To be taken before the files are
// read: a change meanwhile is then seen.
FileStamps CredentialStamps(const ClientConfig& config);

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_LIB_CHANNEL_H_
