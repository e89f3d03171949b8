// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/replay/replay.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "secure_mcu/chip/chip.h"
#include "secure_mcu/chip/player.h"
#include "secure_mcu/chip/schedule_timeline.h"
#include "secure_mcu/replay/event_plan.h"
#include "secure_mcu/replay/peeker.h"
#include "secure_mcu/replay/rotation_setup.h"
#include "secure_mcu/replay/tenants.h"
#include "secure_mcu/replay/warnings.h"
#include "sim/waveform/exits.h"
#include "sim/waveform/schedule.h"
#include "sim/waveform/signal_map.h"
#include "sim/waveform/tag_filters.h"
#include "sim/waveform/trace_reader.h"

namespace sideband::mcu {
namespace {

uint32_t SliceCount(const sim::SignalMap& map, const std::vector<sim::Residency>& schedule) {
  uint32_t slices = 1;
  for (const sim::Residency& residency : schedule) slices = std::max(slices, residency.slice + 1);
  for (const sim::EventSpec& event : map.events()) slices = std::max(slices, event.slice.value_or(0) + 1);
  return slices;
}

// In the order of their cycles; at one cycle a slice's entry is before its next exit.
std::vector<ModeEvent> ModesOf(const std::vector<sim::VmExit>& exits) {
  std::vector<ModeEvent> modes;
  for (const sim::VmExit& exit : exits) {
    modes.push_back({exit.start_cycle, static_cast<uint8_t>(exit.slice), true});
    modes.push_back({exit.end_cycle, static_cast<uint8_t>(exit.slice), false});
  }
  std::ranges::stable_sort(modes, {}, [](const ModeEvent& mode) { return std::pair(mode.cycle, mode.is_host); });
  return modes;
}

void AttachAll(const sim::TraceChunk& chunk, uint32_t slices, Chip& chip) {
  for (uint32_t slice = 0; slice < slices; ++slice) chip.Attach(static_cast<uint8_t>(slice), chunk);
  chip.Attach(kDeviceChannel, chunk);
}

absl::Status RunToEnd(sim::TraceReader& trace, uint32_t slices, Chip& chip, Player& player, Peeker& peeker,
                      const std::function<void(uint64_t)>& progress) {
  bool has_wires = false;
  while (true) {
    SIDEBAND_ASSIGN_OR_RETURN(const sim::TraceChunk* chunk, trace.Next());
    if (chunk == nullptr) break;
    AttachAll(*chunk, slices, chip);
    has_wires = true;
    peeker.PlayTo(trace.cycles(), chip, player);
    // Cycles of other clocks since the last reference edge must be counted before the chunk is replaced.
    chip.AdvanceWithinCycle();
    if (progress) progress(trace.cycles());
  }
  // A trace without a cycle has no wires to count.
  if (!has_wires) {
    peeker.ReadNothing();
    return absl::OkStatus();
  }
  // The residents leave at the end of the trace, so that all counts arrive in their blocks.
  player.Vacate();
  chip.Latch();
  return absl::OkStatus();
}

ReplayBlock MakeBlock(const Chip& chip, BlockId block, std::string vm, std::string context) {
  const auto counters = chip.memory().counters(block);
  ReplayBlock made{.vm = std::move(vm),
                   .context = std::move(context),
                   .counters = {counters.begin(), counters.end()},
                   .flags = {},
                   .rotation = {}};
  uint16_t flags = chip.memory().header(block).flags;
  if (chip.has_rotation()) {
    made.rotation = NumbersOf(chip, block);
    if (made.rotation->is_estimated()) flags |= mailbox::kFlagEstimated;
  }
  made.flags = mailbox::FlagNames(flags);
  return made;
}

std::vector<ReplayBlock> CollectBlocks(const Chip& chip, const std::vector<Tenant>& tenants) {
  std::vector<ReplayBlock> blocks = {MakeBlock(chip, 0, "vm0", "")};
  for (const Tenant& tenant : tenants) {
    const BlockId block = tenant.binding.context.value_or(tenant.binding.vm);
    blocks.push_back(MakeBlock(chip, block, tenant.vm, tenant.context));
  }
  return blocks;
}

std::string NameOf(const std::vector<Tenant>& tenants, const std::optional<Binding>& binding) {
  if (!binding) return "";
  const auto found =
      std::find_if(tenants.begin(), tenants.end(), [&](const Tenant& tenant) { return tenant.binding == *binding; });
  return found->context.empty() ? found->vm : absl::StrCat(found->vm, "/", found->context);
}

SwitchTracer NamedSwitches(const std::vector<Tenant>& tenants, const std::function<void(const ReplaySwitch&)>& tell) {
  return [&tenants, tell](const SwitchStepEvent& event) {
    tell({event, NameOf(tenants, event.from), NameOf(tenants, event.to)});
  };
}

}  // namespace

absl::StatusOr<ReplayResult> Replay(const ReplayInputs& inputs, const ReplayObservers& observers) {
  SIDEBAND_ASSIGN_OR_RETURN(const sim::SignalMap map, sim::SignalMap::Load(inputs.signals));
  SIDEBAND_ASSIGN_OR_RETURN(auto schedule, sim::LoadSchedule(inputs.schedule));
  std::vector<sim::VmExit> exits;
  if (!inputs.exits.empty()) {
    SIDEBAND_ASSIGN_OR_RETURN(exits, sim::LoadExits(inputs.exits, schedule));
  }
  NameHosts(schedule);
  std::vector<Peek> peeks;
  if (!inputs.peeks.empty()) {
    SIDEBAND_ASSIGN_OR_RETURN(peeks, LoadPeeks(inputs.peeks));
  }
  const uint32_t slices = SliceCount(map, schedule);
  SIDEBAND_ASSIGN_OR_RETURN(const auto filters, sim::TagFilters::Create(map, schedule, inputs.schedule, slices));
  SIDEBAND_ASSIGN_OR_RETURN(const auto trace, sim::TraceReader::Open(inputs.trace, map, filters));
  std::optional<RotationFile> rotation;
  if (!inputs.rotation.empty()) {
    SIDEBAND_ASSIGN_OR_RETURN(rotation, LoadReplayRotation(inputs.rotation));
  }
  const auto counters = rotation ? rotation->counters : std::nullopt;
  SIDEBAND_ASSIGN_OR_RETURN(EventPlan plan, PlanEvents(map, trace->event_wires(), slices, counters));

  std::vector<std::string> names;
  for (const PlannedEvent& event : plan.events) names.push_back(event.name);
  const bool has_modes = !plan.gate_groups.empty();
  PipelineConfig config{.slices = slices,
                        .events = static_cast<uint32_t>(names.size()),
                        .ccus = std::move(plan.ccus),
                        .gate_groups = std::move(plan.gate_groups)};
  const bool has_turns = HasTurns(config);
  if (has_turns) SIDEBAND_RETURN_IF_ERROR(AddRotation(*rotation, inputs.seed, names, config));
  SIDEBAND_ASSIGN_OR_RETURN(const auto chip, Chip::Create(config));
  std::vector<Tenant> tenants = CreateHosts(schedule, *chip);
  for (Tenant& tenant : CreateBlocks(ScheduledVms(schedule), chip->memory())) tenants.push_back(std::move(tenant));
  if (observers.switches) chip->TraceSwitches(NamedSwitches(tenants, observers.switches));
  ScheduleTimeline timeline(schedule, tenants, /*turn_cycles=*/0);
  // No source follows the residents: the wires of a trace do not depend on them.
  Player player(*chip, timeline, std::vector<sim::WireSource*>(slices), {}, ModesOf(exits));
  SIDEBAND_ASSIGN_OR_RETURN(Peeker peeker, Peeker::Create(peeks, inputs.peeks, names, tenants));
  SIDEBAND_RETURN_IF_ERROR(RunToEnd(*trace, slices, *chip, player, peeker, observers.progress));
  ReplayResult result{.cycles = trace->cycles(),
                      .events = std::move(names),
                      .blocks = CollectBlocks(*chip, tenants),
                      .peeks = {},
                      .warnings = ReplayWarnings(inputs.schedule, map, schedule, *trace),
                      .rotation = {}};
  if (chip->has_rotation()) result.rotation = RotationOf(*chip, result.events);
  if (rotation && !has_turns) {
    result.warnings.push_back(absl::StrCat(inputs.rotation, ": every event has a counter: none takes turns"));
  }
  if (!exits.empty() && !has_modes) {
    result.warnings.push_back(absl::StrCat(inputs.exits, ": no event has a mode: exits change no count"));
  }
  WarnOfUnattributed(inputs.trace, plan.events, result.blocks[0].counters, result.warnings);
  for (size_t i = 0; i < peeker.counts().size(); ++i) result.peeks.push_back({peeks[i], peeker.counts()[i]});
  return result;
}

}  // namespace sideband::mcu
