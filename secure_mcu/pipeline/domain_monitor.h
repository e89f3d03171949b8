// SPDX-License-Identifier: Apache-2.0
//
// The monitor of a clock domain on a slice, or on the device: it numbers the triggers that it receives, as the
// scheduler does, and answers with its local clock. (clocks.md, "Mechanism")
//   DomainMonitor monitor(clock, {.wire_max = sim::InstantAtCycle(50)});
//   monitor.Receive({.sent = sim::InstantAtCycle(501'200), .horizon = 30'190});
//   while (const auto packet = monitor.TakeArrived(501'300)) ring.Add(row, *packet);
//
// A trigger travels on one wire. The first local edge after its arrival samples it, and the `sync_edges`-th edge
// after that one makes the packet. Triggers that the same edge samples are one to the monitor, which counts them all:
// so they are while the clock stands still. The local clock counts from the device's start, and is never reset.
#ifndef SIDEBAND_SECURE_MCU_PIPELINE_DOMAIN_MONITOR_H_
#define SIDEBAND_SECURE_MCU_PIPELINE_DOMAIN_MONITOR_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>

#include "secure_mcu/pipeline/clock_packets.h"
#include "sim/wires/domain_clock.h"

namespace sideband::mcu {

// Not thread-safe.
class DomainMonitor {
 public:
  struct Config {
    sim::Instant wire_min = 0, wire_max = 0;  // how long a trigger takes; each time drawn from the seed
    uint32_t sync_edges = 2;
    uint64_t seed = 0;
  };
  DomainMonitor(std::shared_ptr<const sim::DomainClock> clock, Config config);

  struct Trigger {
    sim::Instant sent = 0;
    uint64_t horizon = 0;  // the counts contain the local cycles below this one
    bool late = false;     // as ClockPacket::late
    bool answers = true;   // or it is counted alone
  };
  // Triggers ascend in their time. Returns the answer; nullopt for one that is only counted, and while the clock stands
  // still, which takes the trigger with its next edges.
  std::optional<ClockPacket> Receive(const Trigger& trigger);

  // The next packet that has arrived at the router by that cycle, each once and in the order of their numbers.
  std::optional<ClockPacket> TakeArrived(uint64_t cycle);

  // Sets the clock's frequency after an instant that is not before answered().
  void StepClock(sim::Instant at, uint64_t hz);
  // The edge of the newest answer.
  sim::Instant answered() const { return answered_; }

  // Triggers received.
  uint16_t number() const { return number_; }

 private:
  struct Answer {
    ClockPacket packet;
    uint64_t sampled;  // the edge that sampled the trigger
  };

  sim::Instant ArrivalOf(sim::Instant sent);
  void Append(uint64_t sampled);

  std::shared_ptr<const sim::DomainClock> clock_;
  const Config config_;
  const sim::Instant answer_max_;  // after a trigger was sent, unless the clock stands still
  uint16_t number_ = 0;
  uint32_t changes_ = 0;
  uint64_t draws_ = 0;
  sim::Instant arrived_ = 0;   // the newest trigger, at the monitor
  sim::Instant answered_ = 0;  // the edge of the newest answer
  std::deque<Answer> answers_;
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_PIPELINE_DOMAIN_MONITOR_H_
