// SPDX-License-Identifier: Apache-2.0
//
// The query of /metrics: ?event[]=NAME, any number of times, and ?scope=device|vm|context, likewise.
//   SIDEBAND_ASSIGN_OR_RETURN(const ScrapeFilter filter, ParseScrapeQuery(request.target));
#ifndef SIDEBAND_DAEMON_HTTP_SCRAPE_QUERY_H_
#define SIDEBAND_DAEMON_HTTP_SCRAPE_QUERY_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "daemon/exposition/scrape_filter.h"

namespace sideband::daemon {

// `target` as it was sent: a path with or without a query. INVALID_ARGUMENT, in words for the client, for what is no
// query, an unknown parameter or scope, and more than kScrapeEventsMax events. Whether an event exists is not looked
// at.
absl::StatusOr<ScrapeFilter> ParseScrapeQuery(absl::string_view target);
inline constexpr size_t kScrapeEventsMax = 256;

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_HTTP_SCRAPE_QUERY_H_
