// SPDX-License-Identifier: Apache-2.0
//
// A device as the configuration names it.
//   if (info.sealed_by == SealedBy::kDevice) Require(device);
#ifndef SIDEBAND_DAEMON_SNAPSHOT_DEVICE_INFO_H_
#define SIDEBAND_DAEMON_SNAPSHOT_DEVICE_INFO_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "daemon/snapshot/device_clock.h"
#include "daemon/snapshot/ratio.h"
#include "proto/mailbox/rotation_file.h"

namespace sideband::daemon {

// Where the counts of a device's confidential VMs become sealed records (security.md, "Sealed records";
// docs/confidential.md).
enum class SealedBy : uint8_t {
  kDaemon,  // in this daemon, unless the device seals
  kDevice,  // in the device: what it sends otherwise is not published
};

// The fate of a device's sums, which less the published VMs would be the confidential VMs' (security.md, "Arithmetic on
// what is public"; docs/complement.md), once it has had a confidential VM, and until it restarts:
enum class Complement : uint8_t {
  kExclude,   // sums are published without what confidential VMs count, and without what cannot be attributed
  kWithhold,  // they are not published
  kAllow,     // they are published as the device reports them
};

struct ComplementSettings {
  Complement counters = Complement::kExclude;

  bool operator==(const ComplementSettings&) const = default;
};

// The series of estimates in /metrics beside the estimates themselves.
enum class EstimateSeries : uint8_t { kAll, kCoverage, kNone };

// A device as the configuration names it.
struct DeviceInfo {
  std::string name;
  absl::Duration interval;
  uint32_t bus_hz = 0;        // SCL frequency of the device's bus; 0: no such limit
  double peek_bus_share = 0;  // of the bus's time that peeks may use, at most 1; 0: peeks are switched off
  std::vector<RatioSpec> ratios;
  EstimateSeries estimates = EstimateSeries::kAll;
  std::optional<RotationFile> rotation;  // what the open VMs are to have; none: what they have
  ClockSettings clocks;
  ComplementSettings complement;
  SealedBy sealed_by = SealedBy::kDaemon;
  // A snapshot is fresh for this number of intervals. After that the device is stale and its series disappear.
  static constexpr int kFreshIntervals = 3;

  bool operator==(const DeviceInfo&) const = default;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_SNAPSHOT_DEVICE_INFO_H_
