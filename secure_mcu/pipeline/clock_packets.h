// SPDX-License-Identifier: Apache-2.0
//
// Packets that place counts on the reference clock's axis (clocks.md, "Mechanism"): the scheduler's for each trigger,
// and the monitors' answers to it.
#ifndef SIDEBAND_SECURE_MCU_PIPELINE_CLOCK_PACKETS_H_
#define SIDEBAND_SECURE_MCU_PIPELINE_CLOCK_PACKETS_H_

#include <cstdint>
#include <optional>
#include <vector>

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

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_PIPELINE_CLOCK_PACKETS_H_
