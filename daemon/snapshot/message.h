// SPDX-License-Identifier: Apache-2.0
//
// Parts of a snapshot as messages of the API, and times and durations as protocol buffers' well-known types, and back.
// The policy is not applied: the caller passes on only what may be read.
//   SetTime(snapshot.host_time, *point.mutable_host_time());
//   SIDEBAND_ASSIGN_OR_RETURN(const absl::Time since, TimeOf(request.since(), "since"));
//   *response.add_scopes() = ScopeMessage(*device.info, topology, block.vm, block.context);
#ifndef SIDEBAND_DAEMON_SNAPSHOT_MESSAGE_H_
#define SIDEBAND_DAEMON_SNAPSHOT_MESSAGE_H_

#include <google/protobuf/duration.pb.h>
#include <google/protobuf/timestamp.pb.h>

#include <cstddef>
#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "daemon/snapshot/coverage.h"
#include "daemon/snapshot/device_snapshot.h"
#include "daemon/snapshot/topology.h"
#include "proto/mailbox/snapshot.h"
#include "sideband/v1/telemetry.pb.h"

namespace sideband::daemon {

void SetTime(absl::Time from, google::protobuf::Timestamp& to);
void SetDuration(absl::Duration from, google::protobuf::Duration& to);

// The time of cycles of a clock, rounded down, 2^64 - 1 at most; 0 where the clock is unknown.
uint64_t NanosecondsOf(uint64_t cycles, uint64_t hertz);

// The time of a client's message. INVALID_ARGUMENT "FIELD: …" where it is outside of the range of its type.
absl::StatusOr<absl::Time> TimeOf(const google::protobuf::Timestamp& from, absl::string_view field);
// The duration of a client's message. INVALID_ARGUMENT also where it is not above zero.
absl::StatusOr<absl::Duration> PositiveDurationOf(const google::protobuf::Duration& from, absl::string_view field);

sideband::v1::ScopeCounters::State StateMessage(mailbox::BlockState state);

// `event` is a position in the catalogue's list.
sideband::v1::Event EventMessage(const Topology& topology, size_t event);

// The scope of a row: the device (kHypervisorVm), a slice's host (the same with the slice as its context), a VM
// (kNoContext) or a context. An object that the topology does not have stays without a name.
sideband::v1::Scope ScopeMessage(const DeviceInfo& device, const Topology& topology, uint16_t vm, uint16_t context);

// The row's scope, state and flags, without its counters.
void FillScopeHeader(const DeviceInfo& device, const Topology& topology, const mailbox::BlockHeader& block,
                     sideband::v1::ScopeCounters& out);

// The shown value of an event, in place: it may be secret.
struct ShownCount {
  uint64_t count = 0;
  double coverage = 1;               // written if the event has a gate or is multiplexed
  std::optional<Estimate> estimate;  // nullopt: the count is exact
};
void FillCounter(const Topology& topology, size_t event, const ShownCount& shown, sideband::v1::Counter& out);

// The fate of events that were counted in no cycle. Their counts are no numbers; a message that has them all the same
// has the size that it would have if they were counted.
enum class Uncounted { kDropped, kKept };

// The row's flags for the VM's owner: `partial` and `estimated` where they apply.
uint16_t FlagsForOwner(const Topology& topology, const mailbox::Snapshot& data, size_t row);

// The row with all its counters, for sealing: everything that the VM's owner may see. Masked events are left out, and
// so are device-scope events of rows other than the device's. The row has the
// flags of FlagsForOwner.
void FillScopeCounters(const DeviceInfo& device, const Topology& topology, const mailbox::Snapshot& data, size_t row,
                       Uncounted uncounted, sideband::v1::ScopeCounters& out);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_SNAPSHOT_MESSAGE_H_
