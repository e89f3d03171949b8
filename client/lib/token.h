// SPDX-License-Identifier: Apache-2.0
//
// Reads a bearer token from a file, as written by Kubernetes or SPIRE.
//   SIDEBAND_ASSIGN_OR_RETURN(const std::string token, LoadToken("/var/run/secrets/tokens/sideband"));
#ifndef SIDEBAND_CLIENT_LIB_TOKEN_H_
#define SIDEBAND_CLIENT_LIB_TOKEN_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace sideband::client {

// The daemon rejects longer tokens.
inline constexpr size_t kTokenBytesMax = 8192;

// The file's content without surrounding white space. INVALID_ARGUMENT naming the file if the token is empty, too long,
// or not valid in a header field. The daemon verifies the token.
absl::StatusOr<std::string> LoadToken(const std::string& path);

// The expiry time in a JWT; nullopt if the token is not a JWT or has no expiry. Not verified: for messages only.
std::optional<absl::Time> TokenExpiry(const std::string& token);

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_LIB_TOKEN_H_
