// SPDX-License-Identifier: Apache-2.0
//
// The way from a server to the bus of a device: live counters of one block for single requests, which are kept nowhere
// (registers.md, "Out of band: opcode 67 PEEK"). Implemented where the buses are (daemon/collector); the policy is not
// applied.
//   const PeekQuery query{.vm = block.vm, .context = 1, .boot_id = boot, .generation = 1, .events = {3, 70}};
//   const auto ticket = live.Peek(device, query, done);   // done: peeked->counters[1] is of event 70
//   if (ticket.ok() && live.Cancel(*ticket)) done(absl::CancelledError());   // it was not answered
#ifndef SIDEBAND_DAEMON_SNAPSHOT_LIVE_READER_H_
#define SIDEBAND_DAEMON_SNAPSHOT_LIVE_READER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "proto/mailbox/catalog.h"

namespace sideband::daemon {

// A question for the live counters of one block.
struct PeekQuery {
  uint16_t vm = mailbox::kHypervisorVm;
  uint16_t context = mailbox::kNoContext;
  // The boot and generation of the topology by which the caller's rights were decided: an answer of another one is no
  // answer.
  uint64_t boot_id = 0;
  uint32_t generation = 0;
  // Events of the catalogue; at least one, ascending, each once.
  std::vector<uint16_t> events;
  // Who asks. The bus time for peeks is divided among the askers of a device.
  size_t asker = 0;
};

struct PeekedBlock {
  std::vector<uint64_t> counters;  // parallel to the query's events, all of one cycle
  uint64_t reference_time_ns = 0;  // of that cycle, since boot
  uint16_t flags = 0;              // mailbox::BlockFlag
  absl::Time host_time;            // of the same instant; its error to either side follows
  absl::Duration host_time_error;
};

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
