// SPDX-License-Identifier: Apache-2.0
//
// The files of a client's credentials: certificates and key in PEM, a bearer token as Kubernetes or SPIRE write it, and
// whether they were replaced since they were read.
//   SIDEBAND_ASSIGN_OR_RETURN(const std::string token, LoadToken("/var/run/secrets/tokens/sideband"));
//   const FileStamps before = CredentialStamps(config);
//   const auto channel = Connect(config);
//   if (CredentialStamps(config) != before) ConnectAgain();
#ifndef SIDEBAND_CLIENT_LIB_CREDENTIALS_H_
#define SIDEBAND_CLIENT_LIB_CREDENTIALS_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/lib/config.h"

namespace sideband::client {

// The PEM texts of one side of a mutual TLS connection.
struct TlsMaterial {
  std::string ca;
  std::string certificate;
  std::string key;
};

// Reads the files, before gRPC does, which reports a bad file only by a log line and a channel that never connects.
// Checks that they contain certificates and the client certificate's own private key (without a
// password). If both client paths are empty, those two members stay empty. Errors start with the path of the faulty
// file.
absl::StatusOr<TlsMaterial> LoadTlsMaterial(const std::string& ca_file, const std::string& cert_file,
                                            const std::string& key_file);

// The daemon rejects longer tokens.
inline constexpr size_t kTokenBytesMax = 8192;

// The file's content without surrounding white space. INVALID_ARGUMENT naming the file if the token is empty, too long,
// or not valid in a header field. The daemon verifies the token.
absl::StatusOr<std::string> LoadToken(const std::string& path);

// The expiry time in a JWT; nullopt if the token is not a JWT or has no expiry. Not verified: for messages only.
std::optional<absl::Time> TokenExpiry(const std::string& token);

// Device, inode, size and time of change of each file, behind links; zeros for one that is not there.
using FileStamps = std::vector<std::array<int64_t, 4>>;

// Of the files that the configuration names: certificates, key and token. To be taken before they are read: what
// changes meanwhile is then seen as a change.
FileStamps CredentialStamps(const ClientConfig& config);

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_LIB_CREDENTIALS_H_
