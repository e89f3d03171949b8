// SPDX-License-Identifier: Apache-2.0
//
// HTTP for the Redfish service: its documents and errors with the fields that DSP0266 demands, and its own field for
// tokens.
//   request.credentials.bearer_token = BearerTokenOf(request);
//   HttpResponse response = RedfishResponse(CheckedVersion(request, document), "/redfish/v1/Chassis");
#ifndef SIDEBAND_DAEMON_HTTP_REDFISH_RESPONSE_H_
#define SIDEBAND_DAEMON_HTTP_REDFISH_RESPONSE_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "daemon/http/http_message.h"
#include "daemon/redfish/document.h"

namespace sideband::daemon {

// That of Authorization or of X-Auth-Token. Two that differ make the caller ambiguous: they are an empty token, which
// is rejected.
std::optional<std::string> BearerTokenOf(const HttpRequest& request);

// FAILED_PRECONDITION where the request wants another version of OData than 4.0; else the answer.
absl::StatusOr<RedfishDocument> CheckedVersion(const HttpRequest& request, absl::StatusOr<RedfishDocument> answer);

// `path` is the request's; an error is described as by RedfishErrorOf.
HttpResponse RedfishResponse(absl::StatusOr<RedfishDocument> answer, absl::string_view path);
// 429.
HttpResponse RedfishBusyResponse(int64_t retry_after_s);
// 405.
HttpResponse RedfishMethodResponse();

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_HTTP_REDFISH_RESPONSE_H_
