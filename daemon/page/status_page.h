// SPDX-License-Identifier: Apache-2.0
//
// The status page: one HTML file with its script and style, the same for every caller. What it shows it requests from
// the daemon (page_data.h). The files in web/ are its source.
//   HttpResponse response{.content_security_policy = std::string(StatusPagePolicy()),
//                         .body = Body::Of(std::string(StatusPage()))};
#ifndef SIDEBAND_DAEMON_PAGE_STATUS_PAGE_H_
#define SIDEBAND_DAEMON_PAGE_STATUS_PAGE_H_

#include "absl/strings/string_view.h"

namespace sideband::daemon {

// Both live forever.
absl::string_view StatusPage();
// The value of the Content-Security-Policy field: permits the page's own script and style by their hashes, requests to
// the daemon that sent the page, and nothing else.
absl::string_view StatusPagePolicy();

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_PAGE_STATUS_PAGE_H_
