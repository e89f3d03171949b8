// SPDX-License-Identifier: Apache-2.0
//
// The token in an Authorization field (RFC 6750, 2.1).
//   credentials.bearer_token = BearerToken("Bearer eyJ…");
#ifndef SIDEBAND_DAEMON_IDENTITY_BEARER_H_
#define SIDEBAND_DAEMON_IDENTITY_BEARER_H_

#include <string>

#include "absl/strings/string_view.h"

namespace sideband::daemon {

// Returns the token after the scheme `Bearer` (case-insensitive), without surrounding whitespace. Returns an empty
// string, which is never a valid token, for any other scheme.
std::string BearerToken(absl::string_view authorization);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_IDENTITY_BEARER_H_
