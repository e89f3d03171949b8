// SPDX-License-Identifier: Apache-2.0
//
// What a chip's counter pipeline is made of. Filled from a chip file (secure_mcu/serve/chip_file.h) or from a signal
// map (secure_mcu/replay/event_plan.h), and checked as a whole before a chip is built.
#ifndef SIDEBAND_SECURE_MCU_CHIP_PIPELINE_CONFIG_H_
#define SIDEBAND_SECURE_MCU_CHIP_PIPELINE_CONFIG_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "secure_mcu/pipeline/counter_collection_unit.h"
#include "secure_mcu/pipeline/record.h"
#include "secure_mcu/pipeline/reduction_channel.h"
#include "secure_mcu/pipeline/unit_level_counter.h"
#include "sim/wires/wire_source.h"

namespace sideband::mcu {

// One counter of a unit-level counter: the wire that it counts and what the counter means.
struct CounterInput {
  sim::WireId wire = 0;
  EventShare meaning;
  bool masked = false;  // counted by the unit, not added by the collection unit
  // 1 to 5: a number of so many digits on consecutive wires, `wire` the least significant, is counted prescaled. 0: the
  // one wire as it is.
  uint8_t digits = 0;

  uint32_t wires() const { return digits == 0 ? 1 : digits; }
};

struct UlcSpec {
  std::string name;
  uint32_t domain = 0;  // the clock domain of its wires, 0 to 63
  std::vector<CounterInput> inputs;
  uint32_t counter_bits = kUlcCounterBitsMax;
  uint32_t period = kUlcPeriodMax;
  uint32_t lanes = 1;
};

struct CcuSpec {
  std::string name;
  uint8_t channel = 0;  // a slice, or kDeviceChannel: never paused, for the hypervisor's channel only
  std::vector<UlcSpec> ulcs;
  uint32_t threshold = kCcuThresholdDefault;
};

struct PipelineConfig {
  uint32_t slices = 1;  // 1 to 64
  uint32_t events = 0;  // counters of each memory block
  std::vector<CcuSpec> ccus;
  uint64_t clock_hz = 1'000'000'000;
  // Cycles between periodic triggers, and between periodic commits of the slices' channels and of the hypervisor's; 0:
  // none.
  uint64_t trigger_period = 65'536;
  uint64_t commit_period = 262'144;
  uint64_t hypervisor_commit_period = 262'144;
  // Of the out-of-band channel, which adds the whole device's records for the microcontroller's own use; 0: there is no
  // such channel.
  uint64_t out_of_band_commit_period = 0;
  uint32_t buffer_depth = 16;  // records, 1 to 65536
  // How long a unit needs to send a record, the buffer to route one, the memory to take a commit; and what each of the
  // eleven steps of a context switch costs besides. In cycles, 1 to 65536 (the last may be 0).
  uint32_t record_cycles = 8;
  uint32_t route_cycles = 1;
  uint32_t grant_cycles = 4;
  uint32_t switch_step_cycles = 16;
};

// INVALID_ARGUMENT names the unit, the field and its range.
absl::Status Validate(const PipelineConfig& config);

// The counters of a number of `digits` digits on consecutive wires, `wire` the least significant. In full: one each,
// worth 2^i. Prescaled: the five lowest share one that gains one for every 32, and each above is worth 2^(i-5);
// together floor(sum / 32).
std::vector<CounterInput> NumberInputs(sim::WireId wire, uint32_t digits, uint16_t event, bool prescaled);

// The counters of a collection unit: one for each meaning that its unit-level counters' inputs have.
struct CounterAllocation {
  std::vector<EventShare> meanings;
  // Of each unit-level counter's inputs; CounterCollectionUnit::kMasked for a masked one.
  std::vector<std::vector<uint16_t>> mapping;
};
CounterAllocation AllocateCounters(const CcuSpec& ccu);

// What a unit-level counter of this shape is made of.
UnitLevelCounter::Config CounterConfig(const UlcSpec& ulc);

// Spreads counters over as many unit-level counters (of `like`'s shape, at most 45 inputs each) and collection units
// (at most 48 each) as they need, named after `name`.
std::vector<CcuSpec> Pack(const std::string& name, uint8_t channel, const std::vector<CounterInput>& inputs,
                          const UlcSpec& like);

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_CHIP_PIPELINE_CONFIG_H_
