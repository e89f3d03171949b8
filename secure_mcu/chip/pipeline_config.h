// SPDX-License-Identifier: Apache-2.0
//
// The configuration of a chip's counter pipeline. Filled from a chip file (secure_mcu/chip_file/chip_file.h) or from a
// signal map (secure_mcu/device/event_plan.h), and validated as a whole before a chip is built.
#ifndef SIDEBAND_SECURE_MCU_CHIP_PIPELINE_CONFIG_H_
#define SIDEBAND_SECURE_MCU_CHIP_PIPELINE_CONFIG_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "proto/mailbox/counting.h"
#include "proto/mailbox/rotation.h"
#include "secure_mcu/pipeline/counter_collection_unit.h"
#include "secure_mcu/pipeline/counter_gate.h"
#include "secure_mcu/pipeline/hpc_client.h"
#include "secure_mcu/pipeline/record.h"
#include "secure_mcu/pipeline/reduction_channel.h"
#include "secure_mcu/pipeline/unit_level_counter.h"
#include "sim/wires/domain_clock.h"
#include "sim/wires/wire_source.h"

namespace sideband::mcu {

inline constexpr uint32_t kDomainsMax = 64;

// One counter of a unit-level counter: the wire that it counts and the event to which it contributes.
struct CounterInput {
  sim::WireId wire = 0;
  EventShare meaning;
  bool masked = false;  // counted by the unit-level counter, not added by the collection unit
  // 0: the one wire, counted as it is. 1 to 5: a number of that many digits on consecutive wires, `wire` the least
  // significant, counted prescaled.
  uint8_t digits = 0;
  std::optional<uint8_t> group;  // the gate group; none: not gated

  uint32_t wires() const { return digits == 0 ? 1 : digits; }
};

struct UlcSpec {
  std::string name;
  uint32_t domain = 0;  // the clock domain of its wires, 0 to 63
  std::vector<CounterInput> inputs;
  uint32_t counter_bits = kUlcCounterBitsMax;
  uint32_t period = kUlcPeriodMax;
  uint32_t lanes = 1;
  uint32_t counters = kUlcCountersMax;  // at most, 1 to 45

  // With more inputs than counters, a selection says which inputs have counters (selections.h), or the set whose
  // turn it is (rotation_plan.h). Only on slices of a chip with selections, and anywhere with a rotation.
  bool is_switched() const { return inputs.size() > counters; }
};

struct CcuSpec {
  std::string name;
  uint8_t channel = 0;  // a slice, or kDeviceChannel: never paused, feeds device-wide channels only
  std::vector<UlcSpec> ulcs;
  uint32_t threshold = kCcuThresholdDefault;
};

// The settings with which the chip boots (counter-rotation.md).
struct RotationSpec {
  mailbox::RotationSettings settings;
  mailbox::EventSet fixed;  // of switched units: in every set of every plan; no words: none
  // The event whose rate tells stable from fluctuating periods (turn_policy.h); it takes no turns: it is fixed, or
  // of a unit with a counter for each event. None: all slots are settings.fluctuating_slot long.
  std::optional<uint16_t> instructions;
  uint32_t dead_cycles = 0;  // at the start of a slot: enabled, not running; less than the shortest slot
  // Cycles of the slots and intervals of plans that are asked for, at least; none: half of the shortest of `settings`.
  // Each end of a slot is work for the chip, which a tenant could have it do.
  std::optional<uint64_t> slots_min;
  // For tests and emulation: makes the order of turns a function of the inputs. A device draws its own at boot.
  std::optional<uint64_t> seed;
  bool operator==(const RotationSpec&) const = default;
};

// A clock domain beside the reference clock's (clocks.md).
struct DomainSpec {
  std::string name;            // unique
  sim::DomainClockSpec clock;  // its reference_hz is the configuration's clock_hz
  bool is_shared = false;      // one clock for all slices and the device; else each has its own
  // How long a trigger takes to its monitors, and the edges of their synchronisers.
  uint64_t wire_min_ns = 0, wire_max_ns = 0;
  uint32_t sync_edges = 2;
};

// The central scheduler.
struct SchedulerSpec {
  uint16_t id = 0;
  uint32_t domain = 0;              // in which it runs
  uint64_t reference_delay_ns = 0;  // between a trigger and its packet
};

struct PipelineConfig {
  uint32_t slices = 1;  // 1 to 64
  uint32_t events = 0;  // counters per memory block
  std::vector<CcuSpec> ccus;
  uint64_t clock_hz = 1'000'000'000;
  // Cycles between periodic triggers, between periodic commits of the slices' channels, and between those of the
  // hypervisor's channel. 0 disables.
  uint64_t trigger_period = 65'536;
  uint64_t commit_period = 262'144;
  uint64_t hypervisor_commit_period = 262'144;
  // Cycles between commits of the out-of-band channel, which adds the whole device's records for the microcontroller's
  // own use. 0: no such channel.
  uint64_t out_of_band_commit_period = 0;
  uint32_t buffer_depth = 16;  // records, 1 to 65536
  // Cycles, 1 to 65536, that a unit needs to send a record, the buffer to route a record, and the memory to accept a
  // commit. The last: additional cycles, 0 to 65536, of each of the eleven steps of a context switch.
  uint32_t record_cycles = 8;
  uint32_t route_cycles = 1;
  uint32_t grant_cycles = 4;
  uint32_t switch_step_cycles = 16;
  HpcTiming hpc;  // of the register read path
  // Counters of slices with enable bits (counter_gate.h). Without groups a slice has no gate, and no host mode.
  std::vector<GateGroup> gate_groups;
  uint32_t gate_cycles = 2;  // of an exit, and of an entry, 1 to 65536
  // The events that residents may choose (VmControl::selection), at most kSelectionsMax. Without selections and
  // rotation every input has a counter.
  std::vector<mailbox::EventSet> selections;
  // Relations that are always true of events, and how those of switched units are multiplexed. Without it, none
  // rotates.
  std::vector<mailbox::Relation> relations;
  std::optional<RotationSpec> rotation;
  // Domains 1 and up. Without them, the domains of units are those of a waveform, and triggers leave no packets.
  std::vector<DomainSpec> domains;
  SchedulerSpec scheduler;
};

// INVALID_ARGUMENT: the message names the unit, the field and its range.
absl::Status Validate(const PipelineConfig& config);
// `status` with "NAME: " before its message.
absl::Status Named(const std::string& name, const absl::Status& status);
// Whether every input of the unit-level counter has a counter; part of Validate without selections and rotation.
absl::Status CheckFits(const UlcSpec& ulc);

// The counters of a number of `digits` digits on consecutive wires, `wire` the least significant. In full: one counter
// per digit i, worth 2^i. Prescaled: the five lowest digits share a counter that gains one for every 32; each higher
// digit i has a counter worth 2^(i-5). Together they count floor(sum / 32).
std::vector<CounterInput> NumberInputs(sim::WireId wire, uint32_t digits, uint16_t event, bool prescaled);

// The counters of a collection unit: one per distinct meaning among the inputs of its unit-level counters.
struct CounterAllocation {
  std::vector<EventShare> meanings;
  // Counter of each input of each unit-level counter; CounterCollectionUnit::kMasked for a masked input.
  CounterCollectionUnit::Mapping mapping;
};
// The allocation as if every input had a counter.
CounterAllocation AllocateCounters(const CcuSpec& ccu);

// The part of the inputs that a unit-level counter counts.
UnitLevelCounter::Sources SourcesOf(std::span<const CounterInput> inputs);
// The configuration of a unit-level counter with the inputs and the shape of `ulc`; of a switched one without sources.
UnitLevelCounter::Config CounterConfig(const UlcSpec& ulc);

// Distributes counters over as many unit-level counters (shaped like `like`, at most 45 inputs each) and collection
// units (at most 48 unit-level counters each) as needed. The collection units are named after `name`.
std::vector<CcuSpec> Pack(const std::string& name, uint8_t channel, const std::vector<CounterInput>& inputs,
                          const UlcSpec& like);

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_CHIP_PIPELINE_CONFIG_H_
