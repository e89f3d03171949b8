// SPDX-License-Identifier: Apache-2.0
//
// The set that is counted in one context, cycle by cycle, from the definition (counter-rotation.md). A chip is compared
// with it.
//   RotationTurnsTruth turns(settings, plan, events, /*instructions=*/std::nullopt, /*dead_cycles=*/0, order, scope);
//   turns.BeginResidency();
//   if (!turns.is_dead()) Count(turns.set());
//   turns.Count(gains, open, /*is_own=*/true);
//   turns.EndResidency();
#ifndef SIDEBAND_TESTS_LAB_LAWS_ROTATION_TURNS_TRUTH_H_
#define SIDEBAND_TESTS_LAB_LAWS_ROTATION_TURNS_TRUTH_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "proto/mailbox/rotation.h"
#include "secure_mcu/chip/rotation_plan.h"
#include "secure_mcu/chip/turn_policy.h"
#include "secure_mcu/pipeline/rotation_order.h"

namespace sideband::mcu {

struct TruthScope {
  size_t first = 0, sets = 1;  // of the plan's
  bool is_first_run = false;
};
// The scope is the pass of a context, or its first generation without one.
TruthScope ScopeOf(const mailbox::RotationSettings& settings, size_t sets, std::optional<uint32_t> pass);

class RotationTurnsTruth {
 public:
  // `instructions`: the event, if the chip tells it. `events` are those that turn.
  RotationTurnsTruth(const mailbox::RotationSettings& settings, const CounterPlan& plan, std::vector<uint16_t> events,
                     std::optional<uint16_t> instructions, uint64_t dead_cycles, const RotationOrder& order,
                     const TruthScope& scope);

  void BeginResidency();
  size_t set() const { return set_; }
  bool is_dead() const { return slot_.own < dead_ && plan_.sets.size() > 1; }
  // Counts the next cycle: the gain of each event of the chip, of a prescaled one the rise of its count; and whether
  // its gate is open. Cycles of the hypervisor are not its own: they are the slot's, which they make no older.
  void Count(const std::vector<uint64_t>& gains, const std::vector<bool>& open, bool is_own);
  void EndResidency();

 private:
  struct Slot {
    size_t set = 0;
    uint64_t enabled = 0, running = 0, own = 0;
    std::vector<uint64_t> counts, open;  // per event of the chip: counts, and running cycles with its gate open
  };
  size_t RoundSize() const;
  void BeginSlot();
  void EndSlot(bool is_whole);
  RotationClass Class() const;
  void Look(const Slot& slot);
  bool MayClose() const;
  void Close();
  double SpreadOf(uint16_t event) const;

  const mailbox::RotationSettings& settings_;
  const CounterPlan& plan_;
  const std::vector<uint16_t> events_;
  const std::optional<uint16_t> instructions_;
  const uint64_t dead_cycles_;
  RotationOrder order_;
  const TruthScope scope_;

  uint64_t residency_ = 0, round_ = 0, place_ = 0;
  size_t set_ = 0;
  uint64_t left_ = 0;  // of a turn of `two-set`
  uint64_t dead_ = 0;  // of the slot
  uint64_t length_ = 0;
  Slot slot_;
  std::vector<Slot> epoch_;
  bool is_within_ = false;
  uint64_t rounds_ = 0;  // of the residency
  uint64_t ended_ = 0;
  std::vector<uint32_t> shares_;  // none: equal
  std::vector<double> needs_;     // none: no closed epoch
  std::vector<IndicatorSample> looks_;
  IndicatorSample look_;
  uint64_t look_cycles_ = 0;
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_TESTS_LAB_LAWS_ROTATION_TURNS_TRUTH_H_
