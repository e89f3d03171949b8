// SPDX-License-Identifier: Apache-2.0
#include "daemon/http/target_list.h"

#include <nlohmann/json.hpp>

namespace sideband::daemon {
namespace {

std::string JsonOf(const std::vector<TargetGroup>& groups) {
  nlohmann::json list = nlohmann::json::array();
  for (const TargetGroup& group : groups) list.push_back({{"targets", group.targets}, {"labels", group.labels}});
  // A request's host may be any bytes.
  return list.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

void TargetList::Replace(const Groups& groups) {
  std::optional<std::string> json;
  if (groups) json = JsonOf(*groups);
  absl::MutexLock lock(&mu_);
  json_ = std::move(json);
}

std::string TargetList::Json(const std::string& host) const {
  absl::MutexLock lock(&mu_);
  if (json_) return *json_;
  return JsonOf(host.empty() ? std::vector<TargetGroup>() : std::vector<TargetGroup>{{.targets = {host}}});
}

}  // namespace sideband::daemon
