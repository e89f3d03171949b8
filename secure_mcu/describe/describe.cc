// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/describe/describe.h"

#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "proto/base/status_macros.h"
#include "proto/mailbox/extension.h"
#include "proto/mailbox/snapshot.h"
#include "proto/mailbox/snapshot_cost.h"
#include "secure_mcu/chip/clock_network.h"
#include "secure_mcu/chip/pipeline_config.h"
#include "secure_mcu/chip/selectable_events.h"
#include "secure_mcu/chip_file/unit_plan.h"
#include "secure_mcu/describe/read_path.h"
#include "secure_mcu/describe/rotation.h"
#include "secure_mcu/describe/totals.h"
#include "secure_mcu/device/wiring.h"
#include "secure_mcu/pipeline/page_tables.h"

namespace sideband::mcu {
namespace {

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
};

// The file's pipeline with its units and its events.
absl::StatusOr<CompleteChip> Complete(const ChipFile& file) {
  CompleteChip chip{file.pipeline, {}};
  if (file.waveform) {
    SIDEBAND_ASSIGN_OR_RETURN(Wiring wiring, MakeWaveformWiring(file));
    chip.events = wiring.events.names();
    chip.config.ccus = std::move(wiring.ccus);
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
