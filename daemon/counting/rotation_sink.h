// SPDX-License-Identifier: Apache-2.0
//
// Where new turns of a device's counters go: to the thread that talks to the device.
//   const RotationOrder order{snapshot.data.boot_id, snapshot.topology, request};
//   SIDEBAND_RETURN_IF_ERROR(sink.Ask(device, order, [](const absl::Status& status) { Answer(status); }));
#ifndef SIDEBAND_DAEMON_COUNTING_ROTATION_SINK_H_
#define SIDEBAND_DAEMON_COUNTING_ROTATION_SINK_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <variant>

#include "absl/status/status.h"
#include "daemon/snapshot/topology.h"
#include "proto/mailbox/catalog.h"
#include "proto/mailbox/rotation.h"

namespace sideband::daemon {

// To store when a VM or a context fluctuates.
struct LearnRequest {
  uint16_t vm = 0;
  uint16_t context = mailbox::kNoContext;
  bool operator==(const LearnRequest&) const = default;
};

struct RotationOrder {
  uint64_t boot_id = 0;
  std::shared_ptr<const Topology> topology;  // that the numbers of `what` are of
  std::variant<mailbox::RotationRequest, LearnRequest> what;
  size_t asker = 0;  // whose part of the bus's time it uses
};

// Thread-safe.
class RotationSink {
 public:
  // Called once, on the thread of the device: as of RotationWriter, or UNAVAILABLE if nothing was asked of the device,
  // also because it has started again, or has another VM or context of the same number.
  using Done = std::function<void(const absl::Status& status)>;

  virtual ~RotationSink() = default;

  // Does not wait for the device. After an error `done` is not called: RESOURCE_EXHAUSTED, with the time of a retry, if
  // too many wait or the asker's part of the bus's time is used up; UNAVAILABLE if the device is no longer read.
  virtual absl::Status Ask(size_t device, RotationOrder order, Done done) = 0;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_COUNTING_ROTATION_SINK_H_
