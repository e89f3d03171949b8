// SPDX-License-Identifier: Apache-2.0
#include "daemon/redfish/document.h"

#include <algorithm>
#include <boost/url/parse.hpp>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/cord.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "proto/base/status_macros.h"

namespace sideband::daemon {
namespace {

constexpr uint32_t kNumberMax = 999'999'999;

constexpr char kExpand[] = "$expand";

absl::Status BadValue(const std::string& name, absl::string_view advice) {
  return WithMessageArgs(absl::InvalidArgumentError(absl::StrCat("Give ", name, " ", advice, ".")), {name});
}

bool HasDigitsOnly(absl::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

absl::StatusOr<size_t> Number(const std::string& name, absl::string_view value) {
  uint32_t number = 0;
  if (HasDigitsOnly(value) && absl::SimpleAtoi(value, &number) && number <= kNumberMax) return number;
  return BadValue(name, absl::StrCat("a number from 0 to ", kNumberMax));
}

// OPTION or OPTION($levels=NUMBER).
absl::StatusOr<std::string> ExpandOption(absl::string_view value) {
  const absl::Status malformed = BadValue(kExpand, "one of '.', '*' and '~', alone or with ($levels=1)");
  const std::string option(value.substr(0, 1));
  if (option != "." && option != "*" && option != "~") return malformed;
  absl::string_view levels = value.substr(1);
  if (levels.empty()) return option;
  if (!absl::ConsumePrefix(&levels, "($levels=") || !absl::ConsumeSuffix(&levels, ")")) return malformed;
  if (levels.empty() || !HasDigitsOnly(levels)) return malformed;
  if (levels == "1") return option;
  return WithMessageArgs(absl::OutOfRangeError("Expand one level."), {std::string(levels), "$levels", "1"});
}

// '~' is not among them, so that no name looks like another one's escape.
bool IsPlain(char c) { return absl::ascii_isalnum(c) || c == '_' || c == '-' || c == '.'; }

constexpr char kSchemasUri[] = "http://redfish.dmtf.org/schemas/v1/";

// "#Sensor.v1_7_0.Sensor" is of Sensor.v1_7_0.json.
std::string SchemaOf(absl::string_view type) {
  return absl::StrCat(kSchemasUri, type.substr(1, type.rfind('.')), "json");
}

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

absl::StatusOr<RedfishTarget> ParseRedfishTarget(absl::string_view target) {
  const auto url = boost::urls::parse_origin_form({target.data(), target.size()});
  if (url.has_error()) return absl::InvalidArgumentError("Correct the URI.");
  RedfishTarget parsed;
  for (const std::string segment : url->segments()) parsed.segments.push_back(segment);
  if (!parsed.segments.empty() && parsed.segments.back().empty()) parsed.segments.pop_back();
  for (const boost::urls::param parameter : url->params()) {
    parsed.parameters.emplace_back(parameter.key, parameter.value);
  }
  return parsed;
}

absl::StatusOr<PageOptions> PageOf(const RedfishTarget& target, bool is_collection) {
  std::optional<size_t> skip, top;
  std::string expand;
  for (const auto& [name, value] : target.parameters) {
    if (!absl::StartsWith(name, "$")) continue;
    if (name == kExpand && is_collection) {
      if (!expand.empty()) return absl::InvalidArgumentError("Give $expand once.");
      SIDEBAND_ASSIGN_OR_RETURN(expand, ExpandOption(value));
      continue;
    }
    if (name != "$skip" && name != "$top") {
      return absl::UnimplementedError(absl::StrCat("Remove the query parameter ", name, "."));
    }
    if (!is_collection) return absl::InvalidArgumentError(absl::StrCat("Use ", name, " with a collection."));
    std::optional<size_t>& number = name == "$skip" ? skip : top;
    if (number) return absl::InvalidArgumentError(absl::StrCat("Give ", name, " once."));
    SIDEBAND_ASSIGN_OR_RETURN(number, Number(name, value));
  }
  return PageOptions{skip.value_or(0), top, expand};
}

std::string RedfishId(absl::string_view name) {
  // Clients resolve these two away.
  const bool is_dots = name == "." || name == "..";
  std::string id;
  for (const char c : name) {
    if (IsPlain(c) && !is_dots) {
      id.push_back(c);
    } else {
      absl::StrAppendFormat(&id, "~%02X", static_cast<uint8_t>(c));
    }
  }
  return id;
}

std::string MemberUri(absl::string_view collection, absl::string_view name) {
  return absl::StrCat(collection, "/", RedfishId(name));
}

std::string SensorsUri(absl::string_view device) { return absl::StrCat(MemberUri(kChassisUri, device), "/Sensors"); }

std::string SensorUri(absl::string_view device, absl::string_view id) {
  return absl::StrCat(SensorsUri(device), "/", id);
}

std::string EnvironmentMetricsUri(absl::string_view device) {
  return absl::StrCat(MemberUri(kChassisUri, device), "/EnvironmentMetrics");
}

std::string ProcessorMetricsUri(absl::string_view device) {
  return absl::StrCat(MemberUri(kProcessorsUri, device), "/ProcessorMetrics");
}

std::string RedfishTime(absl::Time time) {
  return absl::FormatTime("%Y-%m-%d%ET%H:%M:%E3SZ", time, absl::UTCTimeZone());
}

std::string RedfishTime(const google::protobuf::Timestamp& time) {
  return RedfishTime(absl::FromUnixSeconds(time.seconds()) + absl::Nanoseconds(time.nanos()));
}

RedfishDocument DocumentOf(const nlohmann::json& json) {
  const auto type = json.find("@odata.type");
  return {.content_type = kRedfishJsonType,
          .text = json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace),
          .schema = type == json.end() ? "" : SchemaOf(type->get_ref<const std::string&>())};
}

nlohmann::json LinkTo(const std::string& uri) { return {{"@odata.id", uri}}; }

nlohmann::json CollectionJson(const CollectionInfo& info, const std::vector<std::string>& names,
                              const PageOptions& page) {
  const size_t first = std::min(page.skip, names.size());
  const size_t count = std::min(page.top.value_or(names.size()), names.size() - first);
  nlohmann::json members = nlohmann::json::array();
  for (size_t i = first; i < first + count; ++i) members.push_back(LinkTo(MemberUri(info.uri, names[i])));
  nlohmann::json collection = {{"@odata.id", info.uri},
                               {"@odata.type", absl::StrCat("#", info.type, ".", info.type)},
                               {"Name", info.name},
                               {"Members", std::move(members)},
                               {"Members@odata.count", names.size()}};
  // A page of nothing would lead to itself.
  if (count > 0 && first + count < names.size()) {
    const std::string expand = page.expand.empty() ? "" : absl::StrCat("&$expand=", page.expand);
    collection["Members@odata.nextLink"] = absl::StrCat(info.uri, "?$skip=", first + count, "&$top=", count, expand);
  }
  return collection;
}

absl::Status ExpandMembers(const PageOptions& page, const std::function<absl::StatusOr<nlohmann::json>(size_t)>& make,
                           nlohmann::json& collection) {
  if (!page.expands_members()) return absl::OkStatus();
  size_t i = page.skip;
  for (nlohmann::json& member : collection["Members"]) {
    SIDEBAND_ASSIGN_OR_RETURN(member, make(i++));
  }
  return absl::OkStatus();
}

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
