// SPDX-License-Identifier: Apache-2.0
#include "daemon/redfish/collection.h"

#include <algorithm>
#include <cstddef>

#include "absl/strings/str_cat.h"
#include "daemon/redfish/identifiers.h"
#include "proto/base/status_macros.h"

namespace sideband::daemon {

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
