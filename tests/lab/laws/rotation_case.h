// SPDX-License-Identifier: Apache-2.0
//
// A drawn chip with multiplexed events, its wires and its schedule, and what each context's row must be: computed cycle
// by cycle from the wires, without units, banks and channels (counter-rotation.md, "Laws").
//   const RotationCase test = *AnyRotationCase();
//   const PipelineConfig config = ConfigOf(test);
//   const RotationWires wires = WiresOf(test);
//   RotationTruth truth(test, config, chip.rotation().turns().plans(), wires);
//   truth.AdvanceTo(cycle);
//   truth.rows().at({1, 0}).counted[event];
#ifndef SIDEBAND_TESTS_LAB_LAWS_ROTATION_CASE_H_
#define SIDEBAND_TESTS_LAB_LAWS_ROTATION_CASE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <utility>
#include <vector>

#include "rapidcheck.h"
#include "secure_mcu/chip/pipeline_config.h"
#include "secure_mcu/chip/rotation_plan.h"
#include "secure_mcu/chip/rotation_table.h"
#include "secure_mcu/pipeline/rotation_order.h"
#include "sim/wires/packed_wires.h"
#include "tests/lab/laws/rotation_turns_truth.h"

namespace sideband::mcu {

inline constexpr uint64_t kRotationCycles = 5000, kLongRotationCycles = 25'000;
// Events 0 to 3 are states of which one is 1 in every cycle, 4 is a number of three digits counted in full, 5 one of
// four digits counted prescaled, 6 on are single wires, of which the last is fixed. 6 is at most 7: its wire is 1 only
// where that of 7 is. With gates, 5 to 8 are of group 0, and 9 on but the last of group 1; behind the last are the
// running cycles of both groups, and behind these the device's events, if there are any.
inline constexpr uint16_t kStates = 4, kNumberEvent = 4, kPrescaledEvent = 5, kSubsetEvent = 6, kSupersetEvent = 7;
inline constexpr uint16_t kLastOfFirstGroup = 8;
inline constexpr size_t kCaseGroups = 2;
inline constexpr uint32_t kDeviceEvents = 5, kDeviceCounters = 2;

// VM and context, or mailbox::kNoContext. Slice s has the host block {0, s}, the device's events are in kDeviceScope.
using RotationScope = std::pair<uint16_t, uint16_t>;
inline constexpr RotationScope kDeviceScope{0, mailbox::kNoContext};

struct RotationTurn {
  enum Kind : uint32_t {
    kSwitch,
    kExit,
    kEntry,
    kWrite,   // of the slice's value: bit g of `value` opens group g
    kChoose,  // for `resident`, from its next residency on: the second plan if `value` is odd, else the chip's own
  };
  uint64_t cycle = 0;  // from this one on
  std::optional<RotationScope> resident;
  uint32_t slice = 0;
  uint32_t kind = kSwitch;
  uint32_t value = 0;
};

struct RotationCase {
  uint32_t events = 9;  // at least 9; of contexts, without running cycles of gates
  uint32_t counters = 8;
  uint32_t units = 1;  // that share the counters' events
  uint32_t period = 16;
  uint32_t lanes = 512;  // of each unit; at least as many as it needs
  uint32_t threshold = kCcuThresholdDefault;
  uint32_t slices = 1;
  uint32_t dead_cycles = 0;
  uint64_t slot = 128, stable_slot = 128;
  bool adapt = false;
  bool tells_instructions = false;  // the fixed event
  uint64_t interval = 500;
  uint32_t threshold_per_mille = 50, step = 4;
  bool is_two_set = false;
  uint32_t sets_per_pass = 0;
  bool has_pass = false;  // contexts count the last pass, not the first generation's
  uint64_t cycles = kRotationCycles;
  uint64_t seed = 0;
  uint64_t wires_seed = 0;
  uint64_t wires_seed_of_others = 0;  // in cycles without VM 1
  bool has_relations = true;
  bool rotates = true;  // else each event must have a counter
  bool has_gates = false, has_host_blocks = false, has_device_units = false;
  uint16_t private_vm = 0;  // 0: none
  // That the second plan is given to, at the begin; 0: there is none. Its events are those with a 1 in the mask.
  uint16_t planned_vm = 0;
  uint32_t planned_events = 0;
  uint64_t planned_slot = 128;
  bool plan_adapts = false;
  uint64_t trigger_period = 0, commit_period = 0;
  uint32_t buffer_depth = 16;
  std::vector<RotationTurn> turns;  // ascending
};
std::ostream& operator<<(std::ostream& out, const RotationCase& test);

rc::Gen<RotationCase> AnyRotationCase();
PipelineConfig ConfigOf(const RotationCase& test);
// The second plan's events, which are multiplexed on slices, of a chip with those plans; none if the case has no such
// plan.
std::optional<PlanWishes> SecondPlanOf(const RotationCase& test, const std::vector<uint16_t>& rotated);
mailbox::RotationSettings SecondSettingsOf(const RotationCase& test, const PipelineConfig& config);
// The pass that contexts are told to count; none: their first generation's.
std::optional<uint32_t> PassOf(const RotationCase& test, const CounterPlan& plan);
// Per slice, then the device's.
using RotationWires = std::vector<std::shared_ptr<sim::PackedWires>>;
RotationWires WiresOf(const RotationCase& test);
uint32_t EventsOf(const RotationCase& test);

// Under one plan. Lines are all cycles, then those with the gate of each group open.
struct PlanCycles {
  std::vector<uint64_t> enabled, dead;         // per line
  std::vector<std::vector<uint64_t>> running;  // per set
};

struct RotationRow {
  std::vector<uint64_t> truth, counted;  // per event
  std::map<uint16_t, PlanCycles> plans;  // by number
};
void Add(const RotationRow& row, RotationRow& sum);

class RotationTruth {
 public:
  // Without plans nothing turns. The second plan is the one with a number above 1.
  RotationTruth(const RotationCase& test, const PipelineConfig& config, const std::vector<TurnPlan>& plans,
                const RotationWires& wires);

  // Counts the cycles below `cycle`.
  void AdvanceTo(uint64_t cycle);
  const std::map<RotationScope, RotationRow>& rows() const { return rows_; }
  // The sum of the rows of a VM.
  RotationRow SumOf(uint16_t vm) const;
  // The row of the device's block.
  RotationRow Device() const;

 private:
  struct Plan {
    CounterPlan counters;
    mailbox::RotationSettings settings;
  };
  // A scope on a slice, since its plan began.
  struct Life {
    uint16_t plan = 0;
    uint32_t lives = 0;  // before it, of the scope on the channel
    RotationTurnsTruth turns;
  };
  struct Channel {
    std::optional<RotationScope> resident;
    bool is_host = true;
    uint32_t open_bits = ~0u;            // as the slice's value has them
    std::vector<uint64_t> all, counted;  // of the residency, per event: of prescaled numbers not divided
  };
  bool is_device(uint32_t channel) const { return channel == test_.slices; }
  bool IsOfDevice(uint16_t event) const;
  bool Turns(uint16_t event) const;
  std::vector<uint16_t> TurningOn(uint32_t channel) const;
  bool IsOpen(size_t group, const Channel& channel) const;
  std::vector<bool> OpenEvents(const Channel& channel) const;
  uint16_t PlanOf(const RotationScope& scope) const;
  Life MakeLife(const RotationScope& scope, uint32_t channel, uint32_t lives) const;
  Life* LifeOf(uint32_t channel);  // none: nothing turns
  void Act(const RotationTurn& turn);
  void Switch(uint32_t channel, std::optional<RotationScope> to);
  void Count(uint32_t channel, uint64_t cycle);
  std::vector<uint64_t> CountEvents(uint32_t channel, uint64_t cycle, const Life* life, RotationRow& row);
  void CountTime(const Channel& channel, const RotationTurnsTruth& turns, PlanCycles& cycles) const;
  uint64_t GainOf(uint16_t event, uint32_t channel, uint64_t cycle) const;

  const RotationCase& test_;
  const PipelineConfig& config_;
  const RotationWires& wires_;
  const uint32_t events_;
  std::map<uint16_t, Plan> plans_;  // by number
  uint16_t second_ = 0;             // its number, or that of the chip's own
  std::vector<bool> is_switched_;   // per event
  std::map<RotationScope, uint16_t> chosen_;
  std::map<RotationScope, RotationRow> rows_;
  std::map<std::pair<RotationScope, uint32_t>, Life> lives_;  // by scope and channel
  std::vector<Channel> channels_;                             // per slice, then the device
  uint64_t now_ = 0;
  size_t next_turn_ = 0;
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_TESTS_LAB_LAWS_ROTATION_CASE_H_
