// SPDX-License-Identifier: Apache-2.0
//
// Asks the terminal database about a terminal.
//   if (!HasFullScreen("xterm-256color")) return Refuse();
#ifndef SIDEBAND_CLIENT_TOP_TERMINAL_TYPE_H_
#define SIDEBAND_CLIENT_TOP_TERMINAL_TYPE_H_

#include <string>

namespace sideband::client::top {

// Whether the type, the value of TERM, is known and can place its cursor.
bool HasFullScreen(const std::string& type);

}  // namespace sideband::client::top

#endif  // SIDEBAND_CLIENT_TOP_TERMINAL_TYPE_H_
