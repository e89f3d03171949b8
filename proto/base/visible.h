// SPDX-License-Identifier: Apache-2.0
//
// Escapes untrusted text for a terminal.
#ifndef SIDEBAND_PROTO_BASE_VISIBLE_H_
#define SIDEBAND_PROTO_BASE_VISIBLE_H_

#include <string>

#include "absl/strings/string_view.h"

namespace sideband {

// Escapes ASCII control characters, Latin-1 control characters in UTF-8, and invalid UTF-8 as \xNN per byte. Other
// characters are unchanged, including quotes and backslashes.
std::string Visible(absl::string_view text);

}  // namespace sideband

#endif  // SIDEBAND_PROTO_BASE_VISIBLE_H_
