// SPDX-License-Identifier: Apache-2.0
#include "daemon/view/snapshot_bodies.h"

#include <limits>

#include "daemon/view/snapshot_message.h"

namespace sideband::daemon {

SnapshotBodies::SnapshotBodies(Reader& reader, RequestMetrics& metrics)
    : reader_(reader), metrics_(metrics), policy_version_(reader.CurrentPolicy().version) {
  reader_.AddListener(*this);
}

SnapshotBodies::~SnapshotBodies() { reader_.RemoveListener(*this); }

void SnapshotBodies::OnUpdate() {
  std::vector<OfDevice> dropped;  // declared first: destroyed after the lock is released
  const uint64_t policy_version = reader_.CurrentPolicy().version;
  absl::MutexLock lock(&mu_);
  const bool has_changed = std::exchange(policy_version_, policy_version) != policy_version;
  absl::erase_if(devices_, [&](auto& of) {
    if (!has_changed && reader_.IsNewest(of.first, *of.second.snapshot)) return false;
    dropped.push_back(std::move(of.second));
    return true;
  });
}

size_t SnapshotBodies::kept() const {
  absl::MutexLock lock(&mu_);
  size_t kept = 0;
  for (const auto& [index, of_device] : devices_) {
    for (const auto& [view, of_view] : of_device.views) kept += of_view.entries.size();
  }
  return kept;
}

SharedSnapshot SnapshotBodies::Get(const VisibleDevice& device, const RowFilter& filter) {
  SharedSnapshot shared{.body = BodyOf(device, filter), .moment = MomentMessage(device).SerializeAsString()};
  if (shared.body->has_rows) metrics_.SnapshotSent();
  return shared;
}

std::shared_ptr<const SnapshotBody> SnapshotBodies::BodyOf(const VisibleDevice& device, const RowFilter& filter) {
  const std::shared_ptr<Entry> entry = Find(device, filter);
  if (entry == nullptr) return Make(device, filter);
  absl::MutexLock lock(&entry->mu);
  if (entry->body == nullptr) {
    entry->body = Make(device, filter);
    if (entry->filtered_bytes != nullptr) *entry->filtered_bytes += entry->body->bytes.size();
  }
  return entry->body;
}

std::shared_ptr<const SnapshotBody> SnapshotBodies::Make(const VisibleDevice& device, const RowFilter& filter) {
  metrics_.SnapshotSerialised();
  const sideband::v1::Snapshot message = SnapshotBodyMessage(device, filter);
  auto body = std::make_shared<SnapshotBody>();
  body->has_rows = message.scopes_size() > 0;
  body->is_whole = message.ByteSizeLong() <= std::numeric_limits<int>::max();
  if (body->is_whole) body->bytes = message.SerializeAsString();
  return body;
}

std::shared_ptr<SnapshotBodies::Entry> SnapshotBodies::Find(const VisibleDevice& device, const RowFilter& filter) {
  OfDevice dropped;  // declared first: destroyed after the lock is released
  absl::MutexLock lock(&mu_);
  // A late reader's snapshot or configuration of the device would displace the newest's bodies.
  if (!reader_.IsNewest(device.index, *device.snapshot)) return nullptr;
  OfDevice& of_device = devices_[device.index];
  if (of_device.snapshot != device.snapshot || of_device.info != device.info) {
    dropped = std::exchange(of_device, {.snapshot = device.snapshot, .info = device.info});
  }
  return FindIn(OfViewIn(of_device, device.view), device.state == VisibleDevice::State::kFresh, filter.rows_key());
}

SnapshotBodies::OfView& SnapshotBodies::OfViewIn(OfDevice& of_device, const std::shared_ptr<const View>& view) {
  const auto found = of_device.views.find(view.get());
  if (found != of_device.views.end()) return found->second;
  // A view that nobody else holds is never asked for again. While the audit log takes no entries, each request has
  // another one.
  absl::erase_if(of_device.views, [](const auto& of) { return of.second.view.use_count() == 1; });
  OfView& of_view = of_device.views[view.get()];
  of_view.view = view;
  return of_view;
}

std::shared_ptr<SnapshotBodies::Entry> SnapshotBodies::FindIn(OfView& of_view, bool is_fresh,
                                                              const std::string& rows_key) {
  const auto found = of_view.entries.find(FilterKey(is_fresh, rows_key));
  if (found != of_view.entries.end()) return found->second;
  if (!rows_key.empty()) {
    // Clients choose their filters: without bounds they would choose the daemon's memory.
    const bool has_room = of_view.entries.size() < kFiltersMax && *of_view.filtered_bytes < kFilteredBytesMax;
    if (!has_room || rows_key.size() > kFilterKeyBytesMax) return nullptr;
  }
  auto entry = std::make_shared<Entry>();
  if (!rows_key.empty()) entry->filtered_bytes = of_view.filtered_bytes;
  of_view.entries.emplace(FilterKey(is_fresh, rows_key), entry);
  return entry;
}

}  // namespace sideband::daemon
