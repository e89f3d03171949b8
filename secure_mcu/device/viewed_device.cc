// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/device/viewed_device.h"

#include <cstdio>
#include <string>

#include "absl/strings/str_format.h"

namespace sideband::mcu {
namespace {

constexpr uint64_t kRefreshNs = 10'000'000;
constexpr uint64_t kSealedRefreshNs = 1'000'000'000;
// Without a latch for so long, no controller takes the records.
constexpr uint64_t kControllerGoneNs = 2 * kSealedRefreshNs;

}  // namespace

mailbox::Snapshot ViewedDevice::Latch() {
  mailbox::Snapshot snapshot = device_.Latch();
  latched_ns_ = snapshot.reference_time_ns;
  if (sealer_ != nullptr) sealer_->Seal(snapshot);
  Show(snapshot);
  return snapshot;
}

void ViewedDevice::Tick() {
  device_.CatchUp();
  if (views_ == nullptr) return;
  // Frames of a bus arrive in bursts. A latched view must stay long enough for a guest to read it.
  if (shown_ns_ && device_.ReferenceTimeNs() < *shown_ns_ + kRefreshNs) return;
  mailbox::Snapshot snapshot = device_.Observe();
  const bool has_controller = snapshot.reference_time_ns - latched_ns_ < kControllerGoneNs;
  if (sealer_ != nullptr && has_controller) sealer_->AddLast(snapshot);
  if (sealer_ != nullptr && !has_controller) sealer_->Seal(snapshot, kSealedRefreshNs);
  Show(snapshot);
}

void ViewedDevice::Show(const mailbox::Snapshot& snapshot) {
  if (views_ == nullptr) return;
  shown_ns_ = snapshot.reference_time_ns;
  const absl::Status status = views_->Publish(device_.catalog(), snapshot);
  if (!status.ok() && !failed_) {
    absl::FPrintF(stderr, "sideband-mcu: guest views: %s\n", std::string(status.message()));
  }
  failed_ = !status.ok();
}

}  // namespace sideband::mcu
