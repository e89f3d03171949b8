// SPDX-License-Identifier: Apache-2.0
//
// Where the counts of a device's confidential VMs become sealed records. (security.md, "Sealed records";
// docs/confidential.md)
//   if (info.sealed_by == SealedBy::kDevice) Require(device);
#ifndef SIDEBAND_DAEMON_SNAPSHOT_SEALED_BY_H_
#define SIDEBAND_DAEMON_SNAPSHOT_SEALED_BY_H_

#include <cstdint>

namespace sideband::daemon {

enum class SealedBy : uint8_t {
  kDaemon,  // in this daemon, unless the device seals
  kDevice,  // in the device: what it sends otherwise is not published
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_SNAPSHOT_SEALED_BY_H_
