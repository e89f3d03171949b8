// SPDX-License-Identifier: Apache-2.0
//
// Trigger block: numbers the triggers, schedules the periodic ones, and collects flush acknowledgements. (pipeline.md,
// "Context switch"; patent text, paragraphs 61, 71-74.)
//
//   TriggerBlock triggers(65'536);
//   if (cycle >= triggers.next_periodic()) {
//     triggers.PassPeriodic(cycle);
//     const uint32_t id = triggers.Fire(TriggerKind::kPeriodic);
//   }
#ifndef SIDEBAND_SECURE_MCU_PIPELINE_TRIGGER_BLOCK_H_
#define SIDEBAND_SECURE_MCU_PIPELINE_TRIGGER_BLOCK_H_

#include <cstdint>
#include <map>
#include <set>

namespace sideband::mcu {

// Causes of a bank swap.
enum class TriggerKind : uint8_t {
  kPeriodic,
  kRegisterWrite,  // by the firmware, including latches
  kExternal,       // a pin
  kThreshold,      // a counter of one unit reached its threshold; swaps that unit only
};

// Not thread-safe.
class TriggerBlock {
 public:
  // A periodic trigger every `period` cycles, the first at cycle `period`; 0: none.
  explicit TriggerBlock(uint64_t period) : period_(period), next_periodic_(period) {}

  // Counts a trigger and returns its number; numbers start at 1. A threshold trigger takes no number and carries the
  // newest one: numbers are visible to every tenant and must not reveal the counting rate of another tenant.
  uint32_t Fire(TriggerKind kind);
  uint32_t last_id() const { return last_id_; }
  // How many triggers of that kind have fired.
  uint64_t fired(TriggerKind kind) const;

  // The cycle of the next periodic trigger; UINT64_MAX if periodic triggers are disabled.
  uint64_t next_periodic() const;
  // Marks the periodic trigger that was due at or before `cycle` as fired; the next one is due at the following
  // multiple of the period.
  void PassPeriodic(uint64_t cycle);

  // The flush register: each request adds a unit that must acknowledge.
  void RequestFlush(uint16_t ccu) { awaited_.insert(ccu); }
  void Acknowledge(uint16_t ccu) { awaited_.erase(ccu); }
  // Polled by the firmware.
  bool AllAcknowledged() const { return awaited_.empty(); }

 private:
  const uint64_t period_;
  uint64_t next_periodic_;
  uint32_t last_id_ = 0;
  std::map<TriggerKind, uint64_t> fired_;
  std::set<uint16_t> awaited_;
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_PIPELINE_TRIGGER_BLOCK_H_
