// SPDX-License-Identifier: Apache-2.0
//
// sideband.v1.Telemetry.Peek, without gRPC: live counters of one scope, within the caller's rights.
//   const PeekReader peeks(reader, live);
//   const auto ticket = peeks.Ask(caller, request, finish);
//   if (ticket.ok() && peeks.Cancel(*ticket)) finish(absl::CancelledError());
#ifndef SIDEBAND_DAEMON_VIEW_PEEK_READER_H_
#define SIDEBAND_DAEMON_VIEW_PEEK_READER_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "daemon/snapshot/live_reader.h"
#include "daemon/view/reader.h"
#include "sideband/v1/telemetry.pb.h"

namespace sideband::daemon {

// Thread-safe; the constructor's arguments must outlive it.
class PeekReader {
 public:
  using Done = std::function<void(const absl::StatusOr<sideband::v1::PeekResponse>& response)>;

  PeekReader(Reader& reader, LiveReader& live) : reader_(reader), live_(live) {}

  // Does not block. After an error `done` is not called; otherwise as for LiveReader::Peek.
  //   INVALID_ARGUMENT: no device, a context without a VM, or no events, too many events, or events of too many extends
  //   (LiveReader::Peek). NotFound(): a name that is absent, or for which the caller does not have the rights `peek`
  //   and `read`. FAILED_PRECONDITION: peeks are switched off, the device does not count the event, or its own counters
  //   are withheld beside a confidential VM. UNAVAILABLE: the device does not answer. RESOURCE_EXHAUSTED,
  //   DEADLINE_EXCEEDED, ABORTED, UNIMPLEMENTED: as of LiveReader::Peek
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

#endif  // SIDEBAND_DAEMON_VIEW_PEEK_READER_H_
