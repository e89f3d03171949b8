// SPDX-License-Identifier: Apache-2.0
//
// The query of a request's target.
//   SIDEBAND_ASSIGN_OR_RETURN(const QueryParameters parameters, ParseQuery("/metrics?event[]=cycles&scope=vm"));
#ifndef SIDEBAND_DAEMON_HTTP_QUERY_PARAMETERS_H_
#define SIDEBAND_DAEMON_HTTP_QUERY_PARAMETERS_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace sideband::daemon {

// Names and values as they were meant, without percent signs, in their order.
using QueryParameters = std::vector<std::pair<std::string, std::string>>;

// INVALID_ARGUMENT for what is no target in origin form (RFC 9112, section 3.2.1); brackets may stand for themselves.
absl::StatusOr<QueryParameters> ParseQuery(absl::string_view target);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_HTTP_QUERY_PARAMETERS_H_
