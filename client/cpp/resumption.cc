// SPDX-License-Identifier: Apache-2.0
#include "client/cpp/resumption.h"

#include <algorithm>
#include <utility>

namespace sideband::library {

void Resumption::Lost() {
  for (auto& [name, device] : devices_) device.is_open = true;
  if (kind_ == StreamKind::kOnChange && has_had_change_) all_are_open_ = true;
}

void Resumption::AccountedFor(const std::string& device) {
  // Who accounts for one accounts for all that the token knows.
  all_are_open_ = false;
  for (auto& [name, one] : devices_) {
    if (device.empty() || name == device) one.is_open = false;
  }
}

bool Resumption::IsRepeat(const Snapshot& snapshot) {
  const auto found = devices_.find(snapshot.device);
  if (found == devices_.end() || !found->second.is_open) return false;
  Device& device = found->second;
  if (device.boot_id != snapshot.boot_id || device.snapshot_id != snapshot.snapshot_id) return false;
  device.is_open = false;
  return true;
}

std::optional<Gap> Resumption::GapBefore(const std::string& device, std::optional<Time> time) {
  if (std::exchange(all_are_open_, false)) return Gap{.to = time, .reason = GapReason::kNotResumed};
  const auto found = devices_.find(device);
  if (found == devices_.end() || !std::exchange(found->second.is_open, false)) return std::nullopt;
  return Gap{.device = device, .from = found->second.time, .to = time, .reason = GapReason::kNotResumed};
}

std::optional<Gap> Resumption::GapBeforeAny() {
  if (!std::exchange(all_are_open_, false)) return std::nullopt;
  return Gap{.reason = GapReason::kNotResumed};
}

void Resumption::Had(const Snapshot& snapshot) {
  Device& device = devices_[snapshot.device];
  device.boot_id = snapshot.boot_id;
  device.snapshot_id = snapshot.snapshot_id;
  device.time = snapshot.host_time;
}

void Resumption::Had(const std::string& device, std::optional<Time> time) {
  Device& had = devices_[device];
  if (time && (!had.time || *had.time < *time)) had.time = time;
}

}  // namespace sideband::library
