// SPDX-License-Identifier: Apache-2.0
//
// Parses JSON objects from hostile input.
//   SIDEBAND_ASSIGN_OR_RETURN(const nlohmann::json claims, ParseJsonObject(payload));
#ifndef SIDEBAND_DAEMON_IDENTITY_STRICT_JSON_H_
#define SIDEBAND_DAEMON_IDENTITY_STRICT_JSON_H_

#include <nlohmann/json.hpp>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace sideband::daemon {

// INVALID_ARGUMENT unless the text is exactly one RFC 8259 object in UTF-8. A repeated name in any object is rejected,
// since parsers disagree on the value that counts.
absl::StatusOr<nlohmann::json> ParseJsonObject(absl::string_view text);

// Returns the member's text; nullptr where the member is absent or not a string.
const std::string* FindString(const nlohmann::json& object, const char* name);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_IDENTITY_STRICT_JSON_H_
