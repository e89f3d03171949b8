// SPDX-License-Identifier: Apache-2.0
//
// Parses the query of a request's target.
//   SIDEBAND_ASSIGN_OR_RETURN(const QueryParameters parameters, ParseQuery("/metrics?event[]=cycles&scope=vm"));
#ifndef SIDEBAND_DAEMON_HTTP_QUERY_PARAMETERS_H_
#define SIDEBAND_DAEMON_HTTP_QUERY_PARAMETERS_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace sideband::daemon {

// Names and values in order, percent-decoded.
using QueryParameters = std::vector<std::pair<std::string, std::string>>;

// INVALID_ARGUMENT where `target` is not in origin form (RFC 9112, section 3.2.1); unescaped brackets are accepted.
absl::StatusOr<QueryParameters> ParseQuery(absl::string_view target);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_HTTP_QUERY_PARAMETERS_H_
