// SPDX-License-Identifier: Apache-2.0
//
// The router of a clock domain on a slice, or on the device: merges the return packets of a trigger into one, whose
// counts are the sums of theirs, and adds where they are from. (clocks.md, "Mechanism")
//   DomainRouter router(/*channel=*/0, /*domain=*/1);
//   router.Add({.number = 5, .unit = 0, .clock = packet});            // split form: the clock of one unit,
//   router.Add({.number = 5, .unit = 1, .counts = {{3, 20}}});        // and the counts of all
//   router.Add({.number = 5, .unit = 2, .counts = {{3, 5}}});
//   router.Take();                                                    // 25 of event 3, and the clock, of trigger 5
#ifndef SIDEBAND_SECURE_MCU_PIPELINE_DOMAIN_ROUTER_H_
#define SIDEBAND_SECURE_MCU_PIPELINE_DOMAIN_ROUTER_H_

#include <cstdint>
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

// Not thread-safe.
class DomainRouter {
 public:
  DomainRouter(uint8_t channel, uint32_t domain) : channel_(channel), domain_(domain) {}

  // In any order. Of several clocks of one trigger, that of the lowest unit counts.
  void Add(const ReturnPacket& packet);
  // What was merged since the last call, ascending in the triggers' numbers. Packets of these triggers that come later
  // are merged for themselves.
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

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_PIPELINE_DOMAIN_ROUTER_H_
