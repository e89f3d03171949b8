// SPDX-License-Identifier: Apache-2.0
#include "daemon/page/shared_rows.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "daemon/page/message_json.h"
#include "daemon/view/row_filter.h"
#include "daemon/view/snapshot_message.h"

namespace sideband::daemon {
namespace {

std::string Member(absl::string_view name, const std::vector<std::string>& items) {
  return absl::StrCat("\"", name, "\":[", absl::StrJoin(items, ","), "]");
}

std::string RowsJson(const std::vector<VisibleDevice>& devices) {
  std::vector<std::string> scopes, snapshots;
  for (const VisibleDevice& device : devices) {
    if (device.snapshot == nullptr) continue;
    for (const sideband::v1::Scope& scope : ScopeMessages(*device.info, *device.view)) {
      if (scope.confidential()) scopes.push_back(MessageJson(scope));
    }
    sideband::v1::Snapshot snapshot = SnapshotMessage(device, RowFilter());
    if (snapshot.scopes_size() == 0) continue;  // as in GetSnapshot
    // The rows are shown until the next snapshot; their age grows meanwhile.
    snapshot.clear_age();
    snapshots.push_back(MessageJson(snapshot));
  }
  return absl::StrCat(Member("scopes", scopes), ",", Member("snapshots", snapshots));
}

}  // namespace

std::shared_ptr<const std::string> SharedRows::JsonOf(const Caller& caller, const std::vector<VisibleDevice>& devices) {
  std::vector<Shown> shown;
  for (const VisibleDevice& device : devices) {
    shown.push_back({device.info, device.snapshot, device.view, device.state});
  }
  const std::shared_ptr<Group> group = groups_.Find(caller);
  absl::MutexLock lock(&group->mu);
  if (group->json != nullptr && group->shown == shown) return group->json;
  group->json = std::make_shared<const std::string>(RowsJson(devices));
  group->shown = std::move(shown);
  return group->json;
}

}  // namespace sideband::daemon
