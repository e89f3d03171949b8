// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/device/replay.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/errors.h"
#include "proto/base/event_name.h"
#include "proto/base/file.h"
#include "proto/base/status_macros.h"
#include "proto/base/text.h"
#include "proto/mailbox/catalog.h"
#include "proto/mailbox/rotation_file.h"
#include "secure_mcu/chip/chip.h"
#include "secure_mcu/chip/player.h"
#include "secure_mcu/chip/rotation_plan.h"
#include "secure_mcu/chip/rotation_rules.h"
#include "secure_mcu/chip/selections.h"
#include "secure_mcu/device/event_plan.h"
#include "sim/waveform/csv_rows.h"
#include "sim/waveform/schedule.h"
#include "sim/waveform/signal_map.h"
#include "sim/waveform/tag_filters.h"
#include "sim/waveform/trace_reader.h"

namespace sideband::mcu {
namespace {

enum Column { kCycle, kVm, kContext, kEvent };
constexpr sim::CsvColumn kColumns[] = {{.name = "cycle"}, {.name = "vm"}, {.name = "context"}, {.name = "event"}};

absl::Status AddPeek(const sim::CsvRow& row, std::vector<Peek>& peeks) {
  Peek peek{.vm = std::string(row.field(kVm)),
            .context = std::string(row.field(kContext)),
            .event = std::string(row.field(kEvent)),
            .line = row.line()};
  SIDEBAND_ASSIGN_OR_RETURN(peek.cycle, row.Whole(kCycle, UINT64_MAX));
  if (!peeks.empty() && peek.cycle < peeks.back().cycle) {
    return absl::InvalidArgumentError(
        absl::StrCat("cycle ", peek.cycle, " is below that of the row before, ", peeks.back().cycle));
  }
  peeks.push_back(std::move(peek));
  return absl::OkStatus();
}

using Warnings = std::vector<std::string>;

constexpr size_t kGapWarningsMax = 16;

void WarnOfClocks(const sim::SignalMap& map, const sim::TraceReader& trace, Warnings& warnings) {
  std::set<std::string> still;
  if (trace.cycles() == 0) still.insert(map.clock());
  for (size_t event = 0; event < map.events().size(); ++event) {
    const std::string& clock = map.events()[event].clock;
    if (!clock.empty() && trace.cycles(trace.event_wires().domain(event)) == 0) still.insert(clock);
  }
  for (const std::string& clock : still) {
    warnings.push_back(absl::StrCat(trace.path(), ": clock '", clock, "' never rises: its events count 0"));
  }
}

std::string LikewiseMore(ptrdiff_t more) { return more == 0 ? "" : absl::StrCat("; likewise ", more, " more"); }

// Warns of residencies that go beyond the trace: it may be cut off, or the schedule may be another's.
void WarnOfEnds(const std::string& path, const std::vector<sim::Residency>& schedule, uint64_t cycles,
                Warnings& warnings) {
  const auto is_cut = [&](const sim::Residency& residency) { return residency.end_cycle > cycles; };
  const auto first = std::ranges::find_if(schedule, is_cut);
  if (first == schedule.end()) return;
  const auto more = std::count_if(std::next(first), schedule.end(), is_cut);
  const bool is_late = first->start_cycle >= cycles;
  warnings.push_back(absl::StrCat(path, ":", first->line, ": the residency ",
                                  is_late
                                      ? absl::StrCat("begins with cycle ", first->start_cycle, " and the trace ends")
                                      : absl::StrCat("ends with cycle ", first->end_cycle - 1, ", the trace"),
                                  " with cycle ", cycles - 1, ": what is missing counts 0", LikewiseMore(more)));
}

void WarnOfSchedule(const std::string& path, const sim::SignalMap& map, const std::vector<sim::Residency>& schedule,
                    uint64_t cycles, Warnings& warnings) {
  const auto is_late = [&](const sim::Residency& residency) { return residency.start_cycle >= cycles; };
  if (schedule.empty()) {
    warnings.push_back(absl::StrCat(path,
                                    ": no residency: nothing is counted; a design without VMs needs one such as "
                                    "0,8000,vm1,"));
    return;
  }
  if (cycles == 0) return;
  if (!std::ranges::all_of(schedule, is_late)) return WarnOfEnds(path, schedule, cycles, warnings);
  warnings.push_back(absl::StrCat(path, ": every residency begins after the trace, which ends with cycle ", cycles - 1,
                                  ": all VMs count 0 (are these times, not cycles?)"));
  // A slow signal may have been taken for the clock.
  const std::string often = cycles == 1 ? "once" : absl::StrCat(cycles, " times");
  const absl::Status slow =
      map.Error(map.clock_line(), absl::StrCat("the clock '", map.clock(), "' rises only ", often));
  warnings.emplace_back(slow.message());
}

// Live counts of cycles beyond the trace are not there.
void WarnOfPeeks(const std::string& path, const std::vector<Peek>& peeks, size_t read, uint64_t cycles,
                 Warnings& warnings) {
  if (read == peeks.size()) return;
  warnings.push_back(absl::StrCat(path, ":", peeks[read].line, ": no count at cycle ", peeks[read].cycle,
                                  ", the trace has ", cycles, cycles == 1 ? " cycle" : " cycles",
                                  LikewiseMore(static_cast<ptrdiff_t>(peeks.size() - read) - 1)));
}

// Whether the gap hides a part of the residency.
bool IsIn(const sim::DumpGap& gap, const sim::Residency& residency) {
  return gap.cycles.begin < residency.end_cycle && gap.cycles.end > residency.start_cycle;
}

std::string TextOf(const std::string& trace, const std::string& schedule, const sim::DumpGap& gap,
                   const sim::Residency& residency) {
  const bool has_end = gap.cycles.end != std::numeric_limits<uint64_t>::max();
  const std::string until = has_end ? absl::StrCat("to ", gap.cycles.end) : "on";
  return absl::StrCat(trace, ":", gap.line, ": $dumpoff from cycle ", gap.cycles.begin, " ", until,
                      ", within the residency of ", schedule, ":", residency.line,
                      ": events in these cycles are not counted");
}

void WarnOfGaps(const std::string& path, const std::vector<sim::Residency>& schedule, const sim::TraceReader& trace,
                Warnings& warnings) {
  size_t found = 0;
  for (const sim::DumpGap& gap : trace.gaps()) {
    const auto residency =
        std::ranges::find_if(schedule, [&](const sim::Residency& residency) { return IsIn(gap, residency); });
    if (residency == schedule.end()) continue;
    if (++found <= kGapWarningsMax) warnings.push_back(TextOf(trace.path(), path, gap, *residency));
  }
  if (found > kGapWarningsMax) {
    warnings.push_back(absl::StrCat(trace.path(), ": ", found - kGapWarningsMax, " more $dumpoff within residencies"));
  }
}

// Lets units send a frame of all their counters in a period that is short enough for the shortest slot.
void ShortenPeriods(const mailbox::RotationSettings& settings, PipelineConfig& config) {
  const uint64_t slot = std::min(settings.stable_slot, settings.fluctuating_slot);
  const auto period = static_cast<uint32_t>(std::clamp<uint64_t>(slot / kSlotPeriodsMin, 1, kUlcPeriodMax));
  for (CcuSpec& ccu : config.ccus) {
    for (UlcSpec& ulc : ccu.ulcs) {
      if (!ulc.is_switched()) continue;
      ulc.period = period;
      ulc.counter_bits = std::bit_width(period);
      ulc.lanes = (UnitLevelCounter::FrameBits(CounterConfig(ulc)) + period - 1) / period;
    }
  }
}

absl::Status AddRelations(const RotationFile& file, const EventNumbers& numbers, const EventNamer& name,
                          PipelineConfig& config) {
  const RelationRules rules(config);
  for (const NamedRelation& named : file.relations) {
    SIDEBAND_ASSIGN_OR_RETURN(mailbox::Relation relation, RelationOf(named, numbers));
    SIDEBAND_RETURN_IF_ERROR(AtLine(rules.Check(relation, name), file.path, named.line));
    config.relations.push_back(std::move(relation));
  }
  return absl::OkStatus();
}

// Without those that have a counter anyway.
absl::StatusOr<mailbox::EventSet> FixedOf(const RotationFile& file, const EventNumbers& numbers,
                                          const PipelineConfig& config) {
  const CounterNeeds needs(config);
  SIDEBAND_ASSIGN_OR_RETURN(const std::vector<uint16_t> events, numbers.Of(file.fixed));
  mailbox::EventSet fixed = mailbox::EmptySet(config.events);
  for (const uint16_t event : events) {
    if (needs.Has(event)) mailbox::Insert(event, fixed);
  }
  return fixed;
}

constexpr char kHypervisor[] = "vm0";

absl::StatusOr<BlockId> BlockOf(const Peek& peek, const std::vector<Tenant>& tenants) {
  if (peek.vm == kHypervisor && peek.context.empty()) return BlockId{0};
  const auto named = std::find_if(tenants.begin(), tenants.end(), [&](const Tenant& tenant) {
    return tenant.vm == peek.vm && tenant.context == peek.context;
  });
  if (named != tenants.end()) return named->binding.context.value_or(named->binding.vm);
  return absl::InvalidArgumentError(
      absl::StrCat("the schedule has no '", peek.vm, peek.context.empty() ? "" : "/", peek.context, "'"));
}

absl::StatusOr<uint16_t> EventOf(const Peek& peek, const std::vector<std::string>& events) {
  const auto event = FindEvent(peek.event, [&](const std::string& exact) {
    const auto found = std::find(events.begin(), events.end(), exact);
    return found == events.end() ? std::nullopt : std::optional(static_cast<uint16_t>(found - events.begin()));
  });
  if (event) return *event;
  return absl::InvalidArgumentError(
      absl::StrCat("the signal map has no event '", peek.event, "'", DidYouMean(peek.event, events)));
}

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

absl::StatusOr<std::vector<Peek>> ParsePeeks(const std::string& text, const std::string& path) {
  std::vector<Peek> peeks;
  SIDEBAND_RETURN_IF_ERROR(
      sim::ForEachCsvRow(text, path, kColumns, [&](const sim::CsvRow& row) { return AddPeek(row, peeks); }));
  return peeks;
}

absl::StatusOr<std::vector<Peek>> LoadPeeks(const std::string& path) {
  SIDEBAND_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  return ParsePeeks(text, path);
}

std::vector<std::string> ReplayWarnings(const std::string& schedule_path, const sim::SignalMap& map,
                                        const std::vector<sim::Residency>& schedule, const sim::TraceReader& trace) {
  Warnings warnings = trace.warnings();
  WarnOfClocks(map, trace, warnings);
  WarnOfSchedule(schedule_path, map, schedule, trace.cycles(), warnings);
  WarnOfGaps(schedule_path, schedule, trace, warnings);
  return warnings;
}

void WarnOfUnattributed(const std::string& trace_path, const std::vector<PlannedEvent>& events,
                        const std::vector<uint64_t>& counters, std::vector<std::string>& warnings) {
  for (size_t i = 0; i < events.size(); ++i) {
    if (events[i].unattributed_of.empty() || counters[i] == 0) continue;
    warnings.push_back(absl::StrCat(trace_path, ": event '", events[i].unattributed_of, "': ", counters[i],
                                    " unattributed counts, which are '", events[i].name,
                                    "' of vm0: tags name no slice, or no resident of it"));
  }
}

std::vector<ScheduledVm> ScheduledVms(const std::vector<sim::Residency>& schedule) {
  std::vector<ScheduledVm> vms;
  std::map<std::string, size_t> index;  // into vms
  std::set<std::pair<std::string, std::string>> contexts;
  for (const sim::Residency& residency : schedule) {
    if (residency.is_host()) continue;
    const auto [vm, is_new] = index.try_emplace(residency.vm, vms.size());
    if (is_new) vms.push_back({.name = residency.vm, .contexts = {}});
    if (residency.context.empty() || !contexts.emplace(residency.vm, residency.context).second) continue;
    vms[vm->second].contexts.push_back(residency.context);
  }
  return vms;
}

void NameHosts(std::vector<sim::Residency>& schedule) {
  for (sim::Residency& residency : schedule) {
    if (residency.is_host()) residency.context = absl::StrCat("slice", residency.slice);
  }
}

std::vector<Tenant> CreateHosts(const std::vector<sim::Residency>& schedule, Chip& chip) {
  std::map<uint32_t, std::string> names;  // by slice
  for (const sim::Residency& residency : schedule) {
    if (residency.is_host()) names.emplace(residency.slice, residency.context);
  }
  std::vector<Tenant> hosts;
  if (!names.empty()) chip.CreateHostBlocks(HostTime::kWhileBound);
  for (const auto& [slice, name] : names) {
    hosts.push_back({sim::kHostVm, name, {.vm = chip.host_block(static_cast<uint8_t>(slice)), .context = {}}});
  }
  return hosts;
}

std::vector<Tenant> CreateBlocks(const std::vector<ScheduledVm>& vms, MemoryBlocks& memory) {
  std::vector<Tenant> tenants;
  uint16_t vm_id = 0;
  for (const ScheduledVm& vm : vms) {
    const BlockId block = memory.Create(++vm_id, mailbox::kNoContext);
    tenants.push_back({.vm = vm.name, .binding = {.vm = block}});
    uint16_t context_id = 0;
    for (const std::string& context : vm.contexts) {
      tenants.push_back({vm.name, context, {.vm = block, .context = memory.Create(vm_id, context_id++)}});
    }
  }
  return tenants;
}

absl::StatusOr<RotationFile> LoadReplayRotation(const std::string& path) {
  SIDEBAND_ASSIGN_OR_RETURN(RotationFile file, LoadRotationFile(path, RotationUse::kReplay));
  if (file.counters) return file;
  return LineError(path, file.line, "'counters' is missing: how many, of one bit each, a slice has for its events");
}

bool HasTurns(const PipelineConfig& config) {
  return std::ranges::any_of(config.ccus,
                             [](const CcuSpec& ccu) { return std::ranges::any_of(ccu.ulcs, &UlcSpec::is_switched); });
}

absl::Status AddRotation(const RotationFile& file, std::optional<uint64_t> seed, const std::vector<std::string>& names,
                         PipelineConfig& config) {
  const EventNumbers numbers(names, file.path);
  const EventNamer name = [&names](size_t event) { return absl::StrCat("'", names[event], "'"); };
  SIDEBAND_RETURN_IF_ERROR(AddRelations(file, numbers, name, config));
  RotationSpec& spec = config.rotation.emplace();
  SIDEBAND_ASSIGN_OR_RETURN(spec.settings, SettingsOf(file, numbers, config.clock_hz));
  SIDEBAND_ASSIGN_OR_RETURN(spec.fixed, FixedOf(file, numbers, config));
  if (file.instructions) {
    SIDEBAND_ASSIGN_OR_RETURN(spec.instructions, numbers.Of(*file.instructions));
  }
  spec.dead_cycles = file.dead_cycles;
  spec.seed = seed.value_or(file.seed.value_or(0));
  ShortenPeriods(spec.settings, config);
  SIDEBAND_RETURN_IF_ERROR(AtLine(CheckRotation(config, name), file.path, file.line));
  const bool fill = spec.settings.profile == mailbox::RotationProfile::kFast;
  return AtLine(PlanCounters(config, {.events = {}, .always = {}, .fill = fill}, name).status(), file.path, file.line);
}

absl::StatusOr<Peeker> Peeker::Create(const std::vector<Peek>& peeks, const std::string& path,
                                      const std::vector<std::string>& events, const std::vector<Tenant>& tenants) {
  std::vector<Reading> readings;
  for (const Peek& peek : peeks) {
    const auto block = BlockOf(peek, tenants);
    const auto event = EventOf(peek, events);
    SIDEBAND_RETURN_IF_ERROR(AtLine(block.status(), path, peek.line));
    SIDEBAND_RETURN_IF_ERROR(AtLine(event.status(), path, peek.line));
    readings.push_back({peek.cycle, *block, *event});
  }
  return Peeker(std::move(readings));
}

void Peeker::PlayTo(uint64_t cycle, const Chip& chip, Player& player) {
  while (counts_.size() < readings_.size() && readings_[counts_.size()].cycle <= cycle) {
    const Reading& reading = readings_[counts_.size()];
    player.PlayTo(reading.cycle);
    uint64_t count = 0;
    chip.live().Add(reading.block, {&reading.event, 1}, {&count, 1});
    counts_.push_back(count);
  }
  player.PlayTo(cycle);
}

void Peeker::ReadNothing() {
  while (counts_.size() < readings_.size() && readings_[counts_.size()].cycle == 0) counts_.push_back(0);
}

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
  WarnOfPeeks(inputs.peeks, peeks, peeker.counts().size(), result.cycles, result.warnings);
  for (size_t i = 0; i < peeker.counts().size(); ++i) result.peeks.push_back({peeks[i], peeker.counts()[i]});
  return result;
}

}  // namespace sideband::mcu
