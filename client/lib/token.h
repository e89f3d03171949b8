// SPDX-License-Identifier: Apache-2.0
//
// A bearer token in a file, as Kubernetes and SPIRE put them there.
//   SIDEBAND_ASSIGN_OR_RETURN(const std::string token, LoadToken("/var/run/secrets/tokens/sideband"));
#ifndef SIDEBAND_CLIENT_LIB_TOKEN_H_
#define SIDEBAND_CLIENT_LIB_TOKEN_H_

#include <string>

#include "absl/status/statusor.h"

namespace sideband::client {

// The daemon takes no longer one.
inline constexpr size_t kTokenBytesMax = 8192;

// The file's content without the space around it. INVALID_ARGUMENT naming the file where that is nothing, too long, or
// could not stand in a header field; whether it is good is for the daemon to say.
absl::StatusOr<std::string> LoadToken(const std::string& path);

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_LIB_TOKEN_H_
