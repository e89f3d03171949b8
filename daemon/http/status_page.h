// SPDX-License-Identifier: Apache-2.0
//
// The HTML status page at "/": the devices that the caller sees. It has no scripts.
//   HttpResponse response{.body = Body::Of(StatusPage(reader.Devices(caller)))};
#ifndef SIDEBAND_DAEMON_HTTP_STATUS_PAGE_H_
#define SIDEBAND_DAEMON_HTTP_STATUS_PAGE_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "daemon/view/reader.h"

namespace sideband::daemon {

// Replaces &, <, >, " and ' by entities.
std::string EscapeHtml(absl::string_view text);

// The device's state as text: "fresh, 0.4s old".
std::string DescribeState(const VisibleDevice& device);

// All text is escaped.
std::string StatusPage(const std::vector<VisibleDevice>& devices);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_HTTP_STATUS_PAGE_H_
