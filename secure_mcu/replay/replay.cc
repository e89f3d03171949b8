// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/replay/replay.h"

#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "proto/base/text.h"
#include "secure_mcu/chip/chip.h"
#include "secure_mcu/chip/player.h"
#include "secure_mcu/chip/schedule_timeline.h"
#include "secure_mcu/replay/event_plan.h"
#include "secure_mcu/replay/tenants.h"
#include "sim/waveform/schedule.h"
#include "sim/waveform/signal_map.h"
#include "sim/waveform/trace_reader.h"

namespace sideband::mcu {
namespace {

// A signal map describes one slice.
absl::Status CheckSlices(const std::vector<sim::Residency>& schedule, const std::string& file) {
  for (const sim::Residency& residency : schedule) {
    if (residency.slice != 0) {
      return LineError(file, residency.line,
                       absl::StrCat("no event of the signal map belongs to slice ", residency.slice));
    }
  }
  return absl::OkStatus();
}

absl::Status RunToEnd(sim::TraceReader& trace, Chip& chip, Player& player,
                      const std::function<void(uint64_t)>& progress) {
  while (true) {
    SIDEBAND_ASSIGN_OR_RETURN(const sim::PackedWires* chunk, trace.Next());
    if (chunk == nullptr) break;
    chip.Attach(0, *chunk);
    chip.Attach(kDeviceChannel, *chunk);
    player.PlayTo(trace.cycles());
    if (progress) progress(trace.cycles());
  }
  player.Vacate();
  chip.Latch();
  return absl::OkStatus();
}

ReplayBlock MakeBlock(const MemoryBlocks& memory, BlockId block, std::string vm, std::string context) {
  const auto counters = memory.counters(block);
  return {.vm = std::move(vm),
          .context = std::move(context),
          .counters = {counters.begin(), counters.end()},
          .flags = mailbox::FlagNames(memory.header(block).flags)};
}

std::vector<ReplayBlock> CollectBlocks(const MemoryBlocks& memory, const std::vector<Tenant>& tenants) {
  std::vector<ReplayBlock> blocks = {MakeBlock(memory, 0, "vm0", "")};
  for (const Tenant& tenant : tenants) {
    const BlockId block = tenant.binding.context.value_or(tenant.binding.vm);
    blocks.push_back(MakeBlock(memory, block, tenant.vm, tenant.context));
  }
  return blocks;
}

}  // namespace

absl::StatusOr<ReplayResult> Replay(const ReplayInputs& inputs, const std::function<void(uint64_t)>& progress) {
  SIDEBAND_ASSIGN_OR_RETURN(const sim::SignalMap map, sim::SignalMap::Load(inputs.signals));
  SIDEBAND_ASSIGN_OR_RETURN(const auto schedule, sim::LoadSchedule(inputs.schedule));
  SIDEBAND_RETURN_IF_ERROR(CheckSlices(schedule, inputs.schedule));
  SIDEBAND_ASSIGN_OR_RETURN(const auto trace, sim::TraceReader::Open(inputs.trace, map));
  SIDEBAND_ASSIGN_OR_RETURN(EventPlan plan, PlanEvents(map, trace->event_wires()));

  const auto events = static_cast<uint32_t>(plan.events.size());
  SIDEBAND_ASSIGN_OR_RETURN(const auto chip, Chip::Create({.events = events, .ccus = std::move(plan.ccus)}));
  const std::vector<Tenant> tenants = CreateBlocks(ScheduledVms(schedule), chip->memory());
  ScheduleTimeline timeline(schedule, tenants, /*turn_cycles=*/0);
  Player player(*chip, timeline, {nullptr});
  SIDEBAND_RETURN_IF_ERROR(RunToEnd(*trace, *chip, player, progress));
  return ReplayResult{trace->cycles(), std::move(plan.events), CollectBlocks(chip->memory(), tenants)};
}

}  // namespace sideband::mcu
