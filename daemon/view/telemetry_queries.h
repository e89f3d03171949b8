// SPDX-License-Identifier: Apache-2.0
//
// The unary calls of sideband.v1.Telemetry on what devices count now, for every front end: those that are answered from
// the newest snapshots, and Peek, which reads live counters of one scope. Histories and marks are in files of their
// own.
//   SIDEBAND_ASSIGN_OR_RETURN(auto response, ListDevices(reader, caller, request));
//   const PeekReader peeks(reader, live);
//   const auto ticket = peeks.Ask(caller, peek_request, finish);
//   if (ticket.ok() && peeks.Cancel(*ticket)) finish(absl::CancelledError());
#ifndef SIDEBAND_DAEMON_VIEW_TELEMETRY_QUERIES_H_
#define SIDEBAND_DAEMON_VIEW_TELEMETRY_QUERIES_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "daemon/snapshot/live_reader.h"
#include "daemon/view/reader.h"
#include "daemon/view/snapshot_message.h"
#include "sideband/v1/telemetry.pb.h"

namespace sideband::daemon {

// Each returns the part that the caller may read, and NotFound() where the request names anything else.
absl::StatusOr<sideband::v1::ListDevicesResponse> ListDevices(Reader& reader, const Caller& caller,
                                                              const sideband::v1::ListDevicesRequest& request);
absl::StatusOr<sideband::v1::ListEventsResponse> ListEvents(Reader& reader, const Caller& caller,
                                                            const sideband::v1::ListEventsRequest& request);
absl::StatusOr<sideband::v1::ListScopesResponse> ListScopes(Reader& reader, const Caller& caller,
                                                            const sideband::v1::ListScopesRequest& request);
// The snapshots of a GetSnapshotResponse. Omits devices that have no snapshot or no row that the filter selects.
absl::StatusOr<std::vector<SharedSnapshot>> GetSnapshot(Reader& reader, SnapshotBodies& bodies, const Caller& caller,
                                                        const sideband::v1::GetSnapshotRequest& request);

// The clocks of devices with a snapshot. A frequency follows the load of all VMs on its slice, so that only operators
// get any: others get no device, and NotFound() where they name one, as for one that does not exist.
absl::StatusOr<sideband::v1::ListClocksResponse> ListClocks(Reader& reader, const Caller& caller,
                                                            const sideband::v1::ListClocksRequest& request);

// Telemetry.Peek, without gRPC. Thread-safe; the constructor's arguments must outlive it.
class PeekReader {
 public:
  using Done = std::function<void(const absl::StatusOr<sideband::v1::PeekResponse>& response)>;

  PeekReader(Reader& reader, LiveReader& live) : reader_(reader), live_(live) {}

  // Does not block. After an error `done` is not called; otherwise as for LiveReader::Peek.
  //   INVALID_ARGUMENT: no device, a context without a VM, or no events, too many events, or events of too many extends
  //   (LiveReader::Peek). NotFound(): a name that is absent, or for which the caller does not have the rights `peek`
  //   and `read`. FAILED_PRECONDITION: peeks are switched off, the device does not count the event, or its own counters
  //   are withheld beside a confidential VM. UNAVAILABLE: the device does not answer. RESOURCE_EXHAUSTED,
  //   DEADLINE_EXCEEDED, ABORTED, UNIMPLEMENTED: as LiveReader::Peek.
  absl::StatusOr<LiveReader::Ticket> Ask(const Caller& caller, const sideband::v1::PeekRequest& request,
                                         Done done) const;
  bool Cancel(const LiveReader::Ticket& ticket) const { return live_.Cancel(ticket); }

 private:
  // The objects that a request names, all within the caller's rights.
  struct Subject {
    VisibleDevice device;
    mailbox::BlockHeader block;  // as of the device's snapshot
    std::vector<uint16_t> events;
    std::vector<uint16_t> asked;  // of the device: the events, and the cycles by which their coverage is known
  };
  absl::StatusOr<Subject> Resolve(const Caller& caller, const sideband::v1::PeekRequest& request) const;
  static sideband::v1::PeekResponse ResponseOf(const Subject& subject, const PeekedBlock& peeked);

  Reader& reader_;
  LiveReader& live_;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_VIEW_TELEMETRY_QUERIES_H_
