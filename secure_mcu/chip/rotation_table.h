// SPDX-License-Identifier: Apache-2.0
//
// A plan on one channel: which events turn, by how much each can gain in a cycle, and what relations say of
// them (counter-rotation.md, "Numbers").
//   const RotationLines lines(config);
//   const RotationTable table(config, lines, /*channel=*/0, plan);
//   table.events[i].gains;          // per clock
//
// Lines are the kinds of cycles in which slots are measured: 0 the reference clock, 1 + g those with the gate of group
// g open, then one for each further clock domain.
#ifndef SIDEBAND_SECURE_MCU_CHIP_ROTATION_TABLE_H_
#define SIDEBAND_SECURE_MCU_CHIP_ROTATION_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "proto/mailbox/counting.h"
#include "proto/mailbox/rotation.h"
#include "secure_mcu/chip/pipeline_config.h"
#include "secure_mcu/chip/rotation_plan.h"

namespace sideband::mcu {

// Gains are in 32nds of a count, so that a prescaled number's are whole.
inline constexpr uint64_t kGainScale = kPrescale;

struct RotationLines {
  explicit RotationLines(const PipelineConfig& config);

  size_t gated() const { return 1 + running_events.size(); }
  size_t size() const { return gated() + domains - 1; }
  size_t LineOf(uint32_t domain) const { return domain == 0 ? 0 : gated() + domain - 1; }

  std::vector<std::optional<uint16_t>> running_events;  // per gate group, the event that counts its open cycles
  uint32_t domains = 1;
};

struct LineGain {
  size_t line = 0;
  uint64_t per_cycle = 0;  // at most, in 1/kGainScale
};

struct RotatedEvent {
  uint16_t event = 0;
  uint64_t sets = 0;            // bit s: counted or derived while set s is in turn
  size_t line = 0;              // of the cycles in which it is enabled
  std::vector<LineGain> gains;  // none: it cannot gain on this channel
  uint32_t accumulators = 0;    // prescaled counters, each of which drops a remainder at the end of a residency

  bool IsIn(size_t set) const { return (sets >> set & 1) != 0; }
};

// A plan in force on a chip.
struct TurnPlan {
  uint16_t number = 0;     // as RotationPlan's
  bool of_device = false;  // of device-scope events, in the device's own cycles
  CounterPlan counters;
  mailbox::RotationSettings settings;
};

// Immutable.
struct RotationTable {
  // `channel` is a slice, or kDeviceChannel.
  RotationTable(const PipelineConfig& config, const RotationLines& lines, uint8_t channel, const TurnPlan& turns);

  // Whether an event is counted or derived while a set is in turn, or always.
  bool IsCounted(size_t set, uint16_t event) const { return !turns[event] || mailbox::Includes(plan.sets[set], event); }
  size_t sets() const { return plan.sets.size(); }

  const uint16_t number;
  const CounterPlan plan;  // derived are those of the channel's scope, by `relations`
  const mailbox::RotationSettings settings;
  // The event that tells a context's periods; none: the chip names none, or not of the channel's scope.
  std::optional<uint16_t> instructions;
  RotationLines lines;
  std::vector<RotatedEvent> events;          // all of the channel's scope that turn, ascending
  std::vector<std::vector<size_t>> members;  // per set: into events
  std::vector<size_t> related;               // into events: those of relations
  std::vector<bool> turns;                   // per event of the chip
  std::vector<LineGain> gains;               // per event of the chip: those of relations have one clock
  // The chip's of the channel's scope, in its order: what other channels count is not known here.
  std::vector<mailbox::Relation> relations;

 private:
  void AddInput(const UlcSpec& ulc, const CounterInput& input);
};

// The events of a chip that turn in its plans, ascending: those of switched units that are not fixed.
std::vector<uint16_t> TurningEvents(const PipelineConfig& config);
// Bit g: events of gate group g are multiplexed in the plan, rather than being in all of its sets.
uint64_t GroupsInTurns(const PipelineConfig& config, const CounterPlan& plan);
// Whether an event is of device-scope units.
std::vector<bool> DeviceEvents(const PipelineConfig& config);

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_CHIP_ROTATION_TABLE_H_
