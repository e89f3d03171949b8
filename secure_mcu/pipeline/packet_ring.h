// SPDX-License-Identifier: Apache-2.0
//
// The return packets of clock domains: a router merges those of one domain, a ring keeps those of the newest triggers.
//
//   PacketRing ring(/*rows=*/8);
//   ring.Begin(scheduler.Make({.number = 5, .cycle = 501'200, .time_ns = 501'200}));
//   ring.Add(/*row=*/3, packet);                      // of trigger 5, in any order
//   for (const TriggerPackets& trigger : ring.From(5)) Send(trigger);
//   ring.Release(6);                                  // those below trigger 6 have been read
//
//   DomainRouter router(/*channel=*/0, /*domain=*/1);
//   router.Add({.number = 5, .unit = 0, .clock = packet});            // split form: the clock of one unit,
//   router.Add({.number = 5, .unit = 1, .counts = {{3, 20}}});        // and the counts of all
//   router.Add({.number = 5, .unit = 2, .counts = {{3, 5}}});
//   router.Take();                                                    // 25 of event 3, and the clock, of trigger 5
#ifndef SIDEBAND_SECURE_MCU_PIPELINE_PACKET_RING_H_
#define SIDEBAND_SECURE_MCU_PIPELINE_PACKET_RING_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "secure_mcu/pipeline/clock_packets.h"

namespace sideband::mcu {

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

#endif  // SIDEBAND_SECURE_MCU_PIPELINE_PACKET_RING_H_
