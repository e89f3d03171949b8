// SPDX-License-Identifier: Apache-2.0
#include "tests/lab/laws/laws_run.h"

#include <rapidcheck.h>

#include <algorithm>
#include <bit>
#include <numeric>
#include <string>
#include <utility>

namespace sideband::mcu {
namespace {

UlcSpec UnitOf(const CaseUnit& unit, bool is_gated) {
  UlcSpec spec{.name = "unit", .domain = unit.domain};
  spec.counter_bits = unit.counter_bits;
  spec.period = unit.period;
  spec.lanes = unit.lanes;
  spec.counters = unit.counters;
  for (const CaseInput& input : unit.inputs) {
    CounterInput& counter = spec.inputs.emplace_back();
    counter = {.wire = input.wire,
               .meaning = {static_cast<uint16_t>(input.event), static_cast<uint8_t>(input.shift)},
               .masked = input.masked,
               .digits = static_cast<uint8_t>(input.digits)};
    if (is_gated && input.group > 0) counter.group = static_cast<uint8_t>(input.group - 1);
  }
  return spec;
}

std::vector<uint32_t> CountsBefore(const LawsCase& test, uint32_t channel, uint32_t domain, uint32_t wire,
                                   uint64_t cycles) {
  std::vector<uint32_t> counts{0};
  counts.reserve(cycles + 1);
  for (uint64_t cycle = 0; cycle < cycles; ++cycle) {
    counts.push_back(counts.back() + (WireBit(test, channel, domain, wire, cycle) ? 1 : 0));
  }
  return counts;
}

}  // namespace

PipelineConfig ConfigOf(const LawsCase& test) {
  PipelineConfig config{.slices = test.slices, .events = test.events};
  for (const CaseCollector& collector : test.collectors) {
    CcuSpec& ccu = config.ccus.emplace_back();
    ccu.name = "collector";
    ccu.channel = collector.channel == test.device() ? kDeviceChannel : static_cast<uint8_t>(collector.channel);
    ccu.threshold = collector.threshold;
    for (const CaseUnit& unit : collector.units) ccu.ulcs.push_back(UnitOf(unit, collector.channel != test.device()));
  }
  config.trigger_period = test.trigger_period;
  config.commit_period = test.commit_period;
  config.hypervisor_commit_period = test.hypervisor_commit_period;
  config.out_of_band_commit_period = test.out_of_band_commit_period;
  config.buffer_depth = test.buffer_depth;
  config.record_cycles = test.record_cycles;
  config.route_cycles = test.route_cycles;
  config.grant_cycles = test.grant_cycles;
  config.switch_step_cycles = test.switch_step_cycles;
  for (const CaseGroup& group : test.groups) {
    config.gate_groups.push_back({.identifier = static_cast<uint16_t>(group.identifier),
                                  .valid = group.valid,
                                  .in_guest = group.in_guest,
                                  .in_host = group.in_host});
  }
  config.gate_cycles = test.gate_cycles;
  for (const uint32_t selection : test.selections) config.selections.push_back({selection});
  config.hpc = {.hop_cycles = test.hop_cycles, .lookup_cycles = test.lookup_cycles};
  return config;
}

void DomainWires::AddCounts(sim::CycleRange range, std::span<const sim::WireId> wires, std::span<uint64_t> sums) const {
  RC_ASSERT(range.begin >= held_.begin);
  RC_ASSERT(range.end <= held_.end);
  RC_ASSERT(range.begin <= range.end);
  for (size_t i = 0; i < wires.size(); ++i) {
    const std::vector<uint32_t>& counts = (*counts_)[wires[i]];
    sums[i] += counts[range.end] - counts[range.begin];
  }
}

WireWindow::WireWindow(const std::array<Domain, kDomains>& domains, sim::CycleRange cycles)
    : domains_(domains), cycles_(cycles) {
  for (size_t i = 0; i < kDomains; ++i) {
    // A chip may read up to kUlcHistoryCycles before the window.
    const uint64_t begin = domains[i].before[cycles.begin];
    wires_[i].Show(&domains[i].counts,
                   {begin - std::min<uint64_t>(begin, kUlcHistoryCycles), domains[i].held[cycles.end]});
  }
}

const sim::WireSource& WireWindow::domain(size_t index) const {
  RC_ASSERT(index < kDomains);
  if (index == 0) return *this;
  return wires_[index];
}

uint64_t WireWindow::CyclesBefore(size_t domain, uint64_t cycle) const {
  RC_ASSERT(cycle >= cycles_.begin);
  RC_ASSERT(cycle <= cycles_.end);
  return domains_[domain].before[cycle];
}

uint64_t WireWindow::CyclesHeld(size_t domain, uint64_t reference_end) const {
  RC_ASSERT(reference_end >= cycles_.begin);
  RC_ASSERT(reference_end <= cycles_.end);
  return domains_[domain].held[reference_end];
}

CaseWires::CaseWires(const LawsCase& test, uint32_t channel) {
  for (uint32_t domain = 0; domain < kDomains; ++domain) {
    WireWindow::Domain& here = domains_[domain];
    uint64_t before = 0;
    for (uint64_t cycle = 0; cycle <= test.cycles(); ++cycle) {
      here.before.push_back(before);
      here.held.push_back(before + EdgesHeldIn(test, domain, cycle));
      before += EdgesIn(test, domain, cycle);
    }
    // A prescaled number may extend beyond the last wire.
    here.counts.resize(kWires + kPrescaledDigitsMax);
    for (const CaseCollector& collector : test.collectors) {
      for (const CaseUnit& unit : collector.units) {
        if (collector.channel != channel || unit.domain != domain) continue;
        for (const CaseInput& input : unit.inputs) {
          for (uint32_t wire = input.wire; wire < input.wire + std::max(1u, input.digits); ++wire) {
            // Several inputs may share a wire.
            if (here.counts[wire].empty())
              here.counts[wire] = CountsBefore(test, channel, domain, wire, here.held.back());
          }
        }
      }
    }
  }
}

namespace {

uint64_t Configuration(uint32_t module, uint64_t bits) {
  return uint64_t{module} << hpc::kHpccModuleLsb | hpc::kHpccUseren | bits;
}

}  // namespace

LawsReader::LawsReader(const LawsCase& test, uint32_t slice, Chip& chip)
    : test_(test), slice_(slice), counted_(SliceEvents(test)), chip_(chip), random_(test.seed + slice) {}

uint64_t LawsReader::Read(HpcRegister which, HpcHalf half) {
  return chip_.live().hpc().Read(slice_, which, chip_.now(), half);
}

void LawsReader::WriteHpcm(uint64_t bitmap) {
  const bool halves = Chance(2);
  const auto write = [&](uint64_t value, HpcHalf half) {
    chip_.live().hpc().Write(slice_, HpcRegister::kHpcm, value, HpcPrivilege::kUser, chip_.now(), half);
  };
  write(bitmap, halves ? HpcHalf::kLow : HpcHalf::kWhole);
  if (halves) write(bitmap >> 32, HpcHalf::kHigh);
}

void LawsReader::Act(std::optional<uint32_t> resident) {
  if (!resident || Chance(2)) return;
  if (reading_) {
    if (!Chance(8)) return Collect();
    chip_.live().hpc().Write(slice_, HpcRegister::kHpcc, 0, HpcPrivilege::kUser, chip_.now());
    reading_.reset();
  }
  return counted_ == 0 || Chance(8) ? StartRefused(*resident) : Start(*resident);
}

void LawsReader::Start(uint32_t tenant) {
  const bool vm = IsVm(tenant) || Chance(2);
  const uint64_t drawn = random_() & counted_;
  const uint32_t module = (vm ? hpc::kModuleVm : hpc::kModuleContext) + slice_;
  reading_ = {.block = BlockOf(vm ? tenant - tenant % kPlacesOfVm : tenant),
              .bitmap = drawn == 0 ? counted_ : drawn,
              .started = chip_.now(),
              .eager = Chance(2)};
  WriteHpcm(reading_->bitmap);
  RC_ASSERT(chip_.live().hpc().Write(slice_, HpcRegister::kHpcc,
                                     Configuration(module, hpc::kHpccTrigger | hpc::kHpccStamp),
                                     vm ? HpcPrivilege::kSupervisor : HpcPrivilege::kUser, chip_.now()));
  RC_ASSERT((Read(HpcRegister::kHpcc) & (hpc::kHpccTrigger | hpc::kHpccRefused | hpc::kHpccInterrupted)) ==
            hpc::kHpccTrigger);
}

// Another slice, the VM as a user, the device, an event that does not exist or that no slice counts: all alike.
void LawsReader::StartRefused(uint32_t tenant) {
  const uint32_t kind = IsVm(tenant) ? 3 : random_() % 4;
  const uint32_t modules[] = {slice_ + 1, hpc::kModuleVm + slice_, hpc::kModuleDevice, hpc::kModuleContext + slice_};
  const uint64_t absent = uint64_t{1} << test_.events, uncounted = (absent - 1) & ~counted_;
  WriteHpcm(kind < 3 ? 1 : uncounted != 0 && Chance(2) ? uncounted : absent);
  chip_.live().hpc().Write(slice_, HpcRegister::kHpcc, Configuration(modules[kind], hpc::kHpccTrigger),
                           HpcPrivilege::kUser, chip_.now());
  RC_ASSERT((Read(HpcRegister::kHpcc) & (hpc::kHpccTrigger | hpc::kHpccRefused | hpc::kHpccEmpty)) ==
            (hpc::kHpccRefused | hpc::kHpccEmpty));
}

void LawsReader::Collect() {
  const auto may_read = [this] {
    const uint64_t hpcc = Read(HpcRegister::kHpcc);
    const bool patient = !reading_->eager && (hpcc & hpc::kHpccTrigger) != 0;
    return !patient && (hpcc & hpc::kHpccEmpty) == 0;
  };
  const bool halves = Chance(2);
  while (may_read()) {
    uint64_t word = Read(HpcRegister::kHpcr, halves ? HpcHalf::kLow : HpcHalf::kWhole);
    if (halves) word |= Read(HpcRegister::kHpcr, HpcHalf::kHigh) << 32;
    reading_->words.push_back(word);
  }
  if (reading_->words.size() == 1 + static_cast<size_t>(std::popcount(reading_->bitmap))) Check();
}

// R1, R2, R5: all words are of the request, and of the cycle in its stamp.
void LawsReader::Check() {
  const uint64_t stamp = reading_->words.front();
  RC_LOG() << "reading of block " << reading_->block << " at cycle " << stamp << "\n";
  RC_ASSERT(stamp >= reading_->started + test_.hop_cycles);
  RC_ASSERT(reading_->truths.count(stamp) == 1u);
  const EventCounts& truth = reading_->truths.at(stamp);
  size_t word = 1;
  for (uint64_t rest = reading_->bitmap; rest != 0; rest &= rest - 1) {
    RC_ASSERT(reading_->words[word++] == truth[std::countr_zero(rest)]);
  }
  RC_ASSERT(Read(HpcRegister::kHpcm) == reading_->bitmap);
  const uint64_t state = hpc::kHpccTrigger | hpc::kHpccInterrupted | hpc::kHpccEmpty | hpc::kHpccReaderror;
  RC_ASSERT((Read(HpcRegister::kHpcc) & state) == hpc::kHpccEmpty);
  reading_.reset();
  ++readings_;
}

void LawsReader::Note(const LawsTruth& truth) {
  if (reading_) reading_->truths.try_emplace(chip_.now(), truth.Block(reading_->block));
}

// R7: nothing of what was there before is seen.
void LawsReader::CheckSwitch() {
  reading_.reset();
  const uint64_t without_useren = Read(HpcRegister::kHpcc) & ~hpc::kHpccUseren;
  RC_ASSERT(without_useren == (hpc::kHpccInterrupted | hpc::kHpccEmpty));
  RC_ASSERT(Read(HpcRegister::kHpcm) == 0u);
  RC_ASSERT(Read(HpcRegister::kHpcr, HpcHalf::kHigh) == 0u);
  RC_ASSERT(Read(HpcRegister::kHpcr) == 0u);
}

namespace {

bool HasCounters(const CaseCollector& collector) {
  return std::any_of(collector.units.begin(), collector.units.end(), [](const CaseUnit& unit) {
    return std::any_of(unit.inputs.begin(), unit.inputs.end(), [](const CaseInput& input) { return !input.masked; });
  });
}

GateValue ValueOf(const CaseValue& value) { return {value.master, value.vector_enable, value.vector}; }

GateMatch MatchOf(const CaseMatch& match) { return {match.enable, {static_cast<uint16_t>(match.id)}}; }

void SetControl(const CaseVm& vm, VmControl& control) {
  control.guest_value = ValueOf(vm.guest);
  control.host_value = ValueOf(vm.host);
  control.guest_load = vm.guest_load;
  control.host_load = vm.host_load;
  control.guest_store = vm.guest_store;
  control.host_store = vm.host_store;
  control.match = MatchOf(vm.match);
  control.allowed = vm.allowed;
  control.pinned = vm.pinned;
  control.selection = static_cast<uint8_t>(vm.selection);
}

ContextControl ControlOf(const CaseContext& context) { return {ValueOf(context.value), context.load, context.store}; }

uint32_t FirstOf(uint32_t vm) { return vm * kPlacesOfVm; }

}  // namespace

LawsRun::LawsRun(const LawsCase& test, LawsReaders readers)
    : test_(test),
      has_collectors_(test.slices + 1),
      chip_(*Chip::Create(ConfigOf(test))),
      truth_(test),
      random_(test.seed),
      lives_(test.blocks(), Life{.past = EventCounts(test.events)}) {
  for (const CaseCollector& collector : test.collectors) has_collectors_[collector.channel] = true;
  one_channel_ = std::count(has_collectors_.begin(), has_collectors_.end(), true) == 1;
  has_private_ = std::any_of(test.vms.begin(), test.vms.end(), [](const CaseVm& vm) { return vm.is_private; });
  for (uint32_t channel = 0; channel <= test.slices; ++channel) wires_.emplace_back(test, channel);
  for (uint32_t tenant = 0; tenant < kTenants; ++tenant) {
    const auto context = static_cast<uint16_t>(tenant % kPlacesOfVm - 1);
    const BlockId block =
        chip_->memory().Create(static_cast<uint16_t>(1 + VmOf(tenant)), IsVm(tenant) ? mailbox::kNoContext : context);
    RC_ASSERT(block == BlockOf(tenant));
    if (!IsVm(tenant)) continue;
    chip_->guests().vm_control(block).useren = true;
    chip_->guests().vm_control(block).is_private = IsPrivate(tenant);
  }
  SetUpControls();
  if (!test.groups.empty()) SetUpHosts();
  for (uint32_t slice = 0; readers == LawsReaders::kOnEverySlice && slice < test.slices; ++slice) {
    readers_.emplace_back(test, slice, *chip_);
  }
  Attach();
  if (test.host_blocks) chip_->CreateHostBlocks();
}

// The old windows live until the chip is attached to the new ones.
void LawsRun::Attach() {
  const uint64_t now = chip_->now();
  window_end_ = test_.window == 0 ? test_.cycles() : std::min(test_.cycles(), now + test_.window);
  std::vector<std::unique_ptr<WireWindow>> windows;
  for (uint32_t channel = 0; channel <= test_.slices; ++channel) {
    windows.push_back(wires_[channel].Window({now, window_end_}));
    chip_->Attach(channel == test_.device() ? kDeviceChannel : static_cast<uint8_t>(channel), *windows.back());
  }
  windows_ = std::move(windows);
}

void LawsRun::Play() {
  for (const CaseAct& act : test_.acts) {
    Advance(chip_->now() + act.gap, act.stride);
    Do(act);
  }
  Advance(chip_->now() + test_.rest, 0);
  Latch();
  CheckTriggers();
}

void LawsRun::Advance(uint64_t cycle, uint32_t stride) {
  while (chip_->now() < cycle) {
    if (chip_->now() == window_end_) Attach();
    const uint64_t step = stride == 0 ? cycle : chip_->now() + stride;
    chip_->AdvanceTo(std::min({cycle, step, window_end_, chip_->live().hpc().NextStop()}));
    truth_.CountTo(chip_->now());
    Read();
    NoteOverruns();
    CheckLiveCounts();
  }
}

// The path may have taken values at the present cycle.
void LawsRun::Read() {
  for (uint32_t slice = 0; slice < readers_.size(); ++slice) {
    readers_[slice].Note(truth_);
    readers_[slice].Act(truth_.resident(slice));
  }
  if (!readers_.empty()) CheckFirmware();
}

void LawsRun::CheckFirmware() {
  if (const auto live = chip_->live().TakeBlock()) {
    RC_ASSERT(live->cycle == chip_->now());
    RC_ASSERT(live->counters == truth_.Block(firmware_block_));
    ++firmware_readings_;
  }
  if (random_() % 4 != 0) return;
  firmware_block_ = random_() % lives_.size();
  chip_->live().RequestBlock(static_cast<BlockId>(firmware_block_));
}

uint64_t LawsRun::readings() const {
  return std::accumulate(readers_.begin(), readers_.end(), firmware_readings_,
                         [](uint64_t sum, const LawsReader& reader) { return sum + reader.readings(); });
}

LawsRun::Outcome LawsRun::outcome() const {
  Outcome outcome{.stats = chip_->stats(),
                  .headers = {},
                  .blocks = {},
                  .out_of_band = {},
                  .switch_costs = switch_costs_,
                  .trigger_ids = trigger_ids_};
  outcome.out_of_band.assign(chip_->out_of_band().begin(), chip_->out_of_band().end());
  for (size_t block = 0; block < lives_.size(); ++block) {
    outcome.headers.push_back(chip_->memory().header(static_cast<BlockId>(block)));
    outcome.blocks.push_back(Counters(block));
  }
  return outcome;
}

void LawsRun::Do(const CaseAct& act) {
  const bool somebody = act.tenant < kTenants;
  switch (act.kind) {
    case CaseAct::kSwitch:
      return Switch(act.slice, somebody ? std::optional(act.tenant) : std::nullopt);
    case CaseAct::kLatch:
      return Latch();
    case CaseAct::kWrittenTrigger:
      ++written_;
      return Trigger(TriggerKind::kRegisterWrite);
    case CaseAct::kTriggerGrid:
      return SetTriggerGrid(act.tenant);
    case CaseAct::kExternalTrigger:
      ++external_;
      return Trigger(TriggerKind::kExternal);
    case CaseAct::kWithinCycle:
      chip_->AdvanceWithinCycle();
      truth_.CountWithinCycle();
      CheckLiveCounts();
      return NoteOverruns();
    case CaseAct::kSelect:
      return TurnSelections();
    case CaseAct::kExit:
      return Exit(act.slice);
    case CaseAct::kEntry:
      return Enter(act.slice);
    case CaseAct::kWrite:
    case CaseAct::kWriteContext:
      return Write(act);
    case CaseAct::kBindVm:
      return BindVm(act.slice, somebody ? std::optional(act.tenant) : std::nullopt);
    case CaseAct::kSpoilEntry:
      if (somebody) SpoilEntry(act);
      return;
    case CaseAct::kEnd:
      if (somebody) End(act.tenant);
  }
}

void LawsRun::NoteTrigger(uint32_t id) {
  if (!trigger_ids_.empty()) RC_ASSERT(id > trigger_ids_.back());
  trigger_ids_.push_back(id);
}

// At the multiples of the period after `grid_begin_`, up to now.
uint64_t LawsRun::GridTriggers() const {
  return grid_period_ == 0 ? 0 : chip_->now() / grid_period_ - grid_begin_ / grid_period_;
}

void LawsRun::SetTriggerGrid(uint64_t period) {
  grid_fired_ += GridTriggers();
  grid_period_ = period;
  grid_begin_ = chip_->now();
  chip_->SetTriggerGrid(period);
}

void LawsRun::Trigger(TriggerKind kind) {
  NoteTrigger(chip_->Trigger(kind));
  NoteOverruns();
}

// --- Gates -----------------------------------------------------------------------------------------------------------

void LawsRun::SetUpControls() {
  for (uint32_t tenant = 0; tenant < kTenants; ++tenant) {
    const auto block = static_cast<BlockId>(BlockOf(tenant));
    if (IsVm(tenant)) {
      SetControl(test_.vms[VmOf(tenant)], chip_->guests().vm_control(block));
    } else {
      chip_->guests().context_control(block) = ControlOf(test_.contexts[tenant]);
    }
  }
}

void LawsRun::SetUpHosts() {
  for (uint32_t slice = 0; slice < test_.slices; ++slice) {
    const CaseHost& host = test_.hosts[slice];
    chip_->guests().gate(static_cast<uint8_t>(slice)).host() = {ValueOf(host.value), MatchOf(host.match)};
    chip_->guests().gate(static_cast<uint8_t>(slice)).WriteValue(ValueOf(host.value));
  }
}

// V6: nothing is saved or moved, whatever the number of counters.
template <typename Change>
void LawsRun::ChangeMode(const Change& change) {
  std::vector<EventCounts> before;
  for (size_t block = 0; block < lives_.size(); ++block) before.push_back(Counters(block));
  const ChipStats stats = chip_->stats();
  change();
  for (size_t block = 0; block < lives_.size(); ++block) RC_ASSERT(Counters(block) == before[block]);
  RC_ASSERT(chip_->stats().commits == stats.commits);
  RC_ASSERT(chip_->stats().written_triggers == stats.written_triggers);
  CheckLiveCounts();
}

void LawsRun::Exit(uint32_t slice) {
  ChangeMode([&] { chip_->guests().Exit(static_cast<uint8_t>(slice), chip_->now()); });
  truth_.gates().Exit(slice);
}

void LawsRun::Enter(uint32_t slice) {
  ChangeMode([&] { chip_->guests().Enter(static_cast<uint8_t>(slice), chip_->now()); });
  truth_.gates().Enter(slice);
}

void LawsRun::Write(const CaseAct& act) {
  if (test_.groups.empty()) return;
  const auto slice = static_cast<uint8_t>(act.slice);
  if (act.kind == CaseAct::kWrite) {
    chip_->guests().gate(slice).WriteValue(ValueOf(act.value));
    truth_.gates().Write(act.slice, act.value);
  } else {
    chip_->guests().gate(slice).WriteContextValue(ValueOf(act.value));
    truth_.gates().WriteContext(act.slice, act.value);
  }
  chip_->guests().ShowGate(slice);
}

// --- Wrong bindings --------------------------------------------------------------------------------------------------

// A latch brings the earlier counts into the blocks: the truth knows of cycles, not of commits.
void LawsRun::BindVm(uint32_t slice, std::optional<uint32_t> tenant) {
  // The truth has residents' commits alone.
  if (test_.host_blocks && !truth_.resident(slice)) return;
  Latch();
  const auto vm = tenant ? std::optional(VmOf(*tenant)) : std::nullopt;
  const PageTables& tables = chip_->memory().page_tables();
  chip_->mmu().SetRoot(slice, vm ? tables.RootOf(static_cast<uint16_t>(1 + *vm)) : std::nullopt);
  truth_.ChangeMmu([&](LawsMmu& mmu) { mmu.BindVm(slice, vm); });
  CheckLiveCounts();
}

void LawsRun::SpoilEntry(const CaseAct& act) {
  if (lives_[BlockOf(act.tenant)].ended) return;
  Latch();
  const auto block = static_cast<BlockId>(BlockOf(act.tenant));
  const mailbox::BlockHeader& header = chip_->memory().header(block);
  PageTables& tables = chip_->memory().page_tables();
  std::optional<BlockId> to;
  if (truth_.mmu().IsSpoilt(act.tenant)) {
    to = block;
  } else if (act.value.vector_enable) {
    to = static_cast<BlockId>(act.value.vector % lives_.size());
  }
  if (to) {
    tables.Map(header.vm, PageOf(header.context), *to);
  } else {
    tables.Invalidate(header.vm, PageOf(header.context));
  }
  truth_.ChangeMmu([&](LawsMmu& mmu) { mmu.SetEntry(act.tenant, to); });
  CheckLiveCounts();
}

// A flush of a slice without counters has no records, and so no commit.
bool LawsRun::LosesData(uint32_t slice) const {
  return truth_.IsLost(slice) && std::ranges::any_of(test_.collectors, [&](const CaseCollector& collector) {
           return collector.channel == slice && HasCounters(collector);
         });
}

// Each of the slices has one commit.
template <typename Commits>
void LawsRun::CountFaults(const std::vector<uint32_t>& slices, const Commits& commits) {
  uint64_t faults = chip_->stats().mmu_faults;
  for (const uint32_t slice : slices) {
    may_lose_flags_ |= truth_.IsLost(slice);
    if (!LosesData(slice)) continue;
    ++faults;
    const uint32_t tenant = *truth_.resident(slice);
    has_faulted_ = true;
    // The device's block never had a private VM's counts.
    if (!IsPrivate(tenant)) lives_[0].has_lost = true;
    for (const size_t block : {BlockOf(tenant), BlockOf(FirstOf(VmOf(tenant)))}) lives_[block].has_lost = true;
  }
  commits();
  RC_ASSERT(chip_->stats().mmu_faults == faults);
}

// --- Selections ------------------------------------------------------------------------------------------------------

void LawsRun::TurnSelections() {
  Latch();
  std::vector<mailbox::EventSet> sets = chip_->selections();
  if (!sets.empty()) std::rotate(sets.begin(), sets.begin() + 1, sets.end());
  RC_ASSERT(chip_->CheckSelections(sets).ok());
  chip_->SetSelections(sets);
  truth_.TurnSelections();
  CheckLiveCounts();
}

// --- Life cycle of blocks -------------------------------------------------------------------------------------------

// Ending a VM ends its contexts. The counts of an ended block are final without a latch.
void LawsRun::End(uint32_t tenant) {
  Life& life = lives_[BlockOf(tenant)];
  if (life.ended || truth_.IsResident(tenant)) return;
  for (uint32_t place = 1; IsVm(tenant) && place < kPlacesOfVm; ++place) End(tenant + place);
  const auto block = static_cast<BlockId>(BlockOf(tenant));
  chip_->memory().Retire(block);
  truth_.ChangeMmu([&](LawsMmu& mmu) { mmu.SetEntry(tenant, {}); });
  life.ended = true;
  life.final_sequence = chip_->memory().header(block).sequence;
  RC_ASSERT(Counters(block) == truth_.Block(block));
}

void LawsRun::RenewIfEnded(uint32_t tenant) {
  Life& life = lives_[BlockOf(tenant)];
  if (!life.ended) return;
  const auto block = static_cast<BlockId>(BlockOf(tenant));
  RC_ASSERT(chip_->memory().header(block).sequence == life.final_sequence);
  AddTo(life.past, Counters(block));
  chip_->memory().Renew(block);
  truth_.Renew(tenant);
  truth_.ChangeMmu([&](LawsMmu& mmu) { mmu.SetEntry(tenant, block); });
  life.ended = life.may_overrun = life.has_lost = false;
  ++life.generation;
}

// --- Switches -------------------------------------------------------------------------------------------------------

std::optional<Binding> LawsRun::BindingOf(std::optional<uint32_t> tenant) const {
  if (!tenant) return std::nullopt;
  Binding binding{.vm = static_cast<BlockId>(BlockOf(FirstOf(VmOf(*tenant)))), .context = {}};
  if (!IsVm(*tenant)) binding.context = static_cast<BlockId>(BlockOf(*tenant));
  return binding;
}

void LawsRun::Switch(uint32_t slice, std::optional<uint32_t> tenant) {
  if (tenant) {
    RenewIfEnded(FirstOf(VmOf(*tenant)));
    RenewIfEnded(*tenant);
  }
  const std::optional<uint32_t> from = truth_.resident(slice);
  std::vector<SwitchStepEvent> steps;
  chip_->TraceSwitches([&](const SwitchStepEvent& event) {
    steps.push_back(event);
    RC_ASSERT(event.to == BindingOf(tenant));
    CheckStep(event, from);
  });
  uint64_t cost = 0;
  CountFaults({slice}, [&] { cost = chip_->SwitchTo(static_cast<uint8_t>(slice), BindingOf(tenant)); });
  RC_ASSERT(cost >= uint64_t{kSwitchSteps} * test_.switch_step_cycles);
  switch_costs_.push_back(cost);
  CheckSwitch(steps, slice, from);
  truth_.Switch(slice, tenant);
  if (slice < readers_.size()) readers_[slice].CheckSwitch();
  NoteOverruns();
  CheckLiveCounts();
}

// From the commit on, the block of a context that is resident nowhere else is complete and does not change.
void LawsRun::CheckStep(const SwitchStepEvent& event, std::optional<uint32_t> from) {
  RC_ASSERT(event.cycle == chip_->now());
  RC_ASSERT(event.switch_number == switch_costs_.size() + 1);
  RC_ASSERT(event.from == BindingOf(from));
  RC_ASSERT(event.pipeline_cycle >= last_pipeline_cycle_);
  last_pipeline_cycle_ = event.pipeline_cycle;
  if (event.step < SwitchStep::kCommit) return;
  if (!from && test_.host_blocks)
    RC_ASSERT(Counters(HostBlockOf(event.slice)) == truth_.Block(HostBlockOf(event.slice)));
  if (!from || IsVm(*from)) return;
  uint32_t places = 0;
  for (uint32_t slice = 0; slice < test_.slices; ++slice) places += truth_.resident(slice) == from ? 1 : 0;
  if (places == 1) RC_ASSERT(Counters(BlockOf(*from)) == truth_.Block(BlockOf(*from)));
}

void LawsRun::CheckSwitch(const std::vector<SwitchStepEvent>& steps, uint32_t slice, std::optional<uint32_t> from) {
  RC_ASSERT(steps.size() == kSwitchSteps);
  for (size_t i = 0; i < steps.size(); ++i) {
    RC_ASSERT(static_cast<size_t>(steps[i].step) == i + 1);
    RC_ASSERT(steps[i].slice == slice);
  }
  const auto at = [&](SwitchStep step) { return steps[static_cast<size_t>(step) - 1]; };
  const auto units = std::count_if(test_.collectors.begin(), test_.collectors.end(),
                                   [&](const CaseCollector& collector) { return collector.channel == slice; });
  const auto expected = static_cast<uint32_t>(from || test_.host_blocks ? units : 0);
  RC_ASSERT(at(SwitchStep::kTrigger).acknowledgements == 0u);
  RC_ASSERT(at(SwitchStep::kFlushRequest).acknowledgements == 0u);
  RC_ASSERT(at(SwitchStep::kEmit).acknowledgements == expected);
  RC_ASSERT(at(SwitchStep::kRun).acknowledgements == expected);
  // With several channels, units of other channels keep sending records.
  if (one_channel_ && units > 0) RC_ASSERT(at(SwitchStep::kRun).records == at(SwitchStep::kEmit).records);
}

// --- The laws -------------------------------------------------------------------------------------------------------

void LawsRun::Latch() {
  std::vector<uint32_t> slices(test_.slices);
  std::iota(slices.begin(), slices.end(), 0u);
  uint32_t id = 0;
  CountFaults(slices, [&] { id = chip_->Latch(); });
  NoteTrigger(id);
  ++written_;
  NoteOverruns();
  CheckAdditivity();
  CheckConservation();
  CheckLiveCounts();
  CheckHonesty();
  CheckHeaders(id);
}

EventCounts LawsRun::Counters(size_t block) const {
  const auto counters = chip_->memory().counters(static_cast<BlockId>(block));
  return {counters.begin(), counters.end()};
}

EventCounts LawsRun::LiveCounts(size_t block) const {
  std::vector<uint16_t> events(test_.events);
  std::iota(events.begin(), events.end(), uint16_t{0});
  EventCounts counts(test_.events);
  chip_->live().Add(static_cast<BlockId>(block), events, counts);
  return counts;
}

EventCounts LawsRun::AllGenerations(size_t block) const {
  EventCounts counts = lives_[block].past;
  AddTo(counts, Counters(block));
  return counts;
}

// Covers isolation as well: a count in the wrong block makes that block differ.
void LawsRun::CheckConservation() const {
  for (size_t block = 0; block < lives_.size(); ++block) {
    RC_LOG() << "block " << block << " at cycle " << chip_->now() << "\n";
    RC_ASSERT(Counters(block) == truth_.Block(block));
  }
  const auto out_of_band = chip_->out_of_band();
  const EventCounts all = test_.out_of_band_commit_period == 0 ? EventCounts(test_.events) : truth_.Block(0);
  RC_ASSERT(EventCounts(out_of_band.begin(), out_of_band.end()) == all);
}

// Wherever a count is on its way, a live count has it. After a latch nothing is on its way.
void LawsRun::CheckLiveCounts() const {
  for (size_t block = 0; block < lives_.size(); ++block) {
    RC_LOG() << "live counts of block " << block << " at cycle " << chip_->now() << "\n";
    RC_ASSERT(LiveCounts(block) == truth_.Block(block));
  }
}

void LawsRun::CheckAdditivity() const {
  EventCounts device = truth_.Device();
  AddTo(device, truth_.Lost());
  for (uint32_t vm = 0; vm < kVms; ++vm) {
    EventCounts contexts = truth_.WithoutContext(vm);
    for (uint32_t place = 1; place < kPlacesOfVm; ++place) {
      AddTo(contexts, AllGenerations(BlockOf(FirstOf(vm) + place)));
    }
    const EventCounts all = AllGenerations(BlockOf(FirstOf(vm)));
    RC_ASSERT(all == contexts);
    if (!IsPrivate(FirstOf(vm))) AddTo(device, all);
  }
  for (size_t block = HostBlockOf(0); block < test_.blocks(); ++block) AddTo(device, Counters(block));
  RC_ASSERT(Counters(0) == device);
}

// The statistics do not identify the unit of an overrun. With a single channel it belongs to the resident of that
// channel.
void LawsRun::NoteOverruns() {
  if (chip_->stats().trigger_overruns == overruns_) return;
  overruns_ = chip_->stats().trigger_overruns;
  bool may_be_the_devices = has_collectors_[test_.device()] || !has_private_;
  for (uint32_t slice = 0; slice < test_.slices; ++slice) {
    const auto block = BlockOfTime(slice);
    if (!block || !has_collectors_[slice]) continue;
    lives_[*block].may_overrun = true;
    const auto tenant = truth_.resident(slice);
    if (tenant) lives_[BlockOf(FirstOf(VmOf(*tenant)))].may_overrun = true;
    may_be_the_devices |= !tenant || !IsPrivate(*tenant);
  }
  lives_[0].may_overrun |= may_be_the_devices;
}

// The smallest block to which the slice's counts go now; nullopt: it does not count.
std::optional<size_t> LawsRun::BlockOfTime(uint32_t slice) const {
  if (const auto tenant = truth_.resident(slice)) return BlockOf(*tenant);
  return test_.host_blocks ? std::optional(HostBlockOf(slice)) : std::nullopt;
}

void LawsRun::CheckHonesty() const {
  for (size_t block = 0; block < lives_.size(); ++block) {
    const uint16_t faulted = lives_[block].has_lost ? mailbox::kFlagMmuFault : 0;
    const uint16_t flags = chip_->memory().header(static_cast<BlockId>(block)).flags;
    const uint16_t allowed = faulted | (lives_[block].may_overrun ? mailbox::kFlagTriggerOverrun : 0);
    RC_ASSERT((flags & ~allowed) == 0);
    RC_ASSERT((flags & mailbox::kFlagMmuFault) == faulted);
    // With several channels the overrun may belong to another resident, whose block is flagged instead.
    if ((one_channel_ && !may_lose_flags_) || (block == 0 && !has_private_)) RC_ASSERT(flags == allowed);
  }
  RC_ASSERT((chip_->stats().mmu_faults > 0) == has_faulted_);
}

void LawsRun::CheckHeaders(uint32_t latch_id) const {
  RC_ASSERT(chip_->memory().header(0).state == mailbox::BlockState::kActive);
  for (uint32_t tenant = 0; tenant < kTenants; ++tenant) {
    const Life& life = lives_[BlockOf(tenant)];
    const mailbox::BlockHeader& header = chip_->memory().header(static_cast<BlockId>(BlockOf(tenant)));
    RC_ASSERT(header.generation == life.generation);
    RC_ASSERT(header.trigger_id <= latch_id);
    RC_ASSERT(header.state == (life.ended                  ? mailbox::BlockState::kRetired
                               : truth_.IsResident(tenant) ? mailbox::BlockState::kActive
                                                           : mailbox::BlockState::kIdle));
    if (life.ended) RC_ASSERT(header.sequence == life.final_sequence);
  }
  CheckHostHeaders();
  // A latch reaches the blocks of all residents whose collectors have counters.
  for (const CaseCollector& collector : test_.collectors) {
    if (!HasCounters(collector)) continue;
    RC_ASSERT(collector.channel != test_.device() || chip_->memory().header(0).trigger_id == latch_id);
    if (collector.channel == test_.device() || truth_.IsLost(collector.channel)) continue;
    const auto block = BlockOfTime(collector.channel);
    if (block) RC_ASSERT(chip_->memory().header(static_cast<BlockId>(*block)).trigger_id == latch_id);
  }
}

void LawsRun::CheckHostHeaders() const {
  for (uint32_t slice = 0; test_.host_blocks && slice < test_.slices; ++slice) {
    const mailbox::BlockHeader& header = chip_->memory().header(static_cast<BlockId>(HostBlockOf(slice)));
    RC_ASSERT(header.vm == mailbox::kHypervisorVm);
    RC_ASSERT(header.context == slice);
    RC_ASSERT(header.generation == 1u);
    RC_ASSERT(header.state == (truth_.resident(slice) ? mailbox::BlockState::kIdle : mailbox::BlockState::kActive));
  }
}

void LawsRun::CheckTriggers() const {
  const ChipStats stats = chip_->stats();
  RC_ASSERT(stats.written_triggers == written_);
  RC_ASSERT(stats.external_triggers == external_);
  RC_ASSERT(stats.periodic_triggers == (test_.trigger_period == 0 ? 0 : chip_->now() / test_.trigger_period));
  RC_ASSERT(stats.grid_triggers == grid_fired_ + GridTriggers());
  RC_ASSERT(stats.switches == switch_costs_.size());
}

}  // namespace sideband::mcu
