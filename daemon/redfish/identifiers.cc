// SPDX-License-Identifier: Apache-2.0
#include "daemon/redfish/identifiers.h"

#include <cstdint>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace sideband::daemon {
namespace {

// '~' is not among them, so that no name looks like another one's escape.
bool IsPlain(char c) { return absl::ascii_isalnum(c) || c == '_' || c == '-' || c == '.'; }

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

}  // namespace sideband::daemon
