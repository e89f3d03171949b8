// SPDX-License-Identifier: Apache-2.0
#include "daemon/redfish/error_document.h"

#include <algorithm>
#include <iterator>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace sideband::daemon {
namespace {

struct MessageRow {
  int http_status;
  const char* key;  // in the registry
  const char* text;
  const char* severity;
  const char* resolution;
};

struct ErrorRow {
  absl::StatusCode code;
  MessageRow message;
};

constexpr char kRegistry[] = "Base.1.16.";
constexpr char kGeneralText[] =
    "A general error has occurred.  See Resolution for information on how to resolve the error.";

constexpr ErrorRow kErrors[] = {
    {absl::StatusCode::kInvalidArgument, {400, "GeneralError", kGeneralText, "Critical", "Correct the request."}},
    {absl::StatusCode::kUnauthenticated,
     {401, "NoValidSession", "There is no valid session established with the implementation.", "Critical",
      "Send a bearer token in X-Auth-Token or Authorization, or use a client certificate."}},
    {absl::StatusCode::kPermissionDenied,
     {403, "InsufficientPrivilege",
      "There are insufficient privileges for the account or credentials associated with the current session to perform "
      "the requested operation.",
      "Critical", "Use the credentials of an identity that the service's policy lists."}},
    {absl::StatusCode::kNotFound,
     {404, "ResourceMissingAtURI", "The resource at the URI '%1' was not found.", "Critical",
      "Place a valid resource at the URI or correct the URI and resubmit the request."}},
    {absl::StatusCode::kFailedPrecondition,
     {412, "GeneralError", kGeneralText, "Critical", "Send OData-Version: 4.0, or omit the field."}},
    {absl::StatusCode::kUnimplemented,
     {501, "QueryNotSupported", "Querying is not supported by the implementation.", "Warning",
      "Remove the query parameters and resubmit the request if the operation failed."}},
    {absl::StatusCode::kResourceExhausted,
     {507, "GeneralError", kGeneralText, "Critical", "Ask for a smaller resource."}},
};

constexpr MessageRow kUnavailable = {503, "GeneralError", kGeneralText, "Critical", "Ask again later."};
constexpr MessageRow kBusy = {429, "ServiceTemporarilyUnavailable",
                              "The service is temporarily unavailable.  Retry in %1 seconds.", "Critical",
                              "Wait for the indicated retry duration and retry the operation."};
constexpr MessageRow kMethod = {405, "OperationNotAllowed", "The HTTP method is not allowed on this resource.",
                                "Critical", "Use GET or HEAD: the service is read only."};

RedfishError ErrorOf(const MessageRow& row, const nlohmann::json& arguments, absl::string_view resolution) {
  std::string text = row.text;
  if (!arguments.empty()) absl::StrReplaceAll({{"%1", arguments[0].get<std::string>()}}, &text);
  const std::string id = absl::StrCat(kRegistry, row.key);
  const nlohmann::json message = {{"@odata.type", "#Message.v1_1_1.Message"},
                                  {"MessageId", id},
                                  {"Message", text},
                                  {"MessageArgs", arguments},
                                  {"MessageSeverity", row.severity},
                                  {"Resolution", resolution.empty() ? row.resolution : std::string(resolution)}};
  return {row.http_status,
          {{"error", {{"code", id}, {"message", text}, {"@Message.ExtendedInfo", nlohmann::json::array({message})}}}}};
}

}  // namespace

RedfishError RedfishErrorOf(const absl::Status& error, absl::string_view path) {
  const auto found = std::ranges::find(kErrors, error.code(), &ErrorRow::code);
  if (found == std::end(kErrors)) return ErrorOf(kUnavailable, nlohmann::json::array(), "");
  const bool is_absent = error.code() == absl::StatusCode::kNotFound;
  const auto arguments = is_absent ? nlohmann::json::array({std::string(path)}) : nlohmann::json::array();
  return ErrorOf(found->message, arguments, is_absent ? "" : error.message());
}

RedfishError RedfishBusyError(int64_t retry_after_s) {
  return ErrorOf(kBusy, nlohmann::json::array({absl::StrCat(retry_after_s)}), "");
}

RedfishError RedfishMethodError() { return ErrorOf(kMethod, nlohmann::json::array(), ""); }

}  // namespace sideband::daemon
