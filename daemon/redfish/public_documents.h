// SPDX-License-Identifier: Apache-2.0
//
// What anybody may read, as DSP0266 demands: that there is a Redfish service, and where it begins. The documents are
// the same on every host and for every caller, and say nothing of devices.
//   if (IsPublic(target)) return PublicDocument(target);
#ifndef SIDEBAND_DAEMON_REDFISH_PUBLIC_DOCUMENTS_H_
#define SIDEBAND_DAEMON_REDFISH_PUBLIC_DOCUMENTS_H_

#include "absl/status/statusor.h"
#include "daemon/redfish/document.h"
#include "daemon/redfish/request_target.h"

namespace sideband::daemon {

// Whether it is one of /redfish, /redfish/v1, /redfish/v1/odata and /redfish/v1/$metadata, with any query.
bool IsPublic(const RedfishTarget& target);

// The target must be public. Errors are those of PageOf.
absl::StatusOr<RedfishDocument> PublicDocument(const RedfishTarget& target);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_REDFISH_PUBLIC_DOCUMENTS_H_
