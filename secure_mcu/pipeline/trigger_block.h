// SPDX-License-Identifier: Apache-2.0
//
// Trigger block: numbers the triggers, says when the next periodic one is due, and gathers flush acknowledgements.
// (pipeline.md, "Context switch"; patent text, paragraphs 61, 71-74.)
#ifndef SIDEBAND_SECURE_MCU_PIPELINE_TRIGGER_BLOCK_H_
#define SIDEBAND_SECURE_MCU_PIPELINE_TRIGGER_BLOCK_H_

#include <cstdint>
#include <set>

namespace sideband::mcu {

// Not thread-safe.
class TriggerBlock {
 public:
  // A periodic trigger every `period` cycles, the first at cycle `period`; 0: none.
  explicit TriggerBlock(uint64_t period) : period_(period), next_periodic_(period) {}

  // The number of a new trigger, from 1; each is used for one trigger, whatever its kind.
  uint32_t NextId() { return ++last_id_; }
  uint32_t last_id() const { return last_id_; }

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
  std::set<uint16_t> awaited_;
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_PIPELINE_TRIGGER_BLOCK_H_
