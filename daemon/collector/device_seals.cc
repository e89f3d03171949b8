// SPDX-License-Identifier: Apache-2.0
#include "daemon/collector/device_seals.h"

#include <algorithm>

#include "daemon/collector/bus_share.h"
#include "proto/base/status_macros.h"

namespace sideband::daemon {

absl::Status DeviceSeals::CheckRoom(uint16_t vm) const {
  const auto of_vm = std::ranges::count(waiting_, vm, [](const Waiting& waiting) { return waiting.charge.asker; });
  if (waiting_.size() < kWaitingMax && static_cast<size_t>(of_vm) < kWaitingOfVmMax) return absl::OkStatus();
  return Exhausted("too many exchanges of keys wait for the device", BusShare::kBurst);
}

absl::Status DeviceSeals::Enqueue(uint16_t vm, Work work) {
  const absl::Duration now = clock_.Steady();
  absl::MutexLock lock(&mu_);
  if (is_closed_) return absl::UnavailableError("the device is no longer read");
  SIDEBAND_RETURN_IF_ERROR(CheckRoom(vm));
  FairShare::Charge charge{.asker = vm, .of = kBusShare, .cost = kExpected};
  const absl::Duration wait = share_.Take(charge, now);
  if (wait > absl::ZeroDuration()) return Exhausted("the bus time for exchanges of keys is used up", wait);
  waiting_.push_back({std::move(work), charge});
  return absl::OkStatus();
}

absl::Status DeviceSeals::Ask(uint16_t vm, Work work) {
  SIDEBAND_RETURN_IF_ERROR(Enqueue(vm, std::move(work)));
  wake_();
  return absl::OkStatus();
}

void DeviceSeals::Settle(const FairShare::Charge& charge, absl::Duration actual) {
  absl::MutexLock lock(&mu_);
  share_.Settle(charge, actual);
}

std::optional<DeviceSeals::Waiting> DeviceSeals::Take() {
  absl::MutexLock lock(&mu_);
  if (waiting_.empty()) return std::nullopt;
  Waiting waiting = std::move(waiting_.front());
  waiting_.pop_front();
  return waiting;
}

void DeviceSeals::Close() {
  {
    absl::MutexLock lock(&mu_);
    is_closed_ = true;
  }
  while (const auto waiting = Take()) waiting->work(nullptr);
}

bool DeviceSeals::RunNext(bool is_readable) {
  const auto waiting = Take();
  if (!waiting) return false;
  const absl::Duration begin = clock_.Steady();
  waiting->work(is_readable ? &writer_ : nullptr);
  Settle(waiting->charge, clock_.Steady() - begin);
  return true;
}

}  // namespace sideband::daemon
