// SPDX-License-Identifier: Apache-2.0
#include "daemon/http/query_parameters.h"

#include <boost/url/parse.hpp>

#include "absl/strings/str_replace.h"

namespace sideband::daemon {

absl::StatusOr<QueryParameters> ParseQuery(absl::string_view target) {
  // Clients commonly send brackets unescaped, although a query must not contain them.
  const std::string encoded = absl::StrReplaceAll(target, {{"[", "%5B"}, {"]", "%5D"}});
  const auto url = boost::urls::parse_origin_form(encoded);
  if (url.has_error()) return absl::InvalidArgumentError("malformed query");
  QueryParameters parameters;
  for (const boost::urls::param parameter : url->params()) {
    if (parameter.key.empty() && !parameter.has_value) continue;  // "?" and "&" without a parameter
    parameters.emplace_back(parameter.key, parameter.value);
  }
  return parameters;
}

}  // namespace sideband::daemon
