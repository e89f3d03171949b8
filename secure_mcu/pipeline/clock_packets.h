// SPDX-License-Identifier: Apache-2.0
//
// Packets that place counts on the reference clock's axis (clocks.md, "Mechanism"): the scheduler's for each trigger,
// and the monitors' answers to it. A monitor answers for a clock domain, a router merges the return packets of a
// domain, and a ring keeps those of the newest triggers.
//
//   PacketRing ring(/*rows=*/8);
//   DomainMonitor monitor(clock, {.wire_max = sim::InstantAtCycle(50)});
//   ring.Begin(scheduler.Make({.number = 5, .cycle = 501'200, .time_ns = 501'200}));
//   monitor.Receive({.sent = sim::InstantAtCycle(501'200), .horizon = 30'190});
//   while (const auto packet = monitor.TakeArrived(501'300)) ring.Add(/*row=*/3, *packet);
//   for (const TriggerPackets& trigger : ring.From(5)) Send(trigger);
//   ring.Release(6);                                  // those below trigger 6 have been read
//
//   DomainRouter router(/*channel=*/0, /*domain=*/1);
//   router.Add({.number = 5, .unit = 0, .clock = packet});            // split form: the clock of one unit,
//   router.Add({.number = 5, .unit = 1, .counts = {{3, 20}}});        // and the counts of all
//   router.Add({.number = 5, .unit = 2, .counts = {{3, 5}}});
//   router.Take();                                                    // 25 of event 3, and the clock, of trigger 5
#ifndef SIDEBAND_SECURE_MCU_PIPELINE_CLOCK_PACKETS_H_
#define SIDEBAND_SECURE_MCU_PIPELINE_CLOCK_PACKETS_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "sim/wires/domain_clock.h"

namespace sideband::mcu {

// Causes of the triggers that leave packets: a command, the grid that the firmware sets, a latch, such as that of a
// commit, and a pulse that came from outside. A selection narrows the first two alone.
enum class TriggerCause : uint8_t { kOnce, kGrid, kLatch, kExternal };

constexpr bool IsNarrowed(TriggerCause cause) { return cause == TriggerCause::kOnce || cause == TriggerCause::kGrid; }

// The scheduler's packet: when it sent a trigger.
struct ReferencePacket {
  uint32_t number = 0;  // of the trigger
  TriggerCause cause = TriggerCause::kOnce;
  uint64_t cycle = 0;    // reference cycles made before the trigger was sent
  uint64_t time_ns = 0;  // the same, since boot
  uint16_t scheduler = 0;
  std::optional<uint32_t> bookmark;
  std::optional<uint64_t> local_clock;  // of a scheduler in a domain other than the reference clock's
  uint64_t made = 0;                    // the cycle in which the packet was made
  bool operator==(const ReferencePacket&) const = default;
};

// The clock half of a return packet, of a domain on a slice or on the device.
struct ClockPacket {
  uint16_t number = 0;       // counted by the monitor
  uint64_t local_clock = 0;  // the local edge that sampled the trigger, from 0
  // The counts contain the local cycles below local_clock - horizon_lag, and none from there on.
  uint64_t horizon_lag = 0;
  uint64_t arrival = 0;    // at the router, in reference cycles
  uint32_t coalesced = 0;  // further triggers before this one, for which the clock made no edge
  bool changed = false;    // the clock was stepped or gated since the packet before
  uint32_t changes = 0;    // packets up to this one that say so: equal in two packets, it was not between them
  bool late = false;       // the counts are of a later cycle than the horizon tells: a bank was still leaving
  bool operator==(const ClockPacket&) const = default;
};

struct EventCount {
  uint16_t event = 0;
  uint64_t count = 0;
  bool operator==(const EventCount&) const = default;
};

// In full form with counts and clock; in split form a unit has one of the two.
struct ReturnPacket {
  uint32_t number = 0;
  uint16_t unit = 0;
  std::optional<ClockPacket> clock;
  std::vector<EventCount> counts;
};

// The monitor of a clock domain on a slice, or on the device: it numbers the triggers that it receives, as the
// scheduler does, and answers with its local clock. (clocks.md, "Mechanism")
//
// A trigger travels on one wire. The first local edge after its arrival samples it, and the `sync_edges`-th edge
// after that one makes the packet. Triggers that the same edge samples are one to the monitor, which counts them all:
// so they are while the clock stands still. The local clock counts from the device's start, and is never reset.
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

struct AggregatePacket {
  uint8_t channel = 0;  // the slice, or kDeviceChannel
  uint32_t domain = 0;
  uint32_t number = 0;
  std::optional<ClockPacket> clock;
  std::vector<EventCount> counts;  // ascending in their events, none is 0
  bool operator==(const AggregatePacket&) const = default;
};

// The router of a clock domain on a slice, or on the device: merges the return packets of a trigger into one, whose
// counts are the sums of theirs, and adds where they are from. (clocks.md, "Mechanism")
// Not thread-safe.
class DomainRouter {
 public:
  DomainRouter(uint8_t channel, uint32_t domain) : channel_(channel), domain_(domain) {}

  // In any order. Of several clocks of one trigger, that of the lowest unit counts.
  void Add(const ReturnPacket& packet);
  // The packets merged since the last call, ascending in the triggers' numbers. Packets of these triggers that come
  // later are merged for themselves.
  std::vector<AggregatePacket> Take();

 private:
  struct Merged {
    std::optional<ClockPacket> clock;
    uint16_t clock_unit = 0;
    std::map<uint16_t, uint64_t> counts;
  };

  const uint8_t channel_;
  const uint32_t domain_;
  std::map<uint32_t, Merged> merged_;  // by trigger
};

// The reference packet of a trigger, and for each row the clock half of the return packet, if it has come.
struct TriggerPackets {
  ReferencePacket reference;
  std::vector<std::optional<ClockPacket>> rows;
  bool operator==(const TriggerPackets&) const = default;
};

// The main router's memory: the packets of the newest triggers, each with a place for the packet of every monitor. A
// full ring loses its oldest trigger as a whole. (clocks.md, "How it maps on our parts")
// Not thread-safe.
class PacketRing {
 public:
  static constexpr size_t kTriggersMax = 4096;

  explicit PacketRing(size_t rows) : rows_(rows) {}

  // The next trigger; numbers ascend.
  void Begin(const ReferencePacket& reference);
  // To the trigger of the packet's number. One that the ring has no longer is dropped.
  void Add(size_t row, const ClockPacket& packet);

  // The triggers from that number on, oldest first.
  std::vector<TriggerPackets> From(uint32_t number);
  // Triggers below that number are needed no more.
  void Release(uint32_t number);
  // Triggers that a full ring has lost.
  uint64_t lost() const { return lost_; }

 private:
  std::deque<TriggerPackets>::iterator Find(uint32_t number);

  const size_t rows_;
  std::deque<TriggerPackets> triggers_;
  uint64_t lost_ = 0;
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_PIPELINE_CLOCK_PACKETS_H_
