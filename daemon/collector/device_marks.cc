// SPDX-License-Identifier: Apache-2.0
#include "daemon/collector/device_marks.h"

namespace sideband::daemon {
namespace {

absl::Status NotReadable() { return absl::UnavailableError("the device cannot be reached now"); }

}  // namespace

absl::Status DeviceMarks::Ask(const BookmarkOrder& order, BookmarkSink::Done done) {
  {
    absl::MutexLock lock(&mu_);
    if (is_closed_) return NotReadable();
    if (waiting_.size() == kWaitingMax) return absl::ResourceExhaustedError("too many marks wait for the device");
    waiting_.push_back({order, std::move(done)});
  }
  wake_();
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
  while (const auto waiting = Take()) waiting->done(NotReadable());
}

absl::StatusOr<uint64_t> DeviceMarks::Run(const BookmarkOrder& order) {
  const auto newest = store_.Newest(device_);
  // The numbers of VMs and contexts are of that boot.
  if (newest == nullptr || newest->data.boot_id != order.boot_id) return NotReadable();
  return reader_.Bookmark(order.vm, order.context, order.bookmark);
}

bool DeviceMarks::RunNext(bool is_readable) {
  const auto waiting = Take();
  if (!waiting) return false;
  waiting->done(is_readable ? Run(waiting->order) : NotReadable());
  return true;
}

}  // namespace sideband::daemon
