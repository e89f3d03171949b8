// SPDX-License-Identifier: Apache-2.0
#include "daemon/collector/device_marks.h"

#include <algorithm>

#include "absl/time/time.h"
#include "daemon/base/retry_after.h"
#include "daemon/collector/not_readable.h"
#include "proto/base/status_macros.h"

namespace sideband::daemon {
namespace {

// Of the command, and of what the next snapshot then has. (proto/mailbox/README.md, "Bookmarks")
absl::Duration CostOf(const mailbox::Catalog& catalog, uint32_t bus_hz) {
  constexpr double kCommandBitTimes = 5000, kBitTimesOfEvent = 45;
  const double bit_times = kCommandBitTimes + kBitTimesOfEvent * static_cast<double>(catalog.events.size());
  return absl::Seconds(bit_times / bus_hz);
}

// The numbers of VMs and contexts may be of others by now.
bool IsThere(const MarkScope& scope, const mailbox::Snapshot& data) {
  return data.boot_id == scope.boot_id && std::ranges::any_of(data.blocks, [&](const mailbox::BlockHeader& block) {
           return block.vm == scope.vm && block.context == scope.context && block.generation == scope.generation;
         });
}

}  // namespace

absl::Status DeviceMarks::Charge(uint16_t vm, const DeviceSnapshot& newest) {
  const auto info = parts_.store.Info(device_);
  if (info == nullptr) return NotReadable();
  if (info->bus_hz == 0) return absl::OkStatus();
  const mailbox::Catalog& catalog = newest.topology->catalog();
  const double share = kBusShare / static_cast<double>(std::max<size_t>(1, catalog.vms.size()));
  const absl::Duration wait = shares_[vm].Take(share, CostOf(catalog, info->bus_hz), parts_.clock.Steady());
  if (wait <= absl::ZeroDuration()) return absl::OkStatus();
  return WithRetryAfter(absl::ResourceExhaustedError("the bus time for marks of the VM is used up"), wait);
}

absl::Status DeviceMarks::Ask(const BookmarkOrder& order, BookmarkSink::Done done) {
  const auto newest = parts_.store.Newest(device_);
  if (newest == nullptr) return NotReadable();
  {
    absl::MutexLock lock(&mu_);
    if (is_closed_) return NotReadable();
    const auto own = waiting_.find(order.scope.vm);
    if (own != waiting_.end() && own->second.size() == kWaitingMax) {
      return WithRetryAfter(absl::ResourceExhaustedError("too many marks of the VM wait for the device"),
                            absl::Seconds(1));
    }
    SIDEBAND_RETURN_IF_ERROR(Charge(order.scope.vm, *newest));
    waiting_[order.scope.vm].push_back({order, std::move(done)});
  }
  parts_.wake();
  return absl::OkStatus();
}

// By turns, so that a VM waits for one mark of each other at most.
std::optional<DeviceMarks::Waiting> DeviceMarks::Take() {
  absl::MutexLock lock(&mu_);
  if (waiting_.empty()) return std::nullopt;
  auto next = waiting_.upper_bound(last_);
  if (next == waiting_.end()) next = waiting_.begin();
  last_ = next->first;
  Waiting waiting = std::move(next->second.front());
  next->second.pop_front();
  if (next->second.empty()) waiting_.erase(next);
  return waiting;
}

void DeviceMarks::Close() {
  {
    absl::MutexLock lock(&mu_);
    is_closed_ = true;
  }
  while (const auto waiting = Take()) Answer(*waiting, NotReadable());
}

void DeviceMarks::Answer(const Waiting& waiting, const absl::StatusOr<uint64_t>& requested_ns) const {
  if (const auto info = parts_.store.Info(device_)) parts_.metrics.Mark(info->name, requested_ns.status().code());
  waiting.done(requested_ns);
}

absl::StatusOr<uint64_t> DeviceMarks::Run(const BookmarkOrder& order) {
  const auto newest = parts_.store.Newest(device_);
  if (newest == nullptr || !IsThere(order.scope, newest->data)) return NotReadable();
  return reader_.Bookmark(order.scope.vm, order.scope.context, order.bookmark);
}

bool DeviceMarks::RunNext(bool is_readable) {
  const auto waiting = Take();
  if (!waiting) return false;
  Answer(*waiting, is_readable ? Run(waiting->order) : NotReadable());
  return true;
}

}  // namespace sideband::daemon
