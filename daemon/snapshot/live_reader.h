// SPDX-License-Identifier: Apache-2.0
//
// The way from a server to the bus of a device: live counters for single requests. Implemented where the buses are
// (daemon/collector); the policy is not applied.
//   const auto ticket = live.Peek(device, query, done);
//   if (ticket.ok() && live.Cancel(*ticket)) done(absl::CancelledError());   // it was not answered
#ifndef SIDEBAND_DAEMON_SNAPSHOT_LIVE_READER_H_
#define SIDEBAND_DAEMON_SNAPSHOT_LIVE_READER_H_

#include <cstddef>
#include <cstdint>
#include <functional>

#include "absl/status/statusor.h"
#include "daemon/snapshot/live_block.h"

namespace sideband::daemon {

// Thread-safe.
class LiveReader {
 public:
  // Must return at once. No lock of the reader is held.
  using Done = std::function<void(const absl::StatusOr<PeekedBlock>& peeked)>;
  struct Ticket {
    size_t device = 0;
    uint64_t number = 0;
  };

  virtual ~LiveReader() = default;
  // Does not block. After an error `done` is not called. Otherwise it is called once, possibly before this function
  // returns, on another thread; not if Cancel returns true.
  //   INVALID_ARGUMENT: events of more extends than can be read between two snapshots · FAILED_PRECONDITION: peeks are
  //   switched off · RESOURCE_EXHAUSTED: too many peeks wait, or their share of the device's bus time is used up, with
  //   the time of a retry (retry_after.h) · UNAVAILABLE: the device is not read (any more), or cannot be read now ·
  //   DEADLINE_EXCEEDED: the bus was busy for too long · else those of BlockPeeker::Peek
  virtual absl::StatusOr<Ticket> Peek(size_t device, PeekQuery query, Done done) = 0;
  // Whether the request was withdrawn; otherwise it is being answered, or was.
  virtual bool Cancel(const Ticket& ticket) = 0;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_SNAPSHOT_LIVE_READER_H_
