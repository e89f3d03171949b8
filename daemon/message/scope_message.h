// SPDX-License-Identifier: Apache-2.0
//
// Parts of a snapshot as messages of the API. The policy is not applied: the caller passes on only what may be read.
//   *response.add_scopes() = ScopeMessage(*device.info, topology, block.vm, block.context);
#ifndef SIDEBAND_DAEMON_MESSAGE_SCOPE_MESSAGE_H_
#define SIDEBAND_DAEMON_MESSAGE_SCOPE_MESSAGE_H_

#include <cstddef>
#include <cstdint>

#include "daemon/snapshot/device_snapshot.h"
#include "daemon/snapshot/topology.h"
#include "proto/mailbox/snapshot.h"
#include "sideband/v1/telemetry.pb.h"

namespace sideband::daemon {

sideband::v1::ScopeCounters::State StateMessage(mailbox::BlockState state);

sideband::v1::Event EventMessage(const mailbox::EventInfo& event);

// The scope of a row: the device (kHypervisorVm), a VM (kNoContext) or a context. An object that the topology does not
// have stays without a name.
sideband::v1::Scope ScopeMessage(const DeviceInfo& device, const Topology& topology, uint16_t vm, uint16_t context);

// The row's scope, state and flags, without its counters.
void FillScopeHeader(const DeviceInfo& device, const Topology& topology, const mailbox::BlockHeader& block,
                     sideband::v1::ScopeCounters& out);

// The row with all its counters, for sealing: everything that the VM's owner may see. Masked events are left out, and
// so are device-scope events of rows other than the device's.
void FillScopeCounters(const DeviceInfo& device, const Topology& topology, const mailbox::Snapshot& data, size_t row,
                       sideband::v1::ScopeCounters& out);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_MESSAGE_SCOPE_MESSAGE_H_
