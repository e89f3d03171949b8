// SPDX-License-Identifier: Apache-2.0
#include "daemon/collector/device_marks.h"

#include <algorithm>

#include "absl/time/time.h"
#include "daemon/base/retry_after.h"

namespace sideband::daemon {
namespace {

absl::Status NotReadable() { return absl::UnavailableError("the device cannot be reached now"); }

// The numbers of VMs and contexts may be of others by now.
bool IsThere(const MarkScope& scope, const mailbox::Snapshot& data) {
  return data.boot_id == scope.boot_id && std::ranges::any_of(data.blocks, [&](const mailbox::BlockHeader& block) {
           return block.vm == scope.vm && block.context == scope.context && block.generation == scope.generation;
         });
}

}  // namespace

absl::Status DeviceMarks::Ask(const BookmarkOrder& order, BookmarkSink::Done done) {
  {
    absl::MutexLock lock(&mu_);
    if (is_closed_) return NotReadable();
    const auto is_of_vm = [&](const Waiting& waiting) { return waiting.order.scope.vm == order.scope.vm; };
    if (static_cast<size_t>(std::ranges::count_if(waiting_, is_of_vm)) == kWaitingMax) {
      return WithRetryAfter(absl::ResourceExhaustedError("too many marks of the VM wait for the device"),
                            absl::Seconds(1));
    }
    waiting_.push_back({order, std::move(done)});
  }
  parts_.wake();
  return absl::OkStatus();
}

std::optional<DeviceMarks::Waiting> DeviceMarks::Take() {
  absl::MutexLock lock(&mu_);
  if (waiting_.empty()) return std::nullopt;
  Waiting waiting = std::move(waiting_.front());
  waiting_.pop_front();
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
