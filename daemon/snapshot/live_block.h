// SPDX-License-Identifier: Apache-2.0
//
// A question for the live counters of one block, and its answer, which is read from the device for this question alone
// and kept nowhere. (registers.md, "Out of band: opcode 67 PEEK".)
//   const PeekQuery query{.vm = block.vm, .context = block.context, .boot_id = boot, .generation = 1, .events = {3,
//   70}}; const absl::StatusOr<PeekedBlock> peeked = peeker.Peek(query); if (peeked.ok()) Use(query.events[1],
//   peeked->counters[1]);
#ifndef SIDEBAND_DAEMON_SNAPSHOT_LIVE_BLOCK_H_
#define SIDEBAND_DAEMON_SNAPSHOT_LIVE_BLOCK_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/time/time.h"
#include "proto/mailbox/catalog.h"

namespace sideband::daemon {

struct PeekQuery {
  uint16_t vm = mailbox::kHypervisorVm;
  uint16_t context = mailbox::kNoContext;
  // Of the topology by which the caller's rights were decided: an answer of another boot or generation is no answer.
  uint64_t boot_id = 0;
  uint32_t generation = 0;
  // Of the catalogue; at least one, ascending, each once.
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

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_SNAPSHOT_LIVE_BLOCK_H_
