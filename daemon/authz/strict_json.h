// SPDX-License-Identifier: Apache-2.0
//
// A JSON object from somebody who may be hostile.
//   SIDEBAND_ASSIGN_OR_RETURN(const nlohmann::json claims, ParseJsonObject(payload));
#ifndef SIDEBAND_DAEMON_AUTHZ_STRICT_JSON_H_
#define SIDEBAND_DAEMON_AUTHZ_STRICT_JSON_H_

#include <nlohmann/json.hpp>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace sideband::daemon {

// INVALID_ARGUMENT unless the text is one object of RFC 8259 and nothing else, UTF-8 throughout, without a name that
// any object in it has twice (whose readers would disagree on which counts).
absl::StatusOr<nlohmann::json> ParseJsonObject(absl::string_view text);

// The text of a member that is one; nullptr where it is absent or anything else.
const std::string* FindString(const nlohmann::json& object, const char* name);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_AUTHZ_STRICT_JSON_H_
