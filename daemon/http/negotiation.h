// SPDX-License-Identifier: Apache-2.0
//
// What a client can read, from its Accept and Accept-Encoding fields (RFC 9110, sections 12.5.1 and 12.5.3).
//   const MetricsFormat format = FormatFor(request.accept);
//   const bool gzip = AcceptsGzip(request.accept_encoding);
#ifndef SIDEBAND_DAEMON_HTTP_NEGOTIATION_H_
#define SIDEBAND_DAEMON_HTTP_NEGOTIATION_H_

#include "absl/strings/string_view.h"
#include "daemon/exposition/text.h"

namespace sideband::daemon {

// OpenMetrics where it is named in version 1.0.0, or in none, and is wanted no less than plain text; else text,
// whatever is asked for: a scrape that is answered in a format of which the client did not speak beats one that fails.
MetricsFormat FormatFor(absl::string_view accept);

// Whether gzip is named, or "*" and not gzip, with a weight above 0. A weight that is no number counts as 0.
bool AcceptsGzip(absl::string_view accept_encoding);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_HTTP_NEGOTIATION_H_
