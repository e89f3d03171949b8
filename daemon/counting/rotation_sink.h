// SPDX-License-Identifier: Apache-2.0
//
// Where new turns of a device's counters go: to the thread that talks to the device.
//   SIDEBAND_RETURN_IF_ERROR(sink.Apply("gpu0", snapshot.data.boot_id, request));
#ifndef SIDEBAND_DAEMON_COUNTING_ROTATION_SINK_H_
#define SIDEBAND_DAEMON_COUNTING_ROTATION_SINK_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "proto/mailbox/rotation.h"

namespace sideband::daemon {

class RotationSink {
 public:
  virtual ~RotationSink() = default;

  // Thread-safe; does not wait for the device. `request` is in terms of the catalogue of this boot. UNAVAILABLE: an
  // earlier request of the device is under way.
  virtual absl::Status Apply(const std::string& device, uint64_t boot_id, const mailbox::RotationRequest& request) = 0;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_COUNTING_ROTATION_SINK_H_
