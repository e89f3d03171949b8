// SPDX-License-Identifier: Apache-2.0
//
// The main router's memory: the packets of the newest triggers, each with a place for the packet of every monitor. A
// full ring loses its oldest trigger as a whole. (clocks.md, "How it maps on our parts")
//   PacketRing ring(/*rows=*/8);
//   ring.Begin(scheduler.Make({.number = 5, .cycle = 501'200, .time_ns = 501'200}));
//   ring.Add(/*row=*/3, packet);                      // of trigger 5, in any order
//   for (const TriggerPackets& trigger : ring.From(5)) Send(trigger);
//   ring.Release(6);                                  // those below trigger 6 have been read
#ifndef SIDEBAND_SECURE_MCU_PIPELINE_PACKET_RING_H_
#define SIDEBAND_SECURE_MCU_PIPELINE_PACKET_RING_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "secure_mcu/pipeline/clock_packets.h"

namespace sideband::mcu {

// The reference packet of a trigger, and for each row the clock half of the return packet, if it has come.
struct TriggerPackets {
  ReferencePacket reference;
  std::vector<std::optional<ClockPacket>> rows;
  bool operator==(const TriggerPackets&) const = default;
};

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
