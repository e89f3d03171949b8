// SPDX-License-Identifier: Apache-2.0
#include "daemon/http/redfish_response.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "daemon/redfish/error_document.h"

namespace sideband::daemon {
namespace {

constexpr char kVersion[] = "4.0";

HttpResponse ErrorResponse(const RedfishError& error) {
  const RedfishDocument document = DocumentOf(error.document);
  return {.status = error.http_status,
          .content_type = document.content_type,
          .fields = {{"OData-Version", kVersion}},
          .body = Body::Of(document.text)};
}

}  // namespace

std::optional<std::string> BearerTokenOf(const HttpRequest& request) {
  const std::optional<std::string>& bearer = request.credentials.bearer_token;
  if (!request.session_token) return bearer;
  if (bearer && *bearer != *request.session_token) return "";
  return request.session_token;
}

absl::StatusOr<RedfishDocument> CheckedVersion(const HttpRequest& request, absl::StatusOr<RedfishDocument> answer) {
  if (request.odata_version.empty() || request.odata_version == kVersion) return answer;
  return absl::FailedPreconditionError("");
}

HttpResponse RedfishResponse(absl::StatusOr<RedfishDocument> answer, absl::string_view path) {
  if (!answer.ok()) return ErrorResponse(RedfishErrorOf(answer.status(), path));
  HttpResponse response = {.content_type = std::move(answer->content_type),
                           .fields = {{"OData-Version", kVersion}, {"Allow", "GET, HEAD"}},
                           .body = Body::Of(std::move(answer->text))};
  if (!answer->schema.empty()) {
    response.fields.emplace_back("Link", absl::StrCat("<", answer->schema, ">; rel=describedby"));
  }
  return response;
}

HttpResponse RedfishBusyResponse(int64_t retry_after_s) { return ErrorResponse(RedfishBusyError(retry_after_s)); }

// The server adds the field Allow.
HttpResponse RedfishMethodResponse() { return ErrorResponse(RedfishMethodError()); }

}  // namespace sideband::daemon
