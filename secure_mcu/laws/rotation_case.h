// SPDX-License-Identifier: Apache-2.0
//
// A drawn chip whose events take turns, its wires and its schedule, and what each context's row must be: computed cycle
// by cycle from the wires, without units, banks and channels (counter-rotation.md, "Laws").
//   const RotationCase test = *AnyRotationCase();
//   const PipelineConfig config = ConfigOf(test);
//   const sim::PackedWires wires = WiresOf(test);
//   RotationTruth truth(test, config, plan, wires);
//   truth.AdvanceTo(cycle);
//   truth.rows().at({1, 0}).counted[event];
#ifndef SIDEBAND_SECURE_MCU_LAWS_ROTATION_CASE_H_
#define SIDEBAND_SECURE_MCU_LAWS_ROTATION_CASE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <ostream>
#include <utility>
#include <vector>

#include "rapidcheck.h"
#include "secure_mcu/chip/pipeline_config.h"
#include "secure_mcu/chip/rotation_plan.h"
#include "secure_mcu/laws/rotation_turns_truth.h"
#include "secure_mcu/pipeline/rotation_order.h"
#include "sim/wires/packed_wires.h"

namespace sideband::mcu {

inline constexpr uint64_t kRotationCycles = 5000, kLongRotationCycles = 25'000;
// Events 0 to 3 are states of which one is 1 in every cycle, 4 is a number of three digits counted in full, 5 one of
// four digits counted prescaled, 6 on are single wires, of which the last is fixed. 6 is at most 7: its wire is 1 only
// where that of 7 is.
inline constexpr uint16_t kStates = 4, kNumberEvent = 4, kPrescaledEvent = 5, kSubsetEvent = 6, kSupersetEvent = 7;

struct RotationTurn {
  uint64_t cycle = 0;                                     // from this one on
  std::optional<std::pair<uint16_t, uint16_t>> resident;  // VM and context (or mailbox::kNoContext)
};

struct RotationCase {
  uint32_t events = 9;  // at least 9
  uint32_t counters = 8;
  uint32_t units = 1;  // that share the counters' events
  uint32_t period = 16;
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
  bool has_relations = true;
  bool rotates = true;  // else each event must have a counter
  uint64_t trigger_period = 0, commit_period = 0;
  uint32_t buffer_depth = 16;
  std::vector<RotationTurn> turns;  // ascending
};
std::ostream& operator<<(std::ostream& out, const RotationCase& test);

rc::Gen<RotationCase> AnyRotationCase();
PipelineConfig ConfigOf(const RotationCase& test);
// That contexts are told to count; none: their first generation's.
std::optional<uint32_t> PassOf(const RotationCase& test, const CounterPlan& plan);
sim::PackedWires WiresOf(const RotationCase& test);

struct RotationRow {
  std::vector<uint64_t> truth, counted;  // per event
  uint64_t enabled = 0, dead = 0;
  std::vector<uint64_t> running;  // per set
};

class RotationTruth {
 public:
  RotationTruth(const RotationCase& test, const PipelineConfig& config, const CounterPlan& plan,
                const sim::PackedWires& wires);

  // Counts the cycles below `cycle`.
  void AdvanceTo(uint64_t cycle);
  // By VM and context.
  const std::map<std::pair<uint16_t, uint16_t>, RotationRow>& rows() const { return rows_; }

 private:
  struct Sums {
    std::vector<uint64_t> all, counted;  // of the residency, per event: of prescaled numbers not divided
  };
  RotationTurnsTruth MakeTurns() const;
  void Count(uint64_t cycle);
  void Begin(uint64_t cycle);
  uint64_t GainOf(uint16_t event, uint64_t cycle) const;
  void Show(RotationRow& row, const Sums& sums, const RotationRow& before) const;

  const RotationCase& test_;
  const CounterPlan& plan_;
  const sim::PackedWires& wires_;
  std::vector<bool> is_switched_;  // per event
  std::map<std::pair<uint16_t, uint16_t>, RotationRow> rows_;
  const PipelineConfig& config_;
  std::map<std::pair<uint16_t, uint16_t>, RotationTurnsTruth> turns_;
  uint64_t now_ = 0;
  size_t next_turn_ = 0;
  std::optional<std::pair<uint16_t, uint16_t>> resident_;
  RotationRow before_;  // of the resident, at its residency's begin
  Sums sums_;
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_LAWS_ROTATION_CASE_H_
