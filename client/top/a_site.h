// SPDX-License-Identifier: Apache-2.0
//
// A daemon's messages for tests: two devices; gpu0 is fresh and has vm1 with contexts train and eval, vm2, and the
// confidential vm3; gpu1 has not answered.
//   model.Apply(TwoDevices(), now);
//   model.Apply(ConfidentialVm());
//   model.Apply(SnapshotOf(0.4), now);
#ifndef SIDEBAND_CLIENT_TOP_A_SITE_H_
#define SIDEBAND_CLIENT_TOP_A_SITE_H_

#include "absl/time/time.h"
#include "client/top/model.h"
#include "sideband/v1/telemetry.pb.h"

namespace sideband::client::top {

v1::ListDevicesResponse TwoDevices();
v1::ListScopesResponse ConfidentialVm();
// gpu0's: events sm_active_cycles and dram_read_cycles; the utilisation of the first is `share` for vm1, half of it for
// vm2 and the device, and unknown for the second.
v1::Snapshot SnapshotOf(double share);

inline const absl::Time kNow = absl::FromUnixSeconds(1'700'000'000);

// All of it at kNow.
Model ASite();

}  // namespace sideband::client::top

#endif  // SIDEBAND_CLIENT_TOP_A_SITE_H_
