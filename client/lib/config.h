// SPDX-License-Identifier: Apache-2.0
//
// The daemon's address and the client's credentials, from a YAML file. Flags override single values.
//   address: sideband.example:9878   # or a list, for commands that ask several daemons
//   ca_file: ca.pem            # relative to the file's own folder
//   cert_file: client.pem
//   key_file: client.key
//   token_file: token          # optional: a bearer token, beside the certificate or in its place
//   server_name: sidebandd     # optional: the name in the server's certificate
#ifndef SIDEBAND_CLIENT_LIB_CONFIG_H_
#define SIDEBAND_CLIENT_LIB_CONFIG_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace sideband::client {

// The daemon's default listen address on this host.
inline constexpr char kDefaultAddress[] = "127.0.0.1:9878";

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

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_LIB_CONFIG_H_
