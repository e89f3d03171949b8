// SPDX-License-Identifier: Apache-2.0
//
// The target of a request for a Redfish resource: the names in its path, and its query.
//   SIDEBAND_ASSIGN_OR_RETURN(const RedfishTarget target, ParseRedfishTarget("/redfish/v1/Chassis?$top=1"));
//   SIDEBAND_ASSIGN_OR_RETURN(const PageOptions page, PageOf(target, /*is_collection=*/true));
#ifndef SIDEBAND_DAEMON_REDFISH_REQUEST_TARGET_H_
#define SIDEBAND_DAEMON_REDFISH_REQUEST_TARGET_H_

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace sideband::daemon {

struct RedfishTarget {
  std::vector<std::string> segments;                            // percent-decoded; without that of a slash at the end
  std::vector<std::pair<std::string, std::string>> parameters;  // names and values of the query, likewise
};

// INVALID_ARGUMENT where `target` is not in origin form (RFC 9112, section 3.2.1).
absl::StatusOr<RedfishTarget> ParseRedfishTarget(absl::string_view target);

// The members of a collection that a request asks for.
struct PageOptions {
  size_t skip = 0;
  std::optional<size_t> top;  // nullopt: all of the rest
  // The option of $expand: ".", "*" or "~"; empty without it. A collection has no Links, so that '~' expands nothing.
  std::string expand;

  bool expands_members() const { return expand == "." || expand == "*"; }
};

// By the parameters $skip, $top and $expand. As DSP0266 demands, other parameters are ignored, but UNIMPLEMENTED if
// they begin with '$', as is $expand of a resource that is not a collection. INVALID_ARGUMENT where $skip or $top has
// no number from 0 to 999,999,999, or the resource is not a collection, where $expand is malformed, and where one is
// given twice. OUT_OF_RANGE for other $levels than 1. The errors are for RedfishErrorOf.
absl::StatusOr<PageOptions> PageOf(const RedfishTarget& target, bool is_collection);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_REDFISH_REQUEST_TARGET_H_
