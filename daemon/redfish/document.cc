// SPDX-License-Identifier: Apache-2.0
#include "daemon/redfish/document.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "proto/base/status_macros.h"

namespace sideband::daemon {
namespace {

// '~' is not among them, so that no name looks like another one's escape.
bool IsPlain(char c) { return absl::ascii_isalnum(c) || c == '_' || c == '-' || c == '.'; }

constexpr char kSchemasUri[] = "http://redfish.dmtf.org/schemas/v1/";

// "#Sensor.v1_7_0.Sensor" is of Sensor.v1_7_0.json.
std::string SchemaOf(absl::string_view type) {
  return absl::StrCat(kSchemasUri, type.substr(1, type.rfind('.')), "json");
}

}  // namespace

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

}  // namespace sideband::daemon
