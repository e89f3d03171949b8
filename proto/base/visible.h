// SPDX-License-Identifier: Apache-2.0
//
// Text from elsewhere on a terminal: what the terminal would obey is shown instead.
#ifndef SIDEBAND_PROTO_BASE_VISIBLE_H_
#define SIDEBAND_PROTO_BASE_VISIBLE_H_

#include <string>

#include "absl/strings/string_view.h"

namespace sideband {

// `text` with ASCII control characters, and those of Latin-1 in UTF-8, as \xNN per byte. All else stays, quotes and
// backslashes too.
std::string Visible(absl::string_view text);

}  // namespace sideband

#endif  // SIDEBAND_PROTO_BASE_VISIBLE_H_
