// SPDX-License-Identifier: Apache-2.0
#include "daemon/collector/board_snapshot.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "proto/base/hex.h"
#include "proto/mailbox/catalog.h"
#include "proto/mailbox/sys_id.h"

namespace sideband::daemon {
namespace {

Uuid UuidOf(const BoardReading& reading) {
  const auto guid = Find(reading.identity.items, mailbox::SysId::kGuid);
  const std::optional<Bytes> bytes = guid ? ParseHex(*guid) : std::nullopt;
  Uuid uuid;
  if (bytes && bytes->size() == uuid.bytes.size()) std::ranges::copy(*bytes, uuid.bytes.begin());
  return uuid;
}

}  // namespace

std::shared_ptr<DeviceSnapshot> BoardSnapshots::Make(const BoardReading& reading, const BoardTime& answered,
                                                     absl::Duration wall_error) {
  const auto newest = NewestSample(reading);
  if (!newest) return nullptr;
  const BoardTime time = newest->steady > answered.steady ? *newest : answered;
  const Uuid uuid = UuidOf(reading);
  if (topology_ == nullptr || topology_->catalog().device != uuid) {
    topology_ = std::make_shared<const Topology>(mailbox::Catalog{.device = uuid}, /*hash=*/0);
  }
  auto snapshot = std::make_shared<DeviceSnapshot>();
  snapshot->topology = topology_;
  snapshot->has_board = true;
  snapshot->host_time = time.wall;
  snapshot->host_time_error = wall_error;
  snapshot->steady_time = time.steady;
  snapshot->publication = ++publication_;
  return snapshot;
}

}  // namespace sideband::daemon
