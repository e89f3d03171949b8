// SPDX-License-Identifier: Apache-2.0
//
// Parses the queries of /metrics, /audit and /page/history.
//   SIDEBAND_ASSIGN_OR_RETURN(const ScrapeFilter filter, ParseScrapeQuery(request.target));
#ifndef SIDEBAND_DAEMON_HTTP_QUERIES_H_
#define SIDEBAND_DAEMON_HTTP_QUERIES_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "daemon/exposition/exposition.h"
#include "proto/exposition/prometheus_text.h"
#include "sideband/v1/telemetry.pb.h"

namespace sideband::daemon {

// Parses the query of a request's target.
// Names and values in order, percent-decoded.
using QueryParameters = std::vector<std::pair<std::string, std::string>>;

// INVALID_ARGUMENT where `target` is not in origin form (RFC 9112, section 3.2.1); unescaped brackets are accepted.
absl::StatusOr<QueryParameters> ParseQuery(absl::string_view target);

// Selects format and encoding by the Accept and Accept-Encoding fields (RFC 9110, sections 12.5.1 and 12.5.3).
// OpenMetrics where it is listed with version 1.0.0 or without a version, with a weight no less than that of plain
// text. Else text, even where it is not listed: a scrape in an unlisted format is better than a failed scrape.
MetricsFormat FormatFor(absl::string_view accept);

// Whether gzip, or "*" without gzip, is listed with a weight above 0. An invalid weight counts as 0.
bool AcceptsGzip(absl::string_view accept_encoding);

// /metrics: ?event[]=NAME and ?scope=device|vm|context|host, each any number of times.
//
// `target` is a path with or without a query, as sent. INVALID_ARGUMENT, with a message for the client, for a malformed
// query, an unknown parameter or scope, an empty event name, or more than kScrapeEventsMax events. Whether the events
// exist is not checked.
absl::StatusOr<ScrapeFilter> ParseScrapeQuery(absl::string_view target);
inline constexpr size_t kScrapeEventsMax = 256;

// /audit: ?after=SEQUENCE, once or not at all. The sequence, 0 without a query (from the beginning). INVALID_ARGUMENT,
// with a message for the client, for any other query.
absl::StatusOr<uint64_t> ParseAuditQuery(absl::string_view target);

// /page/history: ?event=NAME&seconds=N, both required; a second event may follow. The events' counters of the last
// `seconds`, 1 to 86400, before `now`, in at most 300 points. INVALID_ARGUMENT, with a message for the client, for any
// other query.
absl::StatusOr<sideband::v1::GetHistoryRequest> ParseHistoryQuery(absl::string_view target, absl::Time now);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_HTTP_QUERIES_H_
