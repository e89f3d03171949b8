// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/device/live_device.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/errors.h"
#include "proto/base/status_macros.h"
#include "proto/base/text.h"
#include "secure_mcu/chip_file/chip_file.h"
#include "secure_mcu/chip_file/event_table.h"
#include "secure_mcu/device/wiring.h"

namespace sideband::mcu {
namespace {

// The largest gain of an event per cycle by one input.
double GainOf(const CounterInput& input) {
  if (input.masked) return 0;
  if (input.digits > 0) return (std::ldexp(1.0, input.digits) - 1) / kPrescale;
  return std::ldexp(1.0, input.meaning.shift);
}

// After a millisecond all of a trigger's packets have arrived that come without delay.
constexpr uint64_t kSettledPerSecond = 1000;

absl::Status CheckMemoryEvents(const ChipFile& file, const EventTable& events) {
  if (!file.board.memory) return absl::OkStatus();
  for (const std::string& name : file.board.memory->events) {
    if (events.Find(name)) continue;
    return LineError(file.path, file.board_line,
                     absl::StrCat("board: memory: unknown event '", name, "'", DidYouMean(name, events.names())));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<double>> EnergiesInOrder(const ChipFile& file, const EventTable& events) {
  std::vector<double> energies(events.events().size());
  for (const auto& [name, pj, line] : file.event_pj) {
    const auto event = events.Find(name);
    if (!event) {
      return LineError(file.path, line,
                       absl::StrCat("power: unknown event '", name, "'", DidYouMean(name, events.names())));
    }
    energies[*event] = pj;
  }
  return energies;
}

// The slice of a VM whose contexts share a slice; kAnySlice for every other VM.
uint8_t HomeSlice(const VmFileSpec& vm) {
  if (vm.contexts.empty()) return mailbox::kAnySlice;
  const uint8_t slice = vm.contexts[0].slice;
  const bool all_there = std::all_of(vm.contexts.begin(), vm.contexts.end(),
                                     [&](const ContextFileSpec& context) { return context.slice == slice; });
  return all_there ? slice : mailbox::kAnySlice;
}

std::vector<uint32_t> ShownMib(const ChipFile& file) {
  std::vector<uint32_t> shown;
  for (const VmFileSpec& vm : file.vms) {
    shown.push_back(0);
    // The memory of confidential and private VMs is not reported.
    const bool is_shown = !vm.confidential && !vm.counting.is_private;
    for (const ContextFileSpec& context : vm.contexts) shown.push_back(is_shown ? context.memory_mib : 0);
  }
  return shown;
}

std::set<uint16_t> ConfidentialVms(const mailbox::Catalog& catalog) {
  std::set<uint16_t> ids;
  for (const mailbox::VmInfo& vm : catalog.vms) {
    if (vm.confidential) ids.insert(vm.id);
  }
  return ids;
}

std::vector<size_t> VmTenants(const ChipFile& file) {
  std::vector<size_t> tenants;
  size_t next = 0;
  for (const VmFileSpec& vm : file.vms) {
    tenants.push_back(next);
    next += 1 + vm.contexts.size();
  }
  return tenants;
}

bool HasPrivateVmsOf(const ChipFile& file) {
  return file.private_vms &&
         std::ranges::any_of(file.vms, [](const VmFileSpec& vm) { return vm.confidential || vm.counting.is_private; });
}

mailbox::PipelineStatistics Statistics(const ChipStats& stats) {
  return {.stall_cycles = stats.stall_cycles,
          .trigger_overruns = stats.trigger_overruns,
          .commit_wait_cycles = stats.commit_wait_cycles,
          .mmu_faults = stats.mmu_faults,
          .switches = stats.switches,
          .switch_cycles = stats.switch_cycles,
          .rotation_inconsistencies = stats.rotation_inconsistencies};
}

std::optional<WorkloadClock> WorkloadClockOf(const ChipFile& file) {
  if (file.board.throttled_domain == 0) return std::nullopt;
  const sim::DomainClockSpec& clock = file.pipeline.domains[file.board.throttled_domain - 1].clock;
  const std::set<uint64_t> levels = {clock.levels.begin(), clock.levels.end()};
  WorkloadClock workload{.levels = {levels.begin(), levels.end()}, .hz = clock.hz};
  if (workload.levels.empty() || workload.levels.back() < clock.hz) workload.levels.push_back(clock.hz);
  return workload;
}

std::vector<sim::WireSource*> Raw(const std::vector<std::shared_ptr<sim::WireSource>>& sources) {
  std::vector<sim::WireSource*> raw;
  for (const auto& source : sources) raw.push_back(source.get());
  return raw;
}

}  // namespace

ContextLives::ContextLives(const ChipFile& file) {
  for (const VmFileSpec& vm : file.vms) {
    lives_.emplace_back();  // the tenant of the VM without a context
    for (const ContextFileSpec& context : vm.contexts) {
      Life& life = lives_.emplace_back();
      life.restarts = context.restart;
      if (!context.lifetime) continue;
      life.lifetime = std::max<uint64_t>(1, CyclesOf(*context.lifetime, file.pipeline.clock_hz));
      life.ends_at = life.lifetime;
    }
  }
}

std::optional<ContextLives::EndOfLife> ContextLives::NextEnd() const {
  std::optional<EndOfLife> next;
  for (size_t tenant = 0; tenant < lives_.size(); ++tenant) {
    const auto& ends_at = lives_[tenant].ends_at;
    if (ends_at && (!next || *ends_at < next->cycle)) next = EndOfLife{*ends_at, tenant};
  }
  return next;
}

EventGains::EventGains(const PipelineConfig& config)
    : slices_(config.slices),
      gains_(config.events * (slices_ + 1)),
      groups_(config.events, mailbox::kNoGateGroup),
      selectable_(config),
      has_own_clock_(config.events) {
  for (const CcuSpec& ccu : config.ccus) {
    const size_t channel = ccu.channel == kDeviceChannel ? slices_ : ccu.channel;
    for (const UlcSpec& ulc : ccu.ulcs) {
      for (const CounterInput& input : ulc.inputs) {
        gains_[input.meaning.event * (slices_ + 1) + channel] += GainOf(input);
        if (ulc.domain != 0) has_own_clock_[input.meaning.event] = true;
        if (input.group) groups_[input.meaning.event] = *input.group;
      }
    }
  }
}

double EventGains::PerCycle(uint16_t event, SliceSet slices) const {
  const double* const gains = &gains_[event * (slices_ + 1)];
  double sum = slices == kEverySlice ? gains[slices_] : 0;
  for (size_t slice = 0; slice < slices_; ++slice) {
    if ((slices >> slice & 1) != 0) sum += gains[slice];
  }
  return sum;
}

mailbox::EventDetails EventGains::DetailsOf(uint16_t event, mailbox::EventScope scope) const {
  const double* const gains = &gains_[event * (slices_ + 1)];
  const auto rate = [&](double gain) {
    // A gain beyond the format's limit, of wide numbers on many units, is reported as unknown.
    const double scaled = std::ldexp(gain, 32);
    const uint64_t gain_q32 = scaled > static_cast<double>(mailbox::kRateQ32Max) ? 0 : static_cast<uint64_t>(scaled);
    return mailbox::SliceRate{.capacity_q32 = has_own_clock_[event] ? 0 : gain_q32, .gain_q32 = gain_q32};
  };
  mailbox::EventDetails details{.gate_group = groups_[event], .selectable = selectable_.Has(event)};
  // An event without wires, or a masked one, has no rate.
  if (std::all_of(gains, gains + slices_ + 1, [](double gain) { return gain == 0; })) return details;
  if (scope == mailbox::EventScope::kDevice) return {.slices = {rate(gains[slices_])}};
  const bool same = std::all_of(gains, gains + slices_, [&](double gain) { return gain == gains[0]; });
  for (size_t slice = 0; slice < (same ? 1 : slices_); ++slice) details.slices.push_back(rate(gains[slice]));
  return details;
}

absl::StatusOr<std::unique_ptr<LiveDevice>> LiveDevice::Create(const ChipFile& file, uint64_t boot_id,
                                                               Elapsed elapsed) {
  auto wiring = MakeWiring(file);
  if (!wiring.ok()) return wiring.status();
  PipelineConfig config = file.pipeline;
  config.events = static_cast<uint32_t>(wiring->events.events().size());
  config.ccus = wiring->ccus;
  auto chip = Chip::Create(config);
  if (!chip.ok()) return AtLine(chip.status(), file.path, 0);
  SIDEBAND_ASSIGN_OR_RETURN(auto energies, EnergiesInOrder(file, wiring->events));
  SIDEBAND_RETURN_IF_ERROR(CheckMemoryEvents(file, wiring->events));
  std::unique_ptr<LiveDevice> device(
      new LiveDevice(file, boot_id, std::move(elapsed), *std::move(wiring), config, *std::move(chip)));
  device->power_.event_pj = std::move(energies);
  return device;
}

LiveDevice::LiveDevice(const ChipFile& file, uint64_t boot_id, Elapsed elapsed, Wiring wiring,
                       const PipelineConfig& config, std::unique_ptr<Chip> chip)
    : identity_{.uuid = file.uuid,
                .serial = file.serial,
                .part_number = file.part_number,
                .name = file.board.name,
                .boot_id = boot_id,
                .memory_mib = file.memory ? std::optional(file.memory->total_mib) : std::nullopt},
      elapsed_(std::move(elapsed)),
      clock_hz_(file.pipeline.clock_hz),
      has_out_of_band_(file.pipeline.out_of_band_commit_period > 0),
      has_private_vms_(HasPrivateVmsOf(file)),
      wiring_(std::move(wiring)),
      gains_(config),
      memory_(file.memory),
      shown_mib_(ShownMib(file)),
      vm_tenants_(VmTenants(file)),
      chip_(std::move(chip)),
      programs_(wiring_.programs, *chip_),
      whole_catalog_(MakeCatalog(file)),
      catalog_(whole_catalog_),
      lives_(file),
      timeline_(wiring_.make_timeline(CreateBlocks(file))),
      controls_(*chip_, timeline_->tenants(), ConfidentialVms(whole_catalog_)),
      rotation_(*chip_, timeline_->tenants()),
      clocks_(*chip_),
      throttled_domain_(file.board.throttled_domain),
      workload_clock_(WorkloadClockOf(file)),
      fits_(whole_catalog_.clock_domains, clock_hz_),
      power_(file.power),
      player_(std::make_unique<Player>(*chip_, *timeline_, Raw(wiring_.slices), wiring_.host)) {
  for (uint8_t slice = 0; slice < wiring_.slices.size(); ++slice) chip_->Attach(slice, *wiring_.slices[slice]);
  chip_->Attach(kDeviceChannel, *wiring_.device);
  if (file.has_host_blocks()) chip_->CreateHostBlocks();
  for (size_t event = 0; event < catalog_.events.size(); ++event) {
    catalog_.events[event].details.counting = rotation_.CountingOf(event);
  }
  if (!rotation_.empty()) catalog_.relations = config.relations;
  FollowPlans();
}

mailbox::Catalog LiveDevice::MakeCatalog(const ChipFile& file) const {
  mailbox::Catalog catalog{.device = file.uuid, .reference_clock_hz = clock_hz_, .events = wiring_.events.events()};
  for (uint32_t slice = 0; slice < file.pipeline.slices; ++slice) {
    catalog.slices.push_back({static_cast<uint8_t>(slice), absl::StrCat("slice", slice)});
    if (file.has_host_blocks()) catalog.host_blocks.push_back({static_cast<uint8_t>(slice), /*generation=*/1});
  }
  for (size_t event = 0; event < catalog.events.size(); ++event) {
    mailbox::EventInfo& info = catalog.events[event];
    info.details = gains_.DetailsOf(static_cast<uint16_t>(event), info.scope);
  }
  AddClockDomains(catalog);
  for (const GateGroupFileSpec& group : file.gate_groups) {
    // Version 1 has no running cycles, and does not report groups.
    const auto running = wiring_.events.Find(RunningCyclesEvent(group.name));
    if (running) catalog.gate_groups.push_back({group.name, *running});
  }
  for (const SelectionFileSpec& selection : file.selections) catalog.selections.push_back({selection.name});
  uint16_t vm_id = 0;
  for (const VmFileSpec& vm : file.vms) {
    // Id 0 is the hypervisor's.
    ++vm_id;
    catalog.vms.push_back(
        {vm_id, vm.uuid, vm.name, vm.confidential, HomeSlice(vm), /*generation=*/1, vm.counting.is_private});
    catalog.has_had_confidential_vm |= vm.confidential;
    uint16_t context_id = 0;
    for (const ContextFileSpec& context : vm.contexts) {
      catalog.contexts.push_back({vm_id, context_id++, context.name, context.slice, /*generation=*/1});
    }
  }
  // None comes or goes, so that those of the catalogue are all that there have been.
  catalog.confidential_vms_were_private =
      catalog.has_had_confidential_vm &&
      std::ranges::all_of(catalog.vms, [](const mailbox::VmInfo& vm) { return !vm.confidential || vm.is_private; });
  return catalog;
}

void LiveDevice::AddClockDomains(mailbox::Catalog& catalog) const {
  const ClockControls clocks(*chip_);
  catalog.clock_domains = clocks.Domains();
  for (const CcuSpec& ccu : wiring_.ccus) {
    for (const UlcSpec& ulc : ccu.ulcs) {
      for (const CounterInput& input : ulc.inputs) {
        uint8_t& domain = catalog.events[input.meaning.event].details.clock_domain;
        if (domain == 0) domain = clocks.DomainOf(ccu.channel, ulc.domain);
      }
    }
  }
}

std::vector<Tenant> LiveDevice::CreateBlocks(const ChipFile& file) {
  std::vector<Tenant> tenants;
  uint16_t vm_id = 0;
  for (const VmFileSpec& vm : file.vms) {
    const BlockId block = chip_->memory().Create(++vm_id, mailbox::kNoContext);
    chip_->guests().vm_control(block) = vm.counting;
    if (chip_->has_rotation()) {
      chip_->rotation().NameVm(block, vm.uuid);
      chip_->rotation().SetConfidential(block, vm.confidential);
    }
    tenants.push_back({.vm = vm.name, .binding = {.vm = block}});
    uint16_t context_id = 0;
    for (const ContextFileSpec& context : vm.contexts) {
      tenants.push_back({vm.name, context.name, {.vm = block, .context = chip_->memory().Create(vm_id, context_id++)}});
    }
  }
  return tenants;
}

void LiveDevice::Connect(TriggerLine& line, const TriggerLineFileSpec& spec, absl::Duration powered_on) {
  constexpr uint64_t kPicosecondsPerNanosecond = 1000;
  const auto powered_on_ns = static_cast<uint64_t>(absl::ToInt64Nanoseconds(powered_on));
  line_ = std::make_unique<LineEnd>(
      LineEnd::Options{.line = line,
                       .powered_on = TriggerLine::Picoseconds(powered_on_ns) * kPicosecondsPerNanosecond,
                       .clock_hz = clock_hz_,
                       .wire_min_ns = spec.wire_min_ns,
                       .wire_max_ns = spec.wire_max_ns},
      *chip_, [this](uint64_t cycle) { AdvanceTo(cycle); });
}

void LiveDevice::CatchUp() {
  AdvanceTo(CyclesOf(elapsed_(), clock_hz_));
  FollowClocks();
}

void LiveDevice::SetWorkloadClock(uint64_t hz) {
  if (hz == workload_clock_->hz) return;
  CatchUp();
  wiring_.step_clock(throttled_domain_, chip_->StepClock(throttled_domain_, hz), hz);
  workload_clock_->hz = hz;
}

// A trigger's packets arrive within microseconds, but for those of clocks that stand still: what these then miss their
// next packets tell.
void LiveDevice::FollowClocks() {
  if (catalog_.clock_domains.empty()) return;
  const uint64_t settled = clock_hz_ / kSettledPerSecond;
  for (const mailbox::TimelineEntry& entry : clocks_.TimelineFrom(next_packets_).entries) {
    if (entry.reference_cycle + settled > chip_->now()) break;
    fits_.Add(entry);
    next_packets_ = entry.trigger_id + 1;
  }
}

void LiveDevice::AdvanceTo(uint64_t cycle) {
  programs_.AdvanceTo(cycle, [this](uint64_t until) { PlayTo(until); });
}

// Each context ends at its own cycle, so the chip is advanced to the ends in order.
void LiveDevice::PlayTo(uint64_t cycle) {
  for (auto end = lives_.NextEnd(); end && end->cycle <= cycle; end = lives_.NextEnd()) {
    EndContext(end->tenant, end->cycle);
  }
  player_->PlayTo(cycle);
}

void LiveDevice::EndContext(size_t tenant, uint64_t cycle) {
  player_->PlayTo(cycle);
  timeline_->Remove(tenant, cycle);
  player_->PlayTo(cycle);  // the switch at `cycle`: the context leaves its slice
  chip_->memory().Retire(*timeline_->tenants()[tenant].binding.context);
  lives_.End(tenant);
}

mailbox::Snapshot LiveDevice::TakeSnapshot(bool leaves_packets) {
  CatchUp();
  mailbox::Snapshot snapshot{.trigger_id = chip_->Latch(leaves_packets),
                             .reference_time_ns = chip_->ReferenceTimeNs(),
                             .counters_per_block = static_cast<uint32_t>(catalog_.events.size()),
                             .config_revision = controls_.revision(),
                             .statistics = Statistics(chip_->stats()),
                             .blocks = {},
                             .counters = {}};
  chip_->memory().CopyTo(snapshot.blocks, snapshot.counters);
  rotation_.AddNumbers(snapshot);
  clocks_.AddNumbers(snapshot);
  if (line_) snapshot.line_pulse = line_->newest();
  return snapshot;
}

mailbox::Snapshot LiveDevice::Latch() {
  mailbox::Snapshot snapshot = TakeSnapshot(/*leaves_packets=*/true);
  // Only contexts that were retired in this snapshot may be succeeded by its acknowledgement.
  retired_.clear();
  for (size_t tenant = 0; tenant < timeline_->tenants().size(); ++tenant) {
    const auto& context = timeline_->tenants()[tenant].binding.context;
    if (context && chip_->memory().retired(*context) && !chip_->memory().released(*context)) retired_.push_back(tenant);
  }
  return snapshot;
}

void LiveDevice::Acknowledge() {
  if (retired_.empty()) return;
  for (const size_t tenant : retired_) Succeed(tenant);
  retired_.clear();
  FollowBlocks();
}

void LiveDevice::Succeed(size_t tenant) {
  MemoryBlocks& memory = chip_->memory();
  const BlockId block = *timeline_->tenants()[tenant].binding.context;
  chip_->ForgetBookmarks(block);
  if (!lives_.restarts(tenant)) return memory.Release(block);
  memory.Renew(block);
  chip_->guests().context_control(block) = {};
  lives_.Begin(tenant, chip_->now());
  timeline_->Add(tenant, chip_->now());
}

absl::Status LiveDevice::ApplyRotation(const mailbox::RotationRequest& request) {
  CatchUp();
  SIDEBAND_RETURN_IF_ERROR(rotation_.Apply(request));
  FollowPlans();
  return absl::OkStatus();
}

absl::Status LiveDevice::LearnRotation(uint16_t vm, uint16_t context) {
  CatchUp();
  return rotation_.Learn(vm, context);
}

absl::Status LiveDevice::SetPass(uint16_t vm, uint16_t context, uint32_t pass) {
  CatchUp();
  return rotation_.SetPass(vm, context, pass);
}

void LiveDevice::FollowPlans() {
  std::vector<mailbox::RotationPlan> plans = rotation_.Plans();
  if (plans == catalog_.plans) return;
  catalog_.plans = std::move(plans);
  ++catalog_version_;
}

// The catalogue names the existing blocks with their generations.
void LiveDevice::FollowBlocks() {
  ++catalog_version_;
  catalog_.contexts.clear();
  size_t next = 0;
  for (const Tenant& tenant : timeline_->tenants()) {
    if (!tenant.binding.context) continue;
    mailbox::ContextInfo context = whole_catalog_.contexts[next++];
    if (chip_->memory().released(*tenant.binding.context)) continue;
    context.generation = chip_->memory().header(*tenant.binding.context).generation;
    catalog_.contexts.push_back(std::move(context));
  }
}

std::span<const uint64_t> LiveDevice::DeviceCounters() {
  CatchUp();
  // Without an out-of-band channel the hypervisor's block has the counters of the device.
  return has_out_of_band_ ? chip_->out_of_band() : chip_->memory().counters(0);
}

uint32_t LiveDevice::Trigger() {
  CatchUp();
  return line_ ? line_->Send() : chip_->Trigger(TriggerKind::kRegisterWrite);
}

absl::Status LiveDevice::SetTriggerGrid(uint64_t period) {
  const uint64_t least = std::max(CyclesBetweenMin(clock_hz_), clocks_.GridPeriodMin());
  if (period != 0 && period < least) {
    return absl::InvalidArgumentError(absl::StrCat("a period of ", period, " cycles is shorter than ", least));
  }
  CatchUp();
  chip_->SetTriggerGrid(period);
  return absl::OkStatus();
}

absl::Status LiveDevice::SelectClocks(uint64_t domains) {
  CatchUp();
  return clocks_.Select(domains);
}

absl::StatusOr<BlockId> LiveDevice::BlockToMark(uint16_t vm, uint16_t context) const {
  const auto block = vm == mailbox::kHypervisorVm ? std::nullopt : FindBlock(vm, context);
  // A confidential VM's counts at an instant would not be sealed.
  if (!block || catalog_.vms[vm - 1].confidential || chip_->memory().retired(*block)) {
    return absl::NotFoundError(absl::StrCat("no VM ", vm, " to mark, or no context ", context, " of it"));
  }
  if (chip_->bookmarks().IsPending(*block)) return absl::UnavailableError("a bookmark is pending there");
  if (!chip_->has_trigger_grid()) return absl::FailedPreconditionError("there is no grid of triggers");
  return *block;
}

absl::StatusOr<uint64_t> LiveDevice::SetBookmark(uint16_t vm, uint16_t context, uint32_t bookmark) {
  CatchUp();
  if (vm == mailbox::kHypervisorVm && context == mailbox::kNoContext) {
    clocks_.SetOwnBookmark(bookmark);
    return chip_->ReferenceTimeNs();
  }
  const auto marked = FindBlock(vm, context);
  const auto& pending = chip_->bookmarks().pending();
  // A controller that has not seen the answer asks again.
  const auto own = marked ? pending.find(*marked) : pending.end();
  if (own != pending.end() && own->second.bookmark == bookmark) return own->second.asked_ns;
  SIDEBAND_ASSIGN_OR_RETURN(const BlockId block, BlockToMark(vm, context));
  chip_->AskBookmark(block, bookmark);
  return chip_->ReferenceTimeNs();
}

mailbox::Timeline LiveDevice::GetTimeline(uint32_t first_trigger_id) {
  CatchUp();
  return clocks_.TimelineFrom(first_trigger_id);
}

mailbox::ClockHulls LiveDevice::GetHulls(uint32_t first_trigger_id) {
  CatchUp();
  return {.first_trigger_id = first_trigger_id, .hulls = fits_.HullsFrom(first_trigger_id)};
}

uint64_t LiveDevice::ReferenceTimeNs() { return chip_->ReferenceTimeNs(); }

std::optional<size_t> LiveDevice::FindTenant(uint16_t vm, uint16_t context) const {
  if (vm == mailbox::kHypervisorVm || vm > vm_tenants_.size()) return std::nullopt;
  const size_t own = vm_tenants_[vm - 1];
  if (context == mailbox::kNoContext) return own;
  const size_t tenant = own + 1 + context;
  const size_t end = vm < vm_tenants_.size() ? vm_tenants_[vm] : timeline_->tenants().size();
  return tenant < end ? std::optional(tenant) : std::nullopt;
}

// A commit of a slice's channel brings all counts of the slice into the blocks.
uint64_t LiveDevice::CommittedNs(SliceSet slices) const {
  uint64_t committed_ns = chip_->ReferenceTimeNs();
  for (uint8_t slice = 0; slice < wiring_.slices.size(); ++slice) {
    if ((slices >> slice & 1) != 0) committed_ns = std::min(committed_ns, chip_->CommittedNs(slice));
  }
  return committed_ns;
}

std::optional<BlockId> LiveDevice::FindHostBlock(uint16_t slice) const {
  if (slice >= catalog_.host_blocks.size()) return std::nullopt;
  return chip_->host_block(static_cast<uint8_t>(slice));
}

std::optional<BlockId> LiveDevice::FindBlock(uint16_t vm, uint16_t context) const {
  if (vm == mailbox::kHypervisorVm)
    return context == mailbox::kNoContext ? std::optional(BlockId{0}) : FindHostBlock(context);
  const auto tenant = FindTenant(vm, context);
  if (!tenant) return std::nullopt;
  const Binding& binding = timeline_->tenants()[*tenant].binding;
  const BlockId block = binding.context.value_or(binding.vm);
  return chip_->memory().released(block) ? std::nullopt : std::optional(block);
}

std::optional<BlockView> LiveDevice::BlockCounters(uint16_t vm, uint16_t context) {
  const MemoryBlocks& memory = chip_->memory();
  const auto block = FindBlock(vm, context);
  if (!block) return std::nullopt;
  const bool is_host = vm == mailbox::kHypervisorVm && *block != 0;
  const SliceSet slices = *block == 0 ? kEverySlice
                          : is_host   ? SliceSet{1} << context
                                      : wiring_.tenant_slices[*FindTenant(vm, context)];
  if (chip_->has_rotation()) chip_->rotation().turns().ShowEnded();
  return BlockView{.counters = memory.counters(*block),
                   .generation = memory.header(*block).generation,
                   .reference_time_ns = *block == 0 ? chip_->CommittedNs(kDeviceChannel) : CommittedNs(slices),
                   .slices = slices,
                   .rotated = RotatedCounts(*block)};
}

std::vector<RotatedCount> LiveDevice::RotatedCounts(BlockId block) const {
  if (rotation_.empty()) return {};
  const mailbox::BlockRotation numbers = chip_->rotation().NumbersOf(block);
  std::vector<RotatedCount> counts;
  for (const uint16_t event : chip_->rotation().turns().events()) {
    const uint8_t group = catalog_.events[event].details.gate_group;
    const auto gate_group = group == mailbox::kNoGateGroup ? std::nullopt : std::optional<size_t>(group);
    counts.push_back({.event = event, .time = mailbox::TimeOf(numbers, catalog_.plans, event, gate_group)});
    if (numbers.events.empty()) continue;
    RotatedCount& count = counts.back();
    count.estimate = numbers.events[counts.size() - 1].estimate;
    // It was counted under plans that are forgotten.
    if (count.time.running == 0 && count.estimate > 0) {
      count.time.running = mailbox::ForgottenRunning(numbers, gate_group);
    }
  }
  return counts;
}

std::optional<LiveBlock> LiveDevice::PeekBlock(uint16_t vm, uint16_t context) {
  CatchUp();
  const auto block = FindBlock(vm, context);
  if (!block) return std::nullopt;
  chip_->live().RequestBlock(*block);
  auto live = AwaitLiveBlock();
  if (!live) return std::nullopt;
  const mailbox::BlockHeader& header = chip_->memory().header(*block);
  const uint16_t estimated = rotation_.IsEstimated(*block) ? mailbox::kFlagEstimated : 0;
  return LiveBlock{.counters = std::move(live->counters),
                   .generation = header.generation,
                   .reference_cycle = live->cycle,
                   .reference_time_ns = chip_->ReferenceTimeNs(),
                   .flags = static_cast<uint16_t>(live->flags | estimated)};
}

// A few cycles: guests ask for nothing more meanwhile.
std::optional<LiveCounts::Block> LiveDevice::AwaitLiveBlock() {
  while (chip_->live().hpc().NextStop() != kNoCycle) {
    AdvanceTo(chip_->live().hpc().NextStop());
    if (auto live = chip_->live().TakeBlock()) return live;
  }
  return std::nullopt;
}

std::optional<MemoryUse> LiveDevice::GetMemoryUse() {
  if (!memory_) return std::nullopt;
  CatchUp();
  MemoryUse use{.reserved_mib = memory_->reserved_mib};
  for (size_t tenant = 0; tenant < shown_mib_.size(); ++tenant) {
    const auto& context = timeline_->tenants()[tenant].binding.context;
    if (context && !chip_->memory().retired(*context)) use.used_mib += shown_mib_[tenant];
  }
  return use;
}

}  // namespace sideband::mcu
