// SPDX-License-Identifier: Apache-2.0
//
// Why a device may have refused turns. It answers one status for all reasons; those that the request and the device's
// own plan exclude are left out.
//   return absl::FailedPreconditionError(RefusalText(request, catalog));
#ifndef SIDEBAND_DAEMON_COUNTING_ROTATION_REFUSAL_H_
#define SIDEBAND_DAEMON_COUNTING_ROTATION_REFUSAL_H_

#include <string>

#include "proto/mailbox/catalog.h"
#include "proto/mailbox/rotation.h"

namespace sideband::daemon {

// "the device refuses these turns: …", the reasons separated by "; or ". Depends on the request, the catalogue's events
// and gate groups, and the device's own plan alone: it tells nothing of other VMs. Names only events' gate groups, of
// events in the request.
std::string RefusalText(const mailbox::RotationRequest& request, const mailbox::Catalog& catalog);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_COUNTING_ROTATION_REFUSAL_H_
