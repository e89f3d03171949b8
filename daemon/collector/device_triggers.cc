// SPDX-License-Identifier: Apache-2.0
#include "daemon/collector/device_triggers.h"

#include "daemon/collector/not_readable.h"
#include "proto/base/status_macros.h"

namespace sideband::daemon {

absl::Status DeviceTriggers::Ask(mailbox::TriggerStep step, uint64_t argument, Done done) {
  {
    absl::MutexLock lock(&mu_);
    if (is_closed_) return NotReadable();
    if (waiting_.size() == kWaitingMax) return absl::ResourceExhaustedError("too many triggers wait for the device");
    waiting_.push_back({step, argument, std::move(done)});
  }
  wake_();
  return absl::OkStatus();
}

std::optional<DeviceTriggers::Request> DeviceTriggers::Take() {
  absl::MutexLock lock(&mu_);
  if (waiting_.empty()) return std::nullopt;
  Request request = std::move(waiting_.front());
  waiting_.pop_front();
  return request;
}

void DeviceTriggers::Close() {
  {
    absl::MutexLock lock(&mu_);
    is_closed_ = true;
  }
  while (const auto request = Take()) request->done(NotReadable());
}

absl::StatusOr<uint32_t> DeviceTriggers::Run(const Request& request) {
  if (request.step != mailbox::TriggerStep::kSelect) return session_.Trigger(request.step, request.argument);
  SIDEBAND_RETURN_IF_ERROR(clocks_.Select(request.argument));
  return 0;
}

bool DeviceTriggers::RunNext(bool is_readable) {
  const auto request = Take();
  if (!request) return false;
  request->done(is_readable ? Run(*request) : NotReadable());
  return true;
}

}  // namespace sideband::daemon
