// SPDX-License-Identifier: Apache-2.0
//
// Selects format and encoding by the Accept and Accept-Encoding fields (RFC 9110, sections 12.5.1 and 12.5.3).
//   const MetricsFormat format = FormatFor(request.accept);
//   const bool gzip = AcceptsGzip(request.accept_encoding);
#ifndef SIDEBAND_DAEMON_HTTP_NEGOTIATION_H_
#define SIDEBAND_DAEMON_HTTP_NEGOTIATION_H_

#include "absl/strings/string_view.h"
#include "proto/exposition/text.h"

namespace sideband::daemon {

// OpenMetrics where it is listed with version 1.0.0 or without a version, with a weight no less than that of plain
// text. Else text, even where it is not listed: a scrape in an unlisted format is better than a failed scrape.
MetricsFormat FormatFor(absl::string_view accept);

// Whether gzip, or "*" without gzip, is listed with a weight above 0. An invalid weight counts as 0.
bool AcceptsGzip(absl::string_view accept_encoding);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_HTTP_NEGOTIATION_H_
