// SPDX-License-Identifier: Apache-2.0
#include "client/cli/watch_news.h"

namespace sideband::client {
namespace {

// The item without what changes.
std::string IdentityOf(v1::StateItem item) {
  item.clear_gone();
  if (item.has_device()) {
    const std::string name = item.device().name();
    item.mutable_device()->Clear();
    item.mutable_device()->set_name(name);
  } else if (item.has_scope()) {
    item.mutable_scope()->clear_state();
    item.mutable_scope()->clear_flags();
  } else if (item.has_limit()) {
    v1::Sensor sensor;
    sensor.set_name(item.limit().sensor().name());
    *sensor.mutable_labels() = item.limit().sensor().labels();
    *item.mutable_limit()->mutable_sensor() = std::move(sensor);
  } else if (item.has_mark()) {
    v1::MarkInfo mark;
    mark.set_mark_id(item.mark().mark_id());
    mark.mutable_scope()->set_device(item.mark().scope().device());
    mark.mutable_scope()->set_vm(item.mark().scope().vm());
    mark.mutable_scope()->set_vm_uuid(item.mark().scope().vm_uuid());
    *item.mutable_mark() = std::move(mark);
  }
  return item.SerializeAsString();
}

}  // namespace

bool WatchNews::Take(const v1::SubscribeResponse& response) {
  const v1::Snapshot& update = response.update();
  const Sample now{update.boot_id(), update.snapshot_id(), update.reference_time_ns()};
  const auto [entry, is_first] = samples_.try_emplace(update.device(), now);
  if (is_first) return true;
  Sample& last = entry->second;
  const bool is_repeat = last.boot_id == now.boot_id && last.snapshot_id == now.snapshot_id;
  if (is_repeat || (response.heartbeat() && !IsDue(response, last, now))) return false;
  last = now;
  return true;
}

// The daemon does not say whether a snapshot of a heartbeat is also a sample of the stream. It is if it has skipped
// others; if it has skipped none, it is the next one after the sample before. In doubt it is printed.
bool WatchNews::IsDue(const v1::SubscribeResponse& response, const Sample& last, const Sample& now) const {
  if (interval_ == absl::ZeroDuration() || response.skipped() > 0 || last.boot_id != now.boot_id) return true;
  const absl::Duration since = absl::Nanoseconds(static_cast<int64_t>(now.reference_time_ns - last.reference_time_ns));
  const bool is_next = now.snapshot_id == last.snapshot_id + 1;
  return since >= interval_ || (is_next && 2 * since >= interval_);
}

bool WatchNews::Narrow(v1::SubscribeResponse& response) {
  std::map<std::string, int> alike;
  v1::StateChange news;
  for (v1::StateItem& item : *response.mutable_change()->mutable_items()) {
    const std::string identity = IdentityOf(item);
    const bool is_new = TakeItem({identity, alike[identity]++}, item);
    if (is_new || !response.heartbeat()) *news.add_items() = std::move(item);
  }
  *response.mutable_change() = std::move(news);
  return response.change().items_size() > 0;
}

bool WatchNews::TakeItem(const Key& key, const v1::StateItem& item) {
  // What happens is no state.
  if (item.has_board_event()) return true;
  if (item.gone()) return state_.erase(key) > 0;
  std::string content = item.SerializeAsString();
  std::string& known = state_[key];
  if (known == content) return false;
  known = std::move(content);
  return true;
}

}  // namespace sideband::client
