// SPDX-License-Identifier: Apache-2.0
//
// Where the daemon is and who we are: from a YAML file, whose every value a flag may replace.
//   address: sideband.example:9878
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

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace sideband::client {

// Where a daemon on this host listens unless told otherwise.
inline constexpr char kDefaultAddress[] = "127.0.0.1:9878";

// Empty: not given.
struct ClientConfig {
  std::string address;
  std::string ca_file;
  std::string cert_file;
  std::string key_file;
  std::string token_file;
  std::string server_name;

  bool operator==(const ClientConfig&) const = default;
};

// Strict: unknown keys and wrong types are "FILE:LINE: what is wrong"; whether the certificates exist is for the
// connection to say.
absl::StatusOr<ClientConfig> LoadClientConfig(const std::string& path);

// The environment variable of that name, if it is set.
using GetEnv = std::function<std::optional<std::string>(const std::string& name)>;

// Which file to load: `given` where it is not empty (--config), else $SIDEBAND_CONFIG, else
// ~/.config/sideband/client.yaml if that exists, else none.
std::optional<std::string> FindClientConfig(const std::string& given, const GetEnv& get_env);

// `config` with what `flags` gives in place of its own, and the default address if there is none.
ClientConfig Override(ClientConfig config, const ClientConfig& flags);

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_LIB_CONFIG_H_
