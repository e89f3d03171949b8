// SPDX-License-Identifier: Apache-2.0
//
// The schema of what is this service's own in its answers: the types of "Oem": {"Sideband": …}, as the file of CSDL
// that $metadata refers to, and as a JSON schema (DSP0266, "Schema definition languages"). Both are constant.
//   EXPECT_TRUE(OemJsonSchema()["definitions"].contains("SensorValue"));
#ifndef SIDEBAND_DAEMON_REDFISH_OEM_SCHEMA_H_
#define SIDEBAND_DAEMON_REDFISH_OEM_SCHEMA_H_

#include <nlohmann/json.hpp>
#include <string>

namespace sideband::daemon {

inline constexpr char kOemNamespace[] = "SidebandTelemetry";
inline constexpr char kOemVersion[] = "SidebandTelemetry.v1_0_0";

inline constexpr char kOemCsdlUri[] = "/redfish/v1/Schemas/SidebandTelemetry_v1.xml";
inline constexpr char kOemJsonSchemaUri[] = "/redfish/v1/Schemas/SidebandTelemetry.v1_0_0.json";

std::string OemCsdl();
nlohmann::json OemJsonSchema();

// The resource that says where the JSON schema is.
nlohmann::json JsonSchemaFileJson();

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_REDFISH_OEM_SCHEMA_H_
