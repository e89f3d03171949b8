// SPDX-License-Identifier: Apache-2.0
//
// Trigger block: numbers the triggers, says when the next periodic one is due, and gathers flush acknowledgements.
// (pipeline.md, "Context switch"; patent text, paragraphs 61, 71-74.)
//
//   TriggerBlock triggers(65'536);
//   if (cycle >= triggers.next_periodic()) {
//     triggers.PassPeriodic(cycle);
//     const uint32_t id = triggers.Fire(TriggerKind::kPeriodic);
//   }
#ifndef SIDEBAND_SECURE_MCU_PIPELINE_TRIGGER_BLOCK_H_
#define SIDEBAND_SECURE_MCU_PIPELINE_TRIGGER_BLOCK_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <set>

namespace sideband::mcu {

// What swaps the banks of collection units.
enum class TriggerKind : uint8_t {
  kPeriodic,
  kRegisterWrite,  // by the firmware: a latch is one
  kExternal,       // a pin
  kThreshold,      // a counter of one unit reached its threshold: of that unit alone
};
inline constexpr size_t kTriggerKinds = 4;

// Not thread-safe.
class TriggerBlock {
 public:
  // A periodic trigger every `period` cycles, the first at cycle `period`; 0: none.
  explicit TriggerBlock(uint64_t period) : period_(period), next_periodic_(period) {}

  // Counts a trigger and returns its number, from 1. A threshold's has none of its own, it bears the newest: numbers
  // are shown to every tenant, and must not tell how fast another one counts.
  uint32_t Fire(TriggerKind kind);
  uint32_t last_id() const { return last_id_; }
  uint64_t fired(TriggerKind kind) const { return fired_[static_cast<size_t>(kind)]; }

  // The cycle of the next periodic trigger; UINT64_MAX where there is none.
  uint64_t next_periodic() const;
  // The periodic trigger that was due at or before `cycle` has been given; the next one is due on the same grid.
  void PassPeriodic(uint64_t cycle);

  // The flush register: a request names the units that must acknowledge.
  void RequestFlush(uint16_t ccu) { awaited_.insert(ccu); }
  void Acknowledge(uint16_t ccu) { awaited_.erase(ccu); }
  // What the firmware polls.
  bool AllAcknowledged() const { return awaited_.empty(); }

 private:
  const uint64_t period_;
  uint64_t next_periodic_;
  uint32_t last_id_ = 0;
  std::array<uint64_t, kTriggerKinds> fired_{};
  std::set<uint16_t> awaited_;
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_PIPELINE_TRIGGER_BLOCK_H_
