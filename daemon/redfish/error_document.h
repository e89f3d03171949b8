// SPDX-License-Identifier: Apache-2.0
//
// Errors in Redfish's form (DSP0266, "Error responses"), with messages of DMTF's registry Base.
//   const RedfishError error = RedfishErrorOf(absl::NotFoundError(""), "/redfish/v1/Chassis/gpu9");
//   EXPECT_EQ(error.http_status, 404);
#ifndef SIDEBAND_DAEMON_REDFISH_ERROR_DOCUMENT_H_
#define SIDEBAND_DAEMON_REDFISH_ERROR_DOCUMENT_H_

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace sideband::daemon {

struct RedfishError {
  int http_status = 500;
  nlohmann::json document;
};

// The error with the arguments of its message in the registry: of OUT_OF_RANGE the value, the parameter and what it may
// be; of INVALID_ARGUMENT, which has them only where a parameter of the query is meant, its name.
absl::Status WithMessageArgs(absl::Status error, const std::vector<std::string>& arguments);

// The error's message, where it has one, is the advice to the client (Resolution); a status of another server must not
// be passed on. `path` is the request's, without its query: an absent and a denied resource have the same document.
// Codes other than those of this folder are 503.
RedfishError RedfishErrorOf(const absl::Status& error, absl::string_view path);

// The caller has used up what it may cost: 429.
RedfishError RedfishBusyError(int64_t retry_after_s);

// A method other than GET and HEAD: 405.
RedfishError RedfishMethodError();

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_REDFISH_ERROR_DOCUMENT_H_
