// SPDX-License-Identifier: Apache-2.0
#include "daemon/board/board_groups.h"

#include <algorithm>

namespace sideband::daemon {
namespace {

constexpr bool RowsAreInOrder() {
  for (size_t i = 0; i < kBoardGroupCount; ++i) {
    if (IndexOf(kBoardGroups[i].group) != i) return false;
  }
  return true;
}
static_assert(RowsAreInOrder());

}  // namespace

bool IsAnnounced(const GroupRow& row, const BoardCapabilities& capabilities) {
  if (row.group == BoardGroup::kCapabilities) return true;
  if (row.plan == nullptr) return false;
  return row.announced_by.empty() ? !capabilities.IsEmpty() : capabilities.HasAny(row.announced_by);
}

void ClearGroup(BoardGroup group, BoardReading& reading) {
  RowOf(group).clear(reading);
  reading.samples.erase(group);
}

absl::Duration PeriodOf(GroupClass group_class, absl::Duration interval) {
  switch (group_class) {
    case GroupClass::kInterval:
      return interval;
    // A device that is read seldom has nothing read more often than its counters.
    case GroupClass::kTenSeconds:
      return std::max(interval, absl::Seconds(10));
    case GroupClass::kThirtySeconds:
      return std::max(interval, absl::Seconds(30));
    case GroupClass::kMinute:
      return std::max(interval, absl::Seconds(60));
    case GroupClass::kStart:
      return absl::InfiniteDuration();
  }
  return absl::InfiniteDuration();
}

}  // namespace sideband::daemon
