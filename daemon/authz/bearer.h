// SPDX-License-Identifier: Apache-2.0
//
// The token in an Authorization field (RFC 6750, 2.1).
//   credentials.bearer_token = BearerToken("Bearer eyJ…");
#ifndef SIDEBAND_DAEMON_AUTHZ_BEARER_H_
#define SIDEBAND_DAEMON_AUTHZ_BEARER_H_

#include <string>

#include "absl/strings/string_view.h"

namespace sideband::daemon {

// What stands after "Bearer " (in any case), without spaces around it. Empty, which is nobody's token, for another
// scheme.
std::string BearerToken(absl::string_view authorization);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_AUTHZ_BEARER_H_
