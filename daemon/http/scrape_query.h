// SPDX-License-Identifier: Apache-2.0
//
// Parses the query of /metrics: ?event[]=NAME and ?scope=device|vm|context|host, each any number of times.
//   SIDEBAND_ASSIGN_OR_RETURN(const ScrapeFilter filter, ParseScrapeQuery(request.target));
#ifndef SIDEBAND_DAEMON_HTTP_SCRAPE_QUERY_H_
#define SIDEBAND_DAEMON_HTTP_SCRAPE_QUERY_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "daemon/exposition/scrape_filter.h"

namespace sideband::daemon {

// `target` is a path with or without a query, as sent. INVALID_ARGUMENT, with a message for the client, for a malformed
// query, an unknown parameter or scope, an empty event name, or more than kScrapeEventsMax events. Whether the events
// exist is not checked.
absl::StatusOr<ScrapeFilter> ParseScrapeQuery(absl::string_view target);
inline constexpr size_t kScrapeEventsMax = 256;

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_HTTP_SCRAPE_QUERY_H_
