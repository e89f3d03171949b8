// SPDX-License-Identifier: Apache-2.0
//
// A timeline of the residencies of a schedule (sim/waveform/schedule.h), played once or repeated endlessly.
//   ScheduleTimeline timeline(residencies, tenants, /*turn_cycles=*/0);   // played once
#ifndef SIDEBAND_SECURE_MCU_CHIP_SCHEDULE_TIMELINE_H_
#define SIDEBAND_SECURE_MCU_CHIP_SCHEDULE_TIMELINE_H_

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "secure_mcu/chip/player.h"
#include "sim/waveform/schedule.h"

namespace sideband::mcu {

// Back-to-back residencies of a slice make one switch.
class ScheduleTimeline final : public Timeline {
 public:
  // `tenants` must contain every VM and context of `residencies`. With `turn_cycles` not 0, the schedule restarts every
  // `turn_cycles` cycles, and a residency that extends past the end of a turn ends there.
  ScheduleTimeline(const std::vector<sim::Residency>& residencies, std::vector<Tenant> tenants, uint64_t turn_cycles);

  std::optional<SwitchEvent> Peek() const override;
  void Pop() override;
  const std::vector<Tenant>& tenants() const override { return tenants_; }

 private:
  const std::vector<Tenant> tenants_;
  const uint64_t turn_cycles_;
  std::vector<SwitchEvent> events_;  // of one turn
  size_t next_ = 0;
  uint64_t turn_start_ = 0;
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_CHIP_SCHEDULE_TIMELINE_H_
