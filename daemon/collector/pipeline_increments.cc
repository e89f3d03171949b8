// SPDX-License-Identifier: Apache-2.0
#include "daemon/collector/pipeline_increments.h"

#include <utility>

namespace sideband::daemon {
namespace {

uint64_t Increment(uint64_t before, uint64_t now) { return now > before ? now - before : 0; }

}  // namespace

mailbox::PipelineStatistics PipelineIncrements::Since(uint64_t boot_id, const mailbox::PipelineStatistics& now) {
  // A restarted device counts from zero.
  if (boot_id != boot_id_) last_ = {};
  boot_id_ = boot_id;
  const mailbox::PipelineStatistics before = std::exchange(last_, now);
  return {.stall_cycles = Increment(before.stall_cycles, now.stall_cycles),
          .trigger_overruns = Increment(before.trigger_overruns, now.trigger_overruns),
          .commit_wait_cycles = Increment(before.commit_wait_cycles, now.commit_wait_cycles),
          .mmu_faults = Increment(before.mmu_faults, now.mmu_faults),
          .switches = Increment(before.switches, now.switches),
          .switch_cycles = Increment(before.switch_cycles, now.switch_cycles),
          .rotation_inconsistencies = Increment(before.rotation_inconsistencies, now.rotation_inconsistencies)};
}

}  // namespace sideband::daemon
