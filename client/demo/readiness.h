// SPDX-License-Identifier: Apache-2.0
//
// Waits until a started program is ready.
//   SIDEBAND_RETURN_IF_ERROR(AwaitReady("sidebandd", {}, [&] { return Probe(); }, report));
#ifndef SIDEBAND_CLIENT_DEMO_READINESS_H_
#define SIDEBAND_CLIENT_DEMO_READINESS_H_

#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace sideband::client {

struct Patience {
  absl::Duration limit = absl::Seconds(30);         // from the first probe
  absl::Duration between = absl::Milliseconds(50);  // between two probes
  absl::Duration report = absl::Seconds(10);        // between two calls of `report`
};

// Returns the reason why the program is not ready yet; an empty string if it is ready; an error if waiting is
// pointless.
using ReadinessProbe = std::function<absl::StatusOr<std::string>()>;

// Repeats `probe` until the program is ready. An error of the probe is returned immediately. DEADLINE_EXCEEDED, with
// the last reason, after `patience.limit` of monotonic time. `report` receives the newest reason at every
// `patience.report`, so that a long wait is not silent.
absl::Status AwaitReady(const std::string& program, const Patience& patience, const ReadinessProbe& probe,
                        const std::function<void(const std::string& line)>& report);

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_DEMO_READINESS_H_
