// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/describe.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "proto/base/status_macros.h"
#include "proto/mailbox/catalog.h"
#include "proto/mailbox/extension.h"
#include "proto/mailbox/snapshot.h"
#include "proto/registers/hpc_registers.h"
#include "secure_mcu/chip/chip_clocks.h"
#include "secure_mcu/chip/pipeline_config.h"
#include "secure_mcu/chip/rotation_plan.h"
#include "secure_mcu/chip/rotation_table.h"
#include "secure_mcu/chip/selections.h"
#include "secure_mcu/chip_file/unit_plan.h"
#include "secure_mcu/device/wiring.h"
#include "secure_mcu/pipeline/memory_blocks.h"

namespace sideband::mcu {
namespace {

using mailbox::Relation;
using mailbox::RotationProfile;

constexpr uint64_t kWordBits = 64;
constexpr uint64_t kManagerIdBits = std::popcount(hpc::kHpccModule | hpc::kHpccExtend);
constexpr uint64_t kBitBits = std::bit_width(hpc::kCountersPerManager - 1);
constexpr uint64_t kLookupBits = 5;  // LOOKUP_BITS

// hpc_fifo.sv: words, and two pointers.
constexpr uint64_t kFifo = hpc::kFifoWords * kWordBits + 2 * std::bit_width(hpc::kFifoWords);
// hpc_client.sv: trigger, interrupted, readerror, useren, refused, stamp, waiting; manager, bitmap, high_half; busy and
// current of each tag.
constexpr uint64_t kClient = kFifo + 7 + kManagerIdBits + kWordBits + kWordBits / 2 + 2 * hpc::kTags;

// hpc_answer_link.sv of each tag: the stages, with value, bit, stamp, last and whether they are valid.
constexpr uint64_t kAnswerLinks = hpc::kTags * hpc::kHopCycles * (kWordBits + kBitBits + 3);

// hpc_request_port.sv: the stages, with manager, bitmap, stamp, tag and whether they are valid; the slots, with all but
// the tag; and for each pair of slots which is older, both ways. The bitmap has a bit of each counter that exists.
uint64_t RequestPort(uint64_t events) {
  const uint64_t slot = kManagerIdBits + std::min<uint64_t>(events, hpc::kCountersPerManager) + 2;
  return (hpc::kHopCycles - 1) * (slot + hpc::kTags) + hpc::kTags * slot + hpc::kTags * (hpc::kTags - 1);
}

using Names = std::vector<std::string>;

std::string Whole(const Relation& relation, const Names& names) {
  if (relation.kind == Relation::Kind::kSum) return names[relation.whole];
  return absl::StrCat(relation.times == 1 ? "" : absl::StrCat(relation.times, " · "), mailbox::kResidentCyclesEvent);
}

// "loads + stores" of the whole, "resident_cycles − busy" of a member.
std::string Formula(const DerivedEvent& derived, const Relation& relation, const Names& names) {
  Names others;
  for (const uint16_t member : relation.members) {
    if (member != derived.event) others.push_back(names[member]);
  }
  if (relation.kind == Relation::Kind::kSum && relation.whole == derived.event) return absl::StrJoin(others, " + ");
  others.insert(others.begin(), Whole(relation, names));
  return absl::StrJoin(others, " − ");
}

std::set<uint16_t> EventsOf(const SwitchedKind& kind) {
  std::set<uint16_t> events;
  for (const EventShare& share : kind.sources) events.insert(share.event);
  return events;
}

TurningUnit DescribeUnit(const SwitchedKind& kind, const CounterPlan& plan, const Names& names) {
  const std::set<uint16_t> events = EventsOf(kind);
  TurningUnit unit{.name = kind.name, .counters = kind.counters, .events = events.size(), .fixed = {}, .sets = {}};
  for (const uint16_t event : events) {
    if (mailbox::Includes(plan.fixed, event)) unit.fixed.push_back(names[event]);
  }
  for (const mailbox::EventSet& set : plan.sets) {
    Names& members = unit.sets.emplace_back();
    for (const uint16_t event : events) {
      if (mailbox::Includes(set, event) && !mailbox::Includes(plan.fixed, event)) members.push_back(names[event]);
    }
  }
  return unit;
}

size_t Turning(const CounterNeeds& needs, size_t events) {
  size_t turning = 0;
  for (size_t event = 0; event < events; ++event) turning += needs.Has(event) ? 1 : 0;
  return turning;
}

bool TurnsInDevice(const PipelineConfig& config, const CounterNeeds& needs) {
  const std::vector<bool> of_device = DeviceEvents(config);
  for (size_t event = 0; event < of_device.size(); ++event) {
    if (of_device[event] && needs.Has(event)) return true;
  }
  return false;
}

// Without instructions no period is known to be stable.
uint64_t StableSlot(const RotationSpec& rotation) {
  return rotation.instructions ? rotation.settings.stable_slot : rotation.settings.fluctuating_slot;
}

constexpr uint64_t kPrescalerBits = 6;
constexpr uint64_t kBanks = 2;
constexpr uint64_t kBlocksOfACommit = 2;  // the VM's block and the context's

uint64_t FrameBits(const UlcSpec& ulc) { return UnitLevelCounter::FrameBits(CounterConfig(ulc)); }

uint64_t Records(const CcuSpec& ccu) { return (CcuCounters(ccu) + kRecordCounters - 1) / kRecordCounters; }

// A flat design has no counters for masked wires.
uint64_t Wires(const CcuSpec& ccu) {
  uint64_t wires = 0;
  for (const UlcSpec& ulc : ccu.ulcs) {
    for (const CounterInput& input : ulc.inputs) wires += input.masked ? 0 : input.wires();
  }
  return wires;
}

// Events per second; 0 if the period is 0.
double Rate(const PipelineConfig& config, uint64_t period) {
  return period == 0 ? 0 : static_cast<double>(config.clock_hz) / static_cast<double>(period);
}

double SwitchesOf(const CcuSpec& ccu, std::span<const double> switches) {
  return ccu.channel == kDeviceChannel ? 0 : switches[ccu.channel];
}

uint64_t Rounded(double bits) { return static_cast<uint64_t>(std::llround(bits)); }

double FrameTraffic(const PipelineConfig& config) {
  double bits = 0;
  for (const CcuSpec& ccu : config.ccus) {
    for (const UlcSpec& ulc : ccu.ulcs) bits += static_cast<double>(FrameBits(ulc)) * Rate(config, ulc.period);
  }
  return bits;
}

double TriggerTraffic(const PipelineConfig& config) {
  double records = 0;
  for (const CcuSpec& ccu : config.ccus) records += static_cast<double>(Records(ccu));
  return records * static_cast<double>(RecordBits(config)) * Rate(config, config.trigger_period);
}

// Per switch, each collection unit of the slice sends its records and an acknowledgement, and the slice's channel
// commits.
double SwitchTraffic(const PipelineConfig& config, std::span<const double> switches) {
  double bits = 0;
  for (const CcuSpec& ccu : config.ccus) {
    bits += static_cast<double>((Records(ccu) + 1) * RecordBits(config)) * SwitchesOf(ccu, switches);
  }
  for (const double rate : switches)
    bits += static_cast<double>(kBlocksOfACommit * config.events * kCounterBits) * rate;
  return bits;
}

double CommitTraffic(const PipelineConfig& config) {
  const double block_bits = static_cast<double>(uint64_t{config.events} * kCounterBits);
  return block_bits * (kBlocksOfACommit * config.slices * Rate(config, config.commit_period) +
                       Rate(config, config.hypervisor_commit_period) + Rate(config, config.out_of_band_commit_period));
}

// --- Folding --------------------------------------------------------------------------------------------------------

// The name without its number: "sm." of "sm.12".
absl::string_view Stem(absl::string_view name) {
  while (!name.empty() && absl::ascii_isdigit(static_cast<unsigned char>(name.back()))) name.remove_suffix(1);
  return name;
}

// Appends `item`, or adds it to the last group if it has the same stem and the same content.
template <typename T>
void Fold(T item, std::vector<T>& groups) {
  if (!groups.empty() && Stem(groups.back().names.last) == Stem(item.names.first)) {
    Siblings& names = groups.back().names;
    // The comparison must see the content of the groups, not the size of the group so far.
    const Siblings so_far = std::exchange(names, item.names);
    const bool alike = groups.back() == item;
    names = so_far;
    if (alike) {
      names.last = item.names.first;
      ++names.count;
      return;
    }
  }
  groups.push_back(std::move(item));
}

UlcGroup DescribeUlc(const UlcSpec& ulc) {
  UlcGroup group{.names = {ulc.name, ulc.name},
                 .counters = UlcCounters(ulc),
                 .sources = ulc.inputs.size(),
                 .prescaled = UlcPrescaled(ulc),
                 .counter_bits = ulc.counter_bits,
                 .period = ulc.period,
                 .lanes = ulc.lanes,
                 .serial_cycles = UnitLevelCounter::SerialCycles(CounterConfig(ulc))};
  for (const CounterInput& input : ulc.inputs) group.masked += input.masked ? 1 : 0;
  return group;
}

CcuGroup DescribeCcu(const CcuSpec& ccu) {
  // The channel is the parent in the tree, so its name is omitted.
  const std::string name = ccu.name.substr(ccu.name.find('.') + 1);
  CcuGroup group{.names = {name, name}, .counters = CcuCounters(ccu), .threshold = ccu.threshold};
  for (const UlcSpec& ulc : ccu.ulcs) Fold(DescribeUlc(ulc), group.ulcs);
  return group;
}

std::vector<SliceGroup> DescribeSlices(const PipelineConfig& config) {
  std::vector<SliceGroup> slices;
  SliceGroup device{.names = {"device", "device"}};
  for (uint32_t slice = 0; slice < config.slices; ++slice) {
    const std::string name = absl::StrCat("slice", slice);
    SliceGroup group{.names = {name, name}};
    for (const CcuSpec& ccu : config.ccus) {
      if (ccu.channel == slice) Fold(DescribeCcu(ccu), group.ccus);
    }
    Fold(std::move(group), slices);
  }
  for (const CcuSpec& ccu : config.ccus) {
    if (ccu.channel == kDeviceChannel) Fold(DescribeCcu(ccu), device.ccus);
  }
  if (!device.ccus.empty()) slices.push_back(std::move(device));
  return slices;
}

std::vector<ReductionGroup> DescribeReduction(const PipelineConfig& config) {
  std::vector<ReductionGroup> groups = {{"slices", config.slices, config.commit_period},
                                        {"hypervisor", 1, config.hypervisor_commit_period}};
  if (config.out_of_band_commit_period != 0) groups.push_back({"out of band", 1, config.out_of_band_commit_period});
  return groups;
}

// --- The chip file --------------------------------------------------------------------------------------------------

struct CompleteChip {
  PipelineConfig config;
  std::vector<std::string> events;
  std::string warning;
};

// The file's pipeline with its units and its events.
absl::StatusOr<CompleteChip> Complete(const ChipFile& file) {
  CompleteChip chip{file.pipeline, {}, {}};
  if (file.waveform) {
    SIDEBAND_ASSIGN_OR_RETURN(Wiring wiring, MakeWaveformWiring(file));
    chip.events = wiring.events.names();
    chip.config.ccus = std::move(wiring.ccus);
    chip.warning = std::move(wiring.warning);
  } else {
    SIDEBAND_ASSIGN_OR_RETURN(UnitPlan plan, PlanUnits(file));
    chip.events = plan.events.names();
    chip.config.ccus = std::move(plan.ccus);
  }
  chip.config.events = static_cast<uint32_t>(chip.events.size());
  SIDEBAND_RETURN_IF_ERROR(Validate(chip.config));
  return chip;
}

size_t Contexts(const ChipFile& file) {
  size_t contexts = 0;
  for (const VmFileSpec& vm : file.vms) contexts += vm.contexts.size();
  return contexts;
}

// How often per second a context leaves each slice. A single context without a gap never leaves. The switches of a
// waveform's schedule are not counted.
std::vector<double> SwitchesPerSecond(const ChipFile& file) {
  std::vector<size_t> contexts(file.pipeline.slices);
  for (const VmFileSpec& vm : file.vms) {
    for (const ContextFileSpec& context : vm.contexts) ++contexts[context.slice];
  }
  std::vector<double> switches(file.pipeline.slices);
  if (file.waveform) return switches;
  const bool alone_leaves = file.gap > absl::ZeroDuration();
  for (size_t slice = 0; slice < switches.size(); ++slice) {
    if (contexts[slice] > 1 || (contexts[slice] == 1 && alone_leaves)) {
      switches[slice] = 1 / absl::ToDoubleSeconds(file.quantum + file.gap);
    }
  }
  return switches;
}

// Until a caller asks for more plans.
mailbox::RotationShape ShapeOf(const RotationDescription& rotation, const PipelineConfig& config) {
  if (rotation.plans == 0) return {};
  return {.events = rotation.events,
          .plans = rotation.plans,
          .sets = rotation.plans * rotation.sets,
          .columns = 1 + config.gate_groups.size()};
}

std::vector<DomainInfo> DescribeDomains(const PipelineConfig& config) {
  return config.domains.empty() ? std::vector<DomainInfo>() : ClockNetwork(config).domains();
}

}  // namespace

ReadPathRegisters CountReadPath(uint64_t slices, uint64_t events) {
  if (events == 0) return {};
  const uint64_t clients = slices + 1, modules = 2 * slices + 1;
  const uint64_t extends = (events + hpc::kCountersPerManager - 1) / hpc::kCountersPerManager;
  // hpc_manager.sv: the latched value of each counter and whether it remains to be sent; to whom, and the countdown.
  const uint64_t managers = modules * (events * (kWordBits + 1) + extends * (clients * hpc::kTags + kLookupBits));
  // rotating_priority.sv of each manager has a bit of each client.
  const uint64_t interconnect = clients * (RequestPort(events) + kAnswerLinks) + modules * extends * clients;
  return {.clients = clients * kClient, .interconnect = interconnect, .managers = managers};
}

absl::StatusOr<RotationDescription> DescribeRotation(const PipelineConfig& config, const Names& names) {
  if (!config.rotation) return RotationDescription();
  const mailbox::RotationSettings& settings = config.rotation->settings;
  const bool is_fast = settings.profile == RotationProfile::kFast;
  SIDEBAND_ASSIGN_OR_RETURN(const CounterPlan plan, PlanCounters(config, {.fill = is_fast}));
  const CounterNeeds needs(config);
  RotationDescription rotation{.profile = is_fast ? "fast" : "two-set",
                               .events = Turning(needs, config.events),
                               .sets = plan.sets.size(),
                               .plans = TurnsInDevice(config, needs) ? size_t{2} : size_t{1},
                               .passes = Passes(plan.sets.size(), settings.sets_per_pass),
                               .sets_per_pass = settings.sets_per_pass,
                               .stable_slot = StableSlot(*config.rotation),
                               .fluctuating_slot = settings.fluctuating_slot,
                               .derived = {},
                               .units = {}};
  for (const DerivedEvent& derived : plan.derived) {
    rotation.derived.push_back({names[derived.event], Formula(derived, config.relations[derived.relation], names)});
  }
  for (const SwitchedKind& kind : needs.kinds()) rotation.units.push_back(DescribeUnit(kind, plan, names));
  return rotation;
}

size_t UlcCounters(const UlcSpec& ulc) { return ulc.is_switched() ? ulc.counters : ulc.inputs.size(); }

size_t UlcPrescaled(const UlcSpec& ulc) {
  const auto prescaled = std::ranges::count_if(ulc.inputs, [](const CounterInput& input) { return input.digits > 0; });
  return std::min(static_cast<size_t>(prescaled), UlcCounters(ulc));
}

uint64_t RecordBits(const PipelineConfig& config) {
  return config.selections.empty() && !config.rotation ? kRecordBits : kRecordBits + kSelectBits;
}

size_t ReductionChannels(const PipelineConfig& config) {
  return config.slices + 1 + (config.out_of_band_commit_period == 0 ? 0 : 1);
}

Registers CountRegisters(const PipelineConfig& config) {
  Registers registers;
  for (const CcuSpec& ccu : config.ccus) {
    registers.ccu_banks += kBanks * kCcuCounterBits * CcuCounters(ccu);
    for (const UlcSpec& ulc : ccu.ulcs) {
      registers.ulc_counters += UlcCounters(ulc) * ulc.counter_bits;
      registers.prescalers += UlcPrescaled(ulc) * kPrescalerBits;
      registers.serialisers += FrameBits(ulc);
    }
  }
  registers.buffer = config.buffer_depth * RecordBits(config);
  registers.reduction_channels = ReductionChannels(config) * config.events * kCounterBits;
  return registers;
}

GateRegisters CountGates(const PipelineConfig& config) {
  constexpr uint64_t kIdentifierBits = 16, kGroupBits = kIdentifierBits + 3;
  constexpr uint64_t kHostBits = kGateValueBits + 1 + kGateIdsMax * kIdentifierBits;
  if (config.gate_groups.empty()) return {};
  return {.values = config.slices * 2 * kGateValueBits,
          .groups = config.slices * config.gate_groups.size() * kGroupBits,
          .hosts = config.slices * kHostBits};
}

// Per counter, the number of one of the kind's sources.
SelectRegisters CountSelects(const PipelineConfig& config) {
  SelectRegisters selects;
  for (const CcuSpec& ccu : config.ccus) {
    for (const SwitchedKind& kind : SwitchedKinds(ccu)) {
      selects.bits += uint64_t{kind.counters} * std::bit_width(kind.sources.size() - 1);
      ++selects.registers;
    }
  }
  return selects;
}

Traffic CountTraffic(const PipelineConfig& config, std::span<const double> switches) {
  return {.ulc_to_ccu = Rounded(FrameTraffic(config)),
          .ccu_to_buffer = Rounded(TriggerTraffic(config)),
          .switches = Rounded(SwitchTraffic(config, switches)),
          .rc_to_memory = Rounded(CommitTraffic(config))};
}

FlatDesign CountFlat(const PipelineConfig& config, std::span<const double> switches) {
  FlatDesign flat;
  double switched = 0;
  for (const CcuSpec& ccu : config.ccus) {
    flat.wires += Wires(ccu);
    // Saved for the previous context and restored for the next.
    switched += static_cast<double>(2 * Wires(ccu) * kCounterBits) * SwitchesOf(ccu, switches);
  }
  flat.registers = flat.wires * kCounterBits;
  flat.polls = Rounded(static_cast<double>(flat.registers) * Rate(config, config.trigger_period));
  flat.switches = Rounded(switched);
  return flat;
}

absl::StatusOr<Description> Describe(const ChipFile& file) {
  SIDEBAND_ASSIGN_OR_RETURN(const CompleteChip chip, Complete(file));
  const PipelineConfig& config = chip.config;
  SIDEBAND_ASSIGN_OR_RETURN(RotationDescription rotation, DescribeRotation(config, chip.events));
  const std::vector<double> switches = SwitchesPerSecond(file);
  const size_t contexts = Contexts(file);
  const size_t hosts = file.has_host_blocks() ? file.pipeline.slices : 0;
  const size_t blocks = 1 + file.vms.size() + contexts + hosts;
  const size_t longest = mailbox::SnapshotStreamBytesMax(blocks, config.events, ShapeOf(rotation, config));
  return Description{.path = file.path,
                     .warning = chip.warning,
                     .serial = file.serial,
                     .clock_hz = config.clock_hz,
                     .events = config.events,
                     .vms = file.vms.size(),
                     .contexts = contexts,
                     .trigger_period = config.trigger_period,
                     .buffer_depth = config.buffer_depth,
                     .blocks = blocks,
                     .block_bytes = mailbox::kBlockHeaderBytes + sizeof(uint64_t) * config.events,
                     .page_table_bytes = kPageEntryBytes * blocks,
                     .record_bits = RecordBits(config),
                     .slices = DescribeSlices(config),
                     .reduction_channels = DescribeReduction(config),
                     .registers = CountRegisters(config),
                     .read_path = CountReadPath(config.slices, config.events),
                     .gates = CountGates(config),
                     .selects = CountSelects(config),
                     .rotation = std::move(rotation),
                     .domains = DescribeDomains(config),
                     .traffic = CountTraffic(config, switches),
                     .flat = CountFlat(config, switches),
                     .snapshot = mailbox::CostOfSnapshot(longest, mailbox::kWindowBytes)};
}

}  // namespace sideband::mcu
