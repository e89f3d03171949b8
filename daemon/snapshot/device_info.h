// SPDX-License-Identifier: Apache-2.0
//
// A device as the configuration names it, with its clocks: what the configuration says of them (`devices[].clocks`),
// and what is known of them at a snapshot (docs/design/clocks.md).
//   if (info.sealed_by == SealedBy::kDevice) Require(device);
//   for (size_t d = 0; d < snapshot.clocks.size(); ++d) Show(catalog.clock_domains[d].name, snapshot.clocks[d]);
#ifndef SIDEBAND_DAEMON_SNAPSHOT_DEVICE_INFO_H_
#define SIDEBAND_DAEMON_SNAPSHOT_DEVICE_INFO_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "daemon/snapshot/ratio.h"
#include "proto/mailbox/clocks.h"
#include "proto/mailbox/rotation_file.h"

namespace sideband::daemon {

// A wire by which a trigger of one device reaches others.
struct TriggerLineSettings {
  std::string name;
  bool drives = false;  // a pulse for each snapshot; the others of the line receive it
  std::string driver;   // the device that does; empty: none, so that any device may have sent a pulse
  // From the sender to this device.
  absl::Duration wire_min, wire_max;
  bool operator==(const TriggerLineSettings&) const = default;
};

struct ClockSettings {
  // The grid of triggers, at which marks are served: started once in each boot of the device; 0: stopped. None: the
  // device's grid is left alone.
  std::optional<uint32_t> trigger_hz;
  // The reference clock's frequency is at most so far from its nominal one, by the host's raw clock, and changes by so
  // much in a second at most.
  uint32_t host_ppm_max = 200;
  uint32_t host_wander_ppb = 50;
  // A clock is taken to be steady for so long at most: then a segment ends.
  absl::Duration segment_max = absl::Seconds(30);
  // The error of the host times of marks, for tenants: a constant. Times that are known less closely are absent. None:
  // the error as it is.
  std::optional<absl::Duration> tenant_bound;
  // The line that the device shares with others; empty: none.
  TriggerLineSettings line;

  bool operator==(const ClockSettings&) const = default;
};

// The state of one clock domain.
struct ClockState {
  // A confidential VM runs or ran where the clock does: nothing of it is known here.
  bool is_withheld = false;
  bool is_stopped = false;  // at the latch
  // It contradicts what the device declares of it, so that bounds are withdrawn.
  bool is_unsound = false;
  // The bounds of the present segment, with two readings or more.
  struct Frequency {
    double lower = 0, upper = 0;  // Hz
    bool operator==(const Frequency&) const = default;
  };
  std::optional<Frequency> frequency;
  // Half of the time in which the newest edge that was read was made.
  std::optional<double> error_bound_s;
  // In this boot of the device, as far as the daemon has seen: since `created`.
  absl::Time created = absl::UnixEpoch();
  uint64_t segments = 0;
  uint64_t refuted_segments = 0;  // that ended though no change was announced
  uint64_t unused_readings = 0;   // that contradict what is known
  bool operator==(const ClockState&) const = default;
};

// The device's reference clock by the host's.
struct ReferenceRate {
  double lower_ppm = 0, upper_ppm = 0;  // over its nominal frequency
  bool operator==(const ReferenceRate&) const = default;
};

// The device's reference clock by that of the device that drives their trigger line, at the newest pulse that both have
// reported.
struct LineOffset {
  std::string driver;     // by name
  int64_t offset_ns = 0;  // this device's reference time, less the driver's
  uint64_t error_ns = 0;  // to either side
  // Over the driver's; none with less than two pulses.
  std::optional<ReferenceRate> rate;
  bool operator==(const LineOffset&) const = default;
};

// "slice0.sm" or "device.dram": as operators name it.
inline std::string ClockName(const mailbox::ClockDomain& domain) {
  return domain.slice ? absl::StrCat("slice", *domain.slice, ".", domain.name) : absl::StrCat("device.", domain.name);
}

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
  bool is_of_bmc = false;  // a whole GPU behind a BMC, without VMs
  // A snapshot is fresh for this number of intervals. After that the device is stale and its series disappear.
  static constexpr int kFreshIntervals = 3;

  bool operator==(const DeviceInfo&) const = default;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_SNAPSHOT_DEVICE_INFO_H_
