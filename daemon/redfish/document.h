// SPDX-License-Identifier: Apache-2.0
//
// An answer of the Redfish service, ready to be sent.
//   const RedfishDocument document = DocumentOf({{"@odata.type", "#Sensor.v1_7_0.Sensor"}, {"Id", "power_total"}});
//   EXPECT_EQ(document.schema, "http://redfish.dmtf.org/schemas/v1/Sensor.v1_7_0.json");
#ifndef SIDEBAND_DAEMON_REDFISH_DOCUMENT_H_
#define SIDEBAND_DAEMON_REDFISH_DOCUMENT_H_

#include <nlohmann/json.hpp>
#include <string>

namespace sideband::daemon {

inline constexpr char kRedfishJsonType[] = "application/json; charset=utf-8";
inline constexpr char kRedfishXmlType[] = "application/xml; charset=utf-8";

struct RedfishDocument {
  std::string content_type;
  std::string text;
  std::string schema;  // the URI of DMTF's schema of its type; empty: it has none
};

// Texts from devices may be any bytes: those that are not UTF-8 are replaced.
RedfishDocument DocumentOf(const nlohmann::json& json);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_REDFISH_DOCUMENT_H_
