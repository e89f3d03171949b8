// SPDX-License-Identifier: Apache-2.0
//
// The central scheduler's packets: for each trigger that it sends, the reference time, and a bookmark that it holds
// until another replaces it. The numbers and the grid are the trigger block's. (clocks.md, "Mechanism")
//   Scheduler scheduler({.id = 7, .reference_delay = 40});
//   scheduler.SetBookmark(0xB00C);
//   if (scheduler.IsSelected(TriggerCause::kGrid, row)) monitor.Receive(sent);
//   const ReferencePacket packet = scheduler.Make({.number = 5, .cycle = 501'200, .time_ns = 501'200});
#ifndef SIDEBAND_SECURE_MCU_PIPELINE_SCHEDULER_H_
#define SIDEBAND_SECURE_MCU_PIPELINE_SCHEDULER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "secure_mcu/pipeline/clock_packets.h"
#include "sim/wires/domain_clock.h"

namespace sideband::mcu {

// Not thread-safe.
class Scheduler {
 public:
  struct Config {
    uint16_t id = 0;                                // given from outside
    uint64_t reference_delay = 0;                   // reference cycles between a trigger and its packet
    std::shared_ptr<const sim::DomainClock> clock;  // in which it runs; null: the reference clock
  };
  explicit Scheduler(Config config) : config_(std::move(config)) {}

  // Bit r: the monitor of row r answers to commanded triggers and to the grid's. Initially all do.
  void Select(uint64_t rows) { selected_ = rows; }
  uint64_t selected() const { return selected_; }
  bool IsSelected(TriggerCause cause, size_t row) const { return !IsNarrowed(cause) || (selected_ >> row & 1) != 0; }

  // Of every packet from now on.
  void SetBookmark(std::optional<uint32_t> bookmark) { bookmark_ = bookmark; }

  // The packet of a trigger: `sent`, with what the scheduler adds.
  ReferencePacket Make(ReferencePacket sent) const {
    sent.scheduler = config_.id;
    sent.bookmark = bookmark_;
    sent.made = sent.cycle + config_.reference_delay;
    if (config_.clock) sent.local_clock = config_.clock->EdgesBefore(sim::InstantAtCycle(sent.cycle) + 1);
    return sent;
  }

 private:
  const Config config_;
  uint64_t selected_ = ~uint64_t{0};
  std::optional<uint32_t> bookmark_;
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_PIPELINE_SCHEDULER_H_
