// SPDX-License-Identifier: Apache-2.0
#include "daemon/redfish/document.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace sideband::daemon {
namespace {

constexpr char kSchemasUri[] = "http://redfish.dmtf.org/schemas/v1/";

// "#Sensor.v1_7_0.Sensor" is of Sensor.v1_7_0.json.
std::string SchemaOf(absl::string_view type) {
  return absl::StrCat(kSchemasUri, type.substr(1, type.rfind('.')), "json");
}

}  // namespace

RedfishDocument DocumentOf(const nlohmann::json& json) {
  const auto type = json.find("@odata.type");
  return {.content_type = kRedfishJsonType,
          .text = json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace),
          .schema = type == json.end() ? "" : SchemaOf(type->get_ref<const std::string&>())};
}

}  // namespace sideband::daemon
