// SPDX-License-Identifier: Apache-2.0
//
// A collection of resources, or the page of it that is asked for.
//   const nlohmann::json chassis = CollectionJson({"ChassisCollection", "Chassis", kChassisUri}, {"gpu0", "gpu1"},
//   page);
#ifndef SIDEBAND_DAEMON_REDFISH_COLLECTION_H_
#define SIDEBAND_DAEMON_REDFISH_COLLECTION_H_

#include <cstddef>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "daemon/redfish/request_target.h"

namespace sideband::daemon {

struct CollectionInfo {
  const char* type;  // of Redfish, without a version: collections have none
  const char* name;
  std::string uri;
};

// {"@odata.id": uri}
nlohmann::json LinkTo(const std::string& uri);

// `names` are those of all members, before Ids are made of them. A page that leaves some for later has a link to the
// next one.
nlohmann::json CollectionJson(const CollectionInfo& info, const std::vector<std::string>& names,
                              const PageOptions& page);

// Where the request asks for the members themselves, replaces the links to those of the page. `make(i)` is the one of
// names[i]; its error, if it has one, is the answer.
absl::Status ExpandMembers(const PageOptions& page, const std::function<absl::StatusOr<nlohmann::json>(size_t)>& make,
                           nlohmann::json& collection);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_REDFISH_COLLECTION_H_
