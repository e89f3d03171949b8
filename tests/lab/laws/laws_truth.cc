// SPDX-License-Identifier: Apache-2.0
#include "tests/lab/laws/laws_truth.h"

#include <algorithm>

namespace sideband::mcu {
namespace {

bool Has(uint32_t vector, uint32_t group) { return (vector >> group & 1) != 0; }

bool Enables(const CaseValue& value, uint32_t group) {
  if (!value.master) return false;
  return !value.vector_enable || Has(value.vector, group);
}

bool Matches(const CaseMatch& match, uint32_t identifier) {
  if (!match.enable || identifier == 0) return true;
  return match.id == identifier;
}

}  // namespace

LawsGates::LawsGates(const LawsCase& test)
    : test_(test), vms_(test.vms), contexts_(test.contexts), selections_(test.selections) {
  for (uint32_t group = 0; group < test.groups.size(); ++group) {
    selectable_.push_back(EventsToSelectIn(test, group));
  }
  for (const CaseHost& host : test.hosts) {
    slices_.push_back({.tenant = {}, .global = host.value, .of_context = {}, .selected = SelectionOf({})});
  }
}

void LawsGates::Exit(uint32_t slice) {
  Slice& here = slices_[slice];
  if (!here.is_guest) return;
  CaseVm& vm = vms_[VmOf(*here.tenant)];
  if (vm.guest_store) vm.guest = here.global;
  if (vm.host_load) here.global = vm.host;
  here.is_guest = false;
}

void LawsGates::Enter(uint32_t slice) {
  Slice& here = slices_[slice];
  if (here.is_guest || !here.tenant) return;
  CaseVm& vm = vms_[VmOf(*here.tenant)];
  if (vm.host_store) vm.host = here.global;
  if (vm.guest_load) here.global = vm.guest;
  here.is_guest = true;
}

void LawsGates::Switch(uint32_t slice, std::optional<uint32_t> tenant) {
  Exit(slice);
  Slice& here = slices_[slice];
  const bool stays = here.tenant && tenant && VmOf(*here.tenant) == VmOf(*tenant);
  if (!stays) here.global = test_.hosts[slice].value;
  if (here.tenant && !IsVm(*here.tenant) && contexts_[*here.tenant].store) {
    contexts_[*here.tenant].value = here.of_context;
  }
  here.of_context = {};
  if (tenant && !IsVm(*tenant) && contexts_[*tenant].load) here.of_context = contexts_[*tenant].value;
  here.tenant = tenant;
  here.selected = SelectionOf(tenant);
  Enter(slice);
}

uint32_t LawsGates::SelectionOf(std::optional<uint32_t> tenant) const {
  const uint32_t number = tenant ? vms_[VmOf(*tenant)].selection : 0;
  return number < selections_.size() ? selections_[number] : 0;
}

void LawsGates::TurnSelections() {
  if (!selections_.empty()) std::rotate(selections_.begin(), selections_.begin() + 1, selections_.end());
  for (Slice& slice : slices_) slice.selected = SelectionOf(slice.tenant);
}

bool LawsGates::IsOpen(uint32_t slice, uint32_t group) const {
  const Slice& here = slices_[slice];
  const CaseGroup& of = test_.groups[group];
  if (!of.valid) return false;
  // A group of which nothing is selected does not run.
  if (selectable_[group] != 0 && (selectable_[group] & here.selected) == 0) return false;
  if (!here.is_guest) {
    return of.in_host && Matches(test_.hosts[slice].match, of.identifier) && Enables(here.global, group);
  }
  const CaseVm& vm = vms_[VmOf(*here.tenant)];
  if (!of.in_guest || !Matches(vm.match, of.identifier)) return false;
  if (Has(vm.pinned, group)) return true;
  return Enables(here.global, group) && Enables(here.of_context, group) && Has(vm.allowed, group);
}

LawsMmu::LawsMmu(const LawsCase& test) : roots_(test.slices) {
  for (uint32_t tenant = 0; tenant < kTenants; ++tenant) entries_.push_back(BlockOf(tenant));
}

// A context's commit needs its VM's block, too.
bool LawsMmu::Loses(uint32_t slice, uint32_t tenant) const {
  if (!roots_[slice]) return true;
  const uint32_t place = tenant % kPlacesOfVm, table = *roots_[slice] * kPlacesOfVm;
  return entries_[table + place] != BlockOf(tenant) || entries_[table] != BlockOf(tenant - place);
}

namespace {

constexpr uint64_t kPrescaledBy = 32;

void TakeFrom(EventCounts& sums, const EventCounts& less) {
  for (size_t i = 0; i < sums.size(); ++i) sums[i] -= less[i];
}

}  // namespace

void AddTo(EventCounts& sums, const EventCounts& more) {
  for (size_t i = 0; i < sums.size(); ++i) sums[i] += more[i];
}

LawsTruth::LawsTruth(const LawsCase& test)
    : test_(test),
      before_(kDomains, {0}),
      inputs_(test.slices + 1),
      domains_(test.slices + 1),
      switched_(test.slices + 1),
      gates_(test),
      mmu_(test),
      settled_(test.blocks(), EventCounts(test.events)),
      without_context_(kVms, EventCounts(test.events)),
      lost_(test.events) {
  for (uint32_t domain = 0; domain < kDomains; ++domain) {
    for (uint64_t cycle = 0; cycle < test.cycles(); ++cycle) {
      before_[domain].push_back(before_[domain].back() + EdgesIn(test, domain, cycle));
    }
  }
  for (const CaseCollector& collector : test.collectors) {
    for (const CaseUnit& unit : collector.units) {
      inputs_[collector.channel].insert(inputs_[collector.channel].end(), unit.inputs.begin(), unit.inputs.end());
      domains_[collector.channel].resize(inputs_[collector.channel].size(), unit.domain);
      switched_[collector.channel].resize(inputs_[collector.channel].size(), unit.is_switched());
    }
  }
  for (uint32_t channel = 0; channel <= test.slices; ++channel) {
    stays_.push_back({.channel = channel,
                      .tenant = {},
                      .sums = std::vector<uint64_t>(inputs_[channel].size()),
                      .passed = std::vector<uint64_t>(kDomains),
                      .lost = EventCounts(test.events),
                      .lost_since = {}});
  }
}

bool LawsTruth::HasCounter(const Stay& stay, size_t input) const {
  return !switched_[stay.channel][input] || gates_.IsSelected(stay.channel, inputs_[stay.channel][input].event);
}

// Device-scope units have no gate.
bool LawsTruth::IsOpen(const Stay& stay, const CaseInput& input) const {
  return stay.channel == test_.device() || input.group == 0 || gates_.IsOpen(stay.channel, input.group - 1);
}

void LawsTruth::AddCycle(Stay& stay, uint32_t domain, uint64_t cycle) {
  for (size_t i = 0; i < stay.sums.size(); ++i) {
    if (domains_[stay.channel][i] != domain) continue;
    const CaseInput& input = inputs_[stay.channel][i];
    if (!HasCounter(stay, i) || !IsOpen(stay, input)) continue;
    for (uint32_t digit = 0; digit < std::max(1u, input.digits); ++digit) {
      if (WireBit(test_, stay.channel, domain, input.wire + digit, cycle)) stay.sums[i] += uint64_t{1} << digit;
    }
  }
}

void LawsTruth::CountDomain(Stay& stay, uint32_t domain, uint64_t end) {
  for (uint64_t& cycle = stay.passed[domain]; cycle < end; ++cycle) {
    if (Counts(stay)) AddCycle(stay, domain, cycle);
  }
}

void LawsTruth::CountTo(uint64_t cycle) {
  for (; now_ < cycle; ++now_) {
    for (Stay& stay : stays_) {
      for (uint32_t domain = 0; domain < kDomains; ++domain) CountDomain(stay, domain, Before(domain, now_ + 1));
    }
  }
}

// On an idle slice nothing is counted, unless for the host: a held cycle belongs to a resident that arrives before the
// reference cycle ends.
void LawsTruth::CountWithinCycle() {
  for (Stay& stay : stays_) {
    if (!Counts(stay)) continue;
    for (uint32_t domain = 1; domain < kDomains; ++domain) {
      CountDomain(stay, domain, Before(domain, now_) + EdgesHeldIn(test_, domain, now_));
    }
  }
}

EventCounts LawsTruth::Of(const Stay& stay) const {
  EventCounts counts(test_.events);
  for (size_t i = 0; i < stay.sums.size(); ++i) AddInput(stay, i, counts);
  return counts;
}

EventCounts LawsTruth::LostOf(const Stay& stay) const {
  EventCounts lost = stay.lost;
  if (!stay.lost_since) return lost;
  AddTo(lost, Of(stay));
  TakeFrom(lost, *stay.lost_since);
  return lost;
}

EventCounts LawsTruth::ArrivedOf(const Stay& stay) const {
  EventCounts arrived = Of(stay);
  TakeFrom(arrived, LostOf(stay));
  return arrived;
}

void LawsTruth::FollowMmu(Stay& stay) const {
  const bool is_lost = stay.tenant && mmu_.Loses(stay.channel, *stay.tenant);
  if (is_lost == stay.lost_since.has_value()) return;
  stay.lost = LostOf(stay);
  stay.lost_since = is_lost ? std::optional(Of(stay)) : std::nullopt;
}

void LawsTruth::AddInput(const Stay& stay, size_t i, EventCounts& counts) const {
  const CaseInput& input = inputs_[stay.channel][i];
  if (input.masked) return;
  const uint64_t sum = input.digits == 0 ? stay.sums[i] : stay.sums[i] / kPrescaledBy;
  counts[input.event] += sum << input.shift;
}

bool LawsTruth::Touches(const Stay& stay, size_t block) const {
  if (block == 0) return Counts(stay) && !IsPrivate(stay);
  if (!stay.tenant) return block == HostBlockOf(stay.channel) && stay.channel != test_.device();
  if (block >= HostBlockOf(0)) return false;
  const auto tenant = static_cast<uint32_t>(block - 1);
  // A VM's block includes its contexts.
  return stay.tenant == tenant || (IsVm(tenant) && VmOf(*stay.tenant) == VmOf(tenant));
}

void LawsTruth::Switch(uint32_t slice, std::optional<uint32_t> tenant) {
  Stay& stay = stays_[slice];
  for (size_t block = 0; block < settled_.size(); ++block) {
    if (Touches(stay, block)) AddTo(settled_[block], block == 0 ? Of(stay) : ArrivedOf(stay));
  }
  if (stay.tenant && IsVm(*stay.tenant)) AddTo(without_context_[VmOf(*stay.tenant)], ArrivedOf(stay));
  if (!IsPrivate(stay)) AddTo(lost_, LostOf(stay));
  std::fill(stay.sums.begin(), stay.sums.end(), 0);
  std::fill(stay.lost.begin(), stay.lost.end(), 0);
  stay.lost_since.reset();
  stay.tenant = tenant;
  gates_.Switch(slice, tenant);
  mmu_.Switch(slice, tenant);
  FollowMmu(stay);
}

bool LawsTruth::IsResident(uint32_t tenant) const {
  return std::any_of(stays_.begin(), stays_.end(),
                     [&](const Stay& stay) { return stay.tenant && Touches(stay, BlockOf(tenant)); });
}

EventCounts LawsTruth::Block(size_t block) const {
  EventCounts counts = settled_[block];
  for (const Stay& stay : stays_) {
    if (Touches(stay, block)) AddTo(counts, block == 0 ? Of(stay) : ArrivedOf(stay));
  }
  return counts;
}

EventCounts LawsTruth::Lost() const {
  EventCounts lost = lost_;
  for (const Stay& stay : stays_) {
    if (!IsPrivate(stay)) AddTo(lost, LostOf(stay));
  }
  return lost;
}

EventCounts LawsTruth::WithoutContext(uint32_t vm) const {
  EventCounts counts = without_context_[vm];
  for (const Stay& stay : stays_) {
    if (stay.tenant == vm * kPlacesOfVm) AddTo(counts, ArrivedOf(stay));
  }
  return counts;
}

}  // namespace sideband::mcu
