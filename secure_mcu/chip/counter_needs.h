// SPDX-License-Identifier: Apache-2.0
//
// How many counters of which switched units each event needs. Units that are alike are one kind (SwitchedKind); those
// of slices and those of the device's scope are all listed.
//   const CounterNeeds needs(config);
//   Room room = needs.AllCounters();
//   if (Fits(needs.Of(event), room)) Take(needs.Of(event), room);
#ifndef SIDEBAND_SECURE_MCU_CHIP_COUNTER_NEEDS_H_
#define SIDEBAND_SECURE_MCU_CHIP_COUNTER_NEEDS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "proto/mailbox/event_set.h"
#include "secure_mcu/chip/pipeline_config.h"
#include "secure_mcu/chip/selectable_events.h"

namespace sideband::mcu {

using Need = std::map<size_t, uint32_t>;  // counters by the number of the kind; never 0
using Room = std::vector<uint32_t>;       // free counters of each kind

void Add(const Need& need, Need& sum);
bool Fits(const Need& need, const Room& room);
// The need must fit.
void Take(const Need& need, Room& room);

// Immutable, and so thread-safe.
class CounterNeeds {
 public:
  explicit CounterNeeds(const PipelineConfig& config);

  const std::vector<SwitchedKind>& kinds() const { return kinds_; }
  Room AllCounters() const;
  // Empty for an event that is not of a switched unit, and for one beyond the configuration's.
  const Need& Of(size_t event) const;
  bool Has(size_t event) const { return !Of(event).empty(); }
  Need Of(const mailbox::EventSet& events) const;

 private:
  std::vector<SwitchedKind> kinds_;
  std::vector<Need> needs_;  // per event
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_CHIP_COUNTER_NEEDS_H_
