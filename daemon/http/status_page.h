// SPDX-License-Identifier: Apache-2.0
//
// The page for people at "/": the devices that the caller sees, without scripts.
#ifndef SIDEBAND_DAEMON_HTTP_STATUS_PAGE_H_
#define SIDEBAND_DAEMON_HTTP_STATUS_PAGE_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "daemon/api/reader.h"

namespace sideband::daemon {

// With &, <, >, " and ' as entities.
std::string EscapeHtml(absl::string_view text);

// How the device is, in words for a page or a line: "fresh, 0.4s old".
std::string DescribeState(const VisibleDevice& device);

// All text in it is escaped.
std::string StatusPage(const std::vector<VisibleDevice>& devices);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_HTTP_STATUS_PAGE_H_
