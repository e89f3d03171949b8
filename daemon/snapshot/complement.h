// SPDX-License-Identifier: Apache-2.0
//
// What the sums of a device tell of its confidential VMs: less the published VMs they would be the confidential ones'.
// (security.md, "Arithmetic on what is public"; docs/complement.md)
//   const ComplementSettings settings{.counters = Complement::kWithhold};
#ifndef SIDEBAND_DAEMON_SNAPSHOT_COMPLEMENT_H_
#define SIDEBAND_DAEMON_SNAPSHOT_COMPLEMENT_H_

#include <cstdint>

namespace sideband::daemon {

// Once a device has had a confidential VM, and until it restarts:
enum class Complement : uint8_t {
  kExclude,   // sums are published without what confidential VMs count, and without what cannot be attributed
  kWithhold,  // they are not published
  kAllow,     // they are published as the device reports them
};

struct ComplementSettings {
  Complement counters = Complement::kExclude;

  bool operator==(const ComplementSettings&) const = default;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_SNAPSHOT_COMPLEMENT_H_
