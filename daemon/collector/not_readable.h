// SPDX-License-Identifier: Apache-2.0
//
// The answer to what was asked of a device whose last collection has failed.
#ifndef SIDEBAND_DAEMON_COLLECTOR_NOT_READABLE_H_
#define SIDEBAND_DAEMON_COLLECTOR_NOT_READABLE_H_

#include "absl/status/status.h"

namespace sideband::daemon {

inline absl::Status NotReadable() { return absl::UnavailableError("the device cannot be reached now"); }

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_COLLECTOR_NOT_READABLE_H_
