// SPDX-License-Identifier: Apache-2.0
//
// The documents that are the same on every host and for every caller, and say nothing of devices. Any client may read
// that there is a Redfish service, and where it begins, as DSP0266 demands. The schema of this service's own types,
// "Oem": {"Sideband": …}, is a file of CSDL, to which $metadata refers, and a JSON schema (DSP0266, "Schema definition
// languages").
//   if (IsPublic(target)) return PublicDocument(target);
#ifndef SIDEBAND_DAEMON_REDFISH_PUBLIC_DOCUMENTS_H_
#define SIDEBAND_DAEMON_REDFISH_PUBLIC_DOCUMENTS_H_

#include <nlohmann/json.hpp>
#include <string>

#include "absl/status/statusor.h"
#include "daemon/redfish/document.h"

namespace sideband::daemon {

// Whether it is one of /redfish, /redfish/v1, /redfish/v1/odata and /redfish/v1/$metadata, with any query.
bool IsPublic(const RedfishTarget& target);

// The target must be public. Errors are those of PageOf.
absl::StatusOr<RedfishDocument> PublicDocument(const RedfishTarget& target);

inline constexpr char kOemNamespace[] = "SidebandTelemetry";
inline constexpr char kOemVersion[] = "SidebandTelemetry.v1_0_0";

inline constexpr char kOemCsdlUri[] = "/redfish/v1/Schemas/SidebandTelemetry_v1.xml";
inline constexpr char kOemJsonSchemaUri[] = "/redfish/v1/Schemas/SidebandTelemetry.v1_0_0.json";

std::string OemCsdl();
nlohmann::json OemJsonSchema();

// The resource that says where the JSON schema is.
nlohmann::json JsonSchemaFileJson();

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_REDFISH_PUBLIC_DOCUMENTS_H_
