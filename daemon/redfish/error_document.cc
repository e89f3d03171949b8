// SPDX-License-Identifier: Apache-2.0
#include "daemon/redfish/error_document.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>

#include "absl/strings/cord.h"
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
    {absl::StatusCode::kOutOfRange,
     {400, "QueryParameterOutOfRange", "The value '%1' for the query parameter %2 is out of range %3.", "Warning",
      "Reduce the value for the query parameter to a value that is within range."}},
    {absl::StatusCode::kUnimplemented,
     {501, "QueryNotSupported", "Querying is not supported by the implementation.", "Warning",
      "Remove the query parameters and resubmit the request if the operation failed."}},
    {absl::StatusCode::kResourceExhausted,
     {507, "GeneralError", kGeneralText, "Critical", "Ask for a smaller resource."}},
};

constexpr MessageRow kBadValue = {400, "QueryParameterValueError", "The value for the parameter %1 is invalid.",
                                  "Warning", "Correct the value for the query parameter."};
constexpr MessageRow kUnavailable = {503, "GeneralError", kGeneralText, "Critical", "Ask again later."};
constexpr MessageRow kBusy = {429, "ServiceTemporarilyUnavailable",
                              "The service is temporarily unavailable.  Retry in %1 seconds.", "Critical",
                              "Wait for the indicated retry duration and retry the operation."};
constexpr MessageRow kMethod = {405, "OperationNotAllowed", "The HTTP method is not allowed on this resource.",
                                "Critical", "Use GET or HEAD: the service is read only."};

// "%1" is the first argument. All are replaced at once, since an argument may look like one of them.
std::string TextOf(const MessageRow& row, const nlohmann::json& arguments) {
  std::vector<std::pair<std::string, std::string>> replacements;
  for (size_t i = 0; i < arguments.size(); ++i) {
    replacements.emplace_back(absl::StrCat("%", i + 1), arguments[i].get<std::string>());
  }
  return absl::StrReplaceAll(row.text, replacements);
}

// Where WithMessageArgs has put them.
constexpr char kArgumentsKey[] = "sideband/redfish-message-args";

nlohmann::json ArgumentsOf(const absl::Status& error) {
  const auto text = error.GetPayload(kArgumentsKey);
  return text ? nlohmann::json::parse(std::string(*text)) : nlohmann::json::array();
}

RedfishError ErrorOf(const MessageRow& row, const nlohmann::json& arguments, absl::string_view resolution) {
  const std::string text = TextOf(row, arguments);
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

absl::Status WithMessageArgs(absl::Status error, const std::vector<std::string>& arguments) {
  error.SetPayload(kArgumentsKey, absl::Cord(nlohmann::json(arguments).dump()));
  return error;
}

RedfishError RedfishErrorOf(const absl::Status& error, absl::string_view path) {
  const auto found = std::ranges::find(kErrors, error.code(), &ErrorRow::code);
  if (found == std::end(kErrors)) return ErrorOf(kUnavailable, nlohmann::json::array(), "");
  const bool is_absent = error.code() == absl::StatusCode::kNotFound;
  if (is_absent) return ErrorOf(found->message, nlohmann::json::array({std::string(path)}), "");
  const nlohmann::json arguments = ArgumentsOf(error);
  const bool is_of_query = error.code() == absl::StatusCode::kInvalidArgument && !arguments.empty();
  return ErrorOf(is_of_query ? kBadValue : found->message, arguments, error.message());
}

RedfishError RedfishBusyError(int64_t retry_after_s) {
  return ErrorOf(kBusy, nlohmann::json::array({absl::StrCat(retry_after_s)}), "");
}

RedfishError RedfishMethodError() { return ErrorOf(kMethod, nlohmann::json::array(), ""); }

}  // namespace sideband::daemon
