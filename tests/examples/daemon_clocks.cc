// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "absl/time/time.h"
#include "daemon/clocks/device_clocks.h"
#include "daemon/clocks/host_clock.h"
#include "daemon/clocks/line_book.h"
#include "daemon/snapshot/device_snapshot.h"

namespace sideband::daemon {
namespace {

void UseDeviceClocks(const Topology& topology, const mailbox::Snapshot& raw, const DeviceInfo& info,
                     DeviceSnapshot* snapshot) {
  //@ daemon/clocks/device_clocks.h
}

void UseLineBook(const DeviceInfo& info, const LatchedPulse& latch, DeviceSnapshot* snapshot) {
  //@ daemon/clocks/line_book.h
}

void Publish(absl::Duration raw, absl::Duration error);

void UseHostClock(absl::Duration s0, absl::Duration s1) {
  //@ daemon/clocks/host_clock.h
}

}  // namespace
}  // namespace sideband::daemon
