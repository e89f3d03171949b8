// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/serve/viewed_device.h"

#include <cstdio>
#include <string>

#include "absl/strings/str_format.h"

namespace sideband::mcu {

mailbox::Snapshot ViewedDevice::Latch() {
  mailbox::Snapshot snapshot = device_.Latch();
  Show(snapshot);
  return snapshot;
}

void ViewedDevice::Tick() {
  if (views_ == nullptr) return device_.CatchUp();
  Show(device_.Observe());
}

void ViewedDevice::Show(const mailbox::Snapshot& snapshot) {
  if (views_ == nullptr) return;
  const absl::Status status = views_->Publish(device_.catalog(), snapshot);
  if (!status.ok() && !failed_) {
    absl::FPrintF(stderr, "sideband-mcu: guest views: %s\n", std::string(status.message()));
  }
  failed_ = !status.ok();
}

}  // namespace sideband::mcu
