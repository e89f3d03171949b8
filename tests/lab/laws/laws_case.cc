// SPDX-License-Identifier: Apache-2.0
#include "tests/lab/laws/laws_case.h"

#include <algorithm>
#include <bitset>
#include <initializer_list>
#include <vector>

namespace sideband::mcu {
namespace {

namespace gen = rc::gen;

// Uniform from `low` to `high`, independent of the generator's size.
rc::Gen<uint32_t> From(uint32_t low, uint32_t high) {
  return gen::resize(rc::kNominalSize, gen::inRange<uint32_t>(low, high + 1));
}

// Usually few elements, sometimes many.
template <typename T>
rc::Gen<std::vector<T>> Some(double few, double many, const rc::Gen<T>& element) {
  const auto elements = gen::container<std::vector<T>>(gen::resize(rc::kNominalSize, element));
  return gen::weightedOneOf<std::vector<T>>({{8, gen::scale(few, elements)}, {1, gen::scale(many, elements)}});
}

// A period in cycles: 0 (none), 1, up to 12, or up to 900.
rc::Gen<uint32_t> Period() {
  return gen::weightedOneOf<uint32_t>({{2, gen::just(0u)}, {1, gen::just(1u)}, {3, From(1, 12)}, {3, From(1, 900)}});
}

rc::Gen<CaseInput> Input() {
  return gen::build<CaseInput>(
      gen::set(&CaseInput::wire, From(0, kWires - 1)), gen::set(&CaseInput::event, From(0, 7)),
      gen::set(&CaseInput::shift, gen::weightedOneOf<uint32_t>({{3, gen::just(0u)}, {1, From(0, 31)}})),
      gen::set(&CaseInput::digits, gen::weightedOneOf<uint32_t>({{5, gen::just(0u)}, {1, From(0, 5)}})),
      gen::set(&CaseInput::masked, gen::map(From(0, 7), [](uint32_t n) { return n == 7; })),
      gen::set(&CaseInput::group, From(0, kGroups)));
}

rc::Gen<bool> Often() {
  return gen::map(From(0, 3), [](uint32_t n) { return n > 0; });
}

rc::Gen<uint32_t> Vector() { return From(0, (1u << kGroups) - 1); }

rc::Gen<CaseGroup> Group() {
  return gen::build<CaseGroup>(gen::set(&CaseGroup::identifier, From(0, 2)), gen::set(&CaseGroup::valid, Often()),
                               gen::set(&CaseGroup::in_guest, Often()), gen::set(&CaseGroup::in_host));
}

rc::Gen<std::vector<CaseGroup>> Groups() {
  return gen::weightedOneOf<std::vector<CaseGroup>>(
      {{1, gen::just(std::vector<CaseGroup>())}, {2, gen::container<std::vector<CaseGroup>>(kGroups, Group())}});
}

rc::Gen<CaseValue> Value() {
  return gen::build<CaseValue>(gen::set(&CaseValue::master, Often()), gen::set(&CaseValue::vector_enable),
                               gen::set(&CaseValue::vector, Vector()));
}

rc::Gen<CaseMatch> Match() {
  return gen::build<CaseMatch>(gen::set(&CaseMatch::enable), gen::set(&CaseMatch::id, From(0, 2)));
}

rc::Gen<CaseVm> Vm() {
  return gen::build<CaseVm>(gen::set(&CaseVm::guest, Value()), gen::set(&CaseVm::host, Value()),
                            gen::set(&CaseVm::guest_load), gen::set(&CaseVm::host_load), gen::set(&CaseVm::guest_store),
                            gen::set(&CaseVm::host_store), gen::set(&CaseVm::match, Match()),
                            gen::set(&CaseVm::allowed, Vector()), gen::set(&CaseVm::selection, From(0, kSelections)),
                            gen::set(&CaseVm::is_private, gen::map(Often(), [](bool often) { return !often; })),
                            gen::set(&CaseVm::pinned, gen::map(Vector(), [](uint32_t n) { return n & n >> 1; })));
}

rc::Gen<CaseContext> Context() {
  return gen::build<CaseContext>(gen::set(&CaseContext::value, Value()), gen::set(&CaseContext::load),
                                 gen::set(&CaseContext::store));
}

rc::Gen<CaseHost> Host() {
  return gen::build<CaseHost>(gen::set(&CaseHost::value, Value()), gen::set(&CaseHost::match, Match()));
}

// Few events each, so that units need fewer counters than they have inputs.
rc::Gen<std::vector<uint32_t>> DrawnSelections() {
  const auto few = gen::map(gen::pair(From(0, 255), From(0, 255)), [](auto sets) { return sets.first & sets.second; });
  return gen::weightedOneOf<std::vector<uint32_t>>(
      {{1, gen::just(std::vector<uint32_t>())}, {2, gen::container<std::vector<uint32_t>>(kSelections, few)}});
}

rc::Gen<CaseUnit> Unit() {
  return gen::build<CaseUnit>(
      gen::set(&CaseUnit::domain, gen::weightedOneOf<uint32_t>({{3, gen::just(0u)}, {2, From(0, kDomains - 1)}})),
      gen::set(&CaseUnit::counter_bits, From(1, 9)),
      gen::set(&CaseUnit::period,
               gen::weightedOneOf<uint32_t>({{1, gen::just(1u)}, {2, From(1, 9)}, {3, From(1, 511)}})),
      gen::set(&CaseUnit::lanes, gen::weightedOneOf<uint32_t>({{2, gen::just(1u)}, {1, From(1, 512)}})),
      gen::set(&CaseUnit::inputs, Some(0.05, 0.6, Input())), gen::set(&CaseUnit::wants_selections, Often()));
}

rc::Gen<CaseCollector> Collector() {
  return gen::build<CaseCollector>(
      gen::set(&CaseCollector::channel, From(0, 11)),
      gen::set(&CaseCollector::threshold,
               gen::weightedOneOf<uint32_t>(
                   {{2, gen::just(0u)}, {2, gen::just(1u << 27)}, {2, From(1, 10)}, {2, From(1, 3000)}})),
      gen::set(&CaseCollector::units, Some(0.03, 0.08, Unit())));
}

rc::Gen<CaseClock> Clock() {
  return gen::build<CaseClock>(
      gen::set(&CaseClock::kind, From(CaseClock::kEven, CaseClock::kBursts)), gen::set(&CaseClock::edges, From(0, 7)),
      gen::set(&CaseClock::cycles, From(1, 9)), gen::set(&CaseClock::stop, From(0, 1000)),
      gen::set(&CaseClock::stopped, gen::weightedOneOf<uint32_t>({{3, gen::just(0u)}, {1, From(0, 1000)}})));
}

rc::Gen<CaseAct> Act() {
  return gen::build<CaseAct>(
      gen::set(&CaseAct::gap, gen::weightedOneOf<uint32_t>(
                                  {{2, gen::just(0u)}, {2, gen::just(1u)}, {3, From(0, 12)}, {2, From(0, 250)}})),
      gen::set(&CaseAct::stride,
               gen::weightedOneOf<uint32_t>({{2, gen::just(0u)}, {1, gen::just(1u)}, {1, From(1, 30)}})),
      gen::set(&CaseAct::kind, gen::weightedElement<uint32_t>({{12, CaseAct::kSwitch},
                                                               {2, CaseAct::kLatch},
                                                               {2, CaseAct::kWrittenTrigger},
                                                               {2, CaseAct::kExternalTrigger},
                                                               {1, CaseAct::kTriggerGrid},
                                                               {2, CaseAct::kWithinCycle},
                                                               {2, CaseAct::kEnd},
                                                               {1, CaseAct::kSelect},
                                                               {4, CaseAct::kExit},
                                                               {4, CaseAct::kEntry},
                                                               {2, CaseAct::kWrite},
                                                               {1, CaseAct::kWriteContext},
                                                               {2, CaseAct::kBindVm},
                                                               {2, CaseAct::kSpoilEntry}})),
      gen::set(&CaseAct::slice, From(0, 3)), gen::set(&CaseAct::tenant, From(0, kTenants + 1)),
      gen::set(&CaseAct::value, Value()));
}

constexpr uint32_t kFramingBits = 2;
constexpr uint32_t kCountersMax = 45;
constexpr uint32_t kSourcesMax = 64;

// A hash of the numbers, with the finaliser of SplitMix64.
uint64_t Mixed(std::initializer_list<uint64_t> numbers) {
  uint64_t state = 0x9E3779B97F4A7C15;
  for (const uint64_t number : numbers) {
    state = (state ^ number) + 0x9E3779B97F4A7C15;
    state = (state ^ state >> 30) * 0xBF58476D1CE4E5B9;
    state = (state ^ state >> 27) * 0x94D049BB133111EB;
    state ^= state >> 31;
  }
  return state;
}

void Normalise(CaseUnit& unit, uint32_t events, size_t groups) {
  unit.domain %= kDomains;
  unit.counter_bits = std::clamp(unit.counter_bits, 1u, 9u);
  unit.period = std::clamp(unit.period, 1u, (1u << unit.counter_bits) - 1);
  if (unit.inputs.empty()) unit.inputs.emplace_back();
  unit.inputs.resize(std::min<size_t>(unit.inputs.size(), kSourcesMax));
  for (CaseInput& input : unit.inputs) {
    input.wire %= kWires;
    input.event %= events;
    input.shift %= 32;
    input.digits %= 6;
    input.group %= groups + 1;
  }
}

// Enough lanes for a frame to be sent within a period.
void NormaliseLanes(CaseUnit& unit) {
  const auto counters = std::min(unit.counters, static_cast<uint32_t>(unit.inputs.size()));
  const uint32_t bits = kFramingBits + counters * unit.counter_bits;
  unit.lanes = std::clamp(unit.lanes, (bits + unit.period - 1) / unit.period, 512u);
}

bool IsSelected(uint32_t selection, uint32_t event) { return (selection >> event & 1) != 0; }

uint32_t CountersFor(const CaseUnit& unit, uint32_t selection) {
  return static_cast<uint32_t>(std::ranges::count_if(
      unit.inputs, [&](const CaseInput& input) { return !input.masked && IsSelected(selection, input.event); }));
}

template <typename Visitor>
void ForEachUnitOfSlices(LawsCase& test, const Visitor& visit) {
  for (CaseCollector& collector : test.collectors) {
    for (CaseUnit& unit : collector.units) {
      if (collector.channel != test.device()) visit(unit);
    }
  }
}

// All events of a group or none, until that holds for all groups.
uint32_t WithWholeGroups(const LawsCase& test, uint32_t selection) {
  for (uint32_t before = ~selection; before != selection;) {
    before = selection;
    for (uint32_t group = 0; group < test.groups.size(); ++group) {
      const uint32_t events = EventsToSelectIn(test, group);
      if ((selection & events) != 0) selection |= events;
    }
  }
  return selection;
}

// First as if units that want selections had no counter at all, then with as many as the selections need.
void NormaliseSelections(LawsCase& test) {
  test.selections.resize(std::min<size_t>(test.selections.size(), kSelections));
  ForEachUnitOfSlices(test, [&](CaseUnit& unit) {
    unit.wants_selections = unit.wants_selections && !test.selections.empty();
    unit.counters = unit.wants_selections ? 0 : kCountersMax;
    if (!unit.wants_selections) unit.inputs.resize(std::min<size_t>(unit.inputs.size(), kCountersMax));
  });
  for (uint32_t& selection : test.selections) {
    selection = WithWholeGroups(test, selection & EventsToSelect(test));
  }
  ForEachUnitOfSlices(test, [&](CaseUnit& unit) {
    if (!unit.wants_selections) return;
    unit.counters = 1;
    for (const uint32_t selection : test.selections) {
      unit.counters = std::max(unit.counters, CountersFor(unit, selection));
    }
    if (unit.counters <= kCountersMax) return;
    unit.counters = kCountersMax;
    unit.inputs.resize(kCountersMax);
  });
  for (uint32_t& selection : test.selections) selection &= EventsToSelect(test);
}

void Normalise(CaseCollector& collector, const LawsCase& test) {
  collector.channel %= test.slices + 1;
  if (collector.units.empty()) collector.units.emplace_back();
  for (CaseUnit& unit : collector.units) {
    Normalise(unit, test.events, test.groups.size());
    if (collector.channel != test.device()) continue;
    unit.wants_selections = false;
    unit.counters = kCountersMax;
    unit.inputs.resize(std::min<size_t>(unit.inputs.size(), kCountersMax));
  }
}

void Shorten(LawsCase& test) {
  // All acts and the rest together take at most kCaseCyclesMax cycles.
  uint64_t left = kCaseCyclesMax;
  for (CaseAct& act : test.acts) {
    act.gap = static_cast<uint32_t>(std::min<uint64_t>(act.gap, left));
    left -= act.gap;
    act.slice %= test.slices;
    if (!test.faults && act.kind >= CaseAct::kBindVm) act.kind = CaseAct::kLatch;
  }
  test.rest = static_cast<uint32_t>(std::min<uint64_t>(test.rest, left));
}

std::ostream& operator<<(std::ostream& out, const CaseValue& value) {
  return out << "{master " << value.master << ", vector " << value.vector_enable << " " << value.vector << "}";
}

std::ostream& operator<<(std::ostream& out, const CaseMatch& match) {
  return match.enable ? out << "only " << match.id : out << "any";
}

void PrintGates(std::ostream& out, const LawsCase& test) {
  for (const CaseGroup& group : test.groups) {
    out << "  group of " << group.identifier << ": valid " << group.valid << ", guest " << group.in_guest << ", host "
        << group.in_host << "\n";
  }
  for (const CaseVm& vm : test.vms) {
    out << "  VM: guest " << vm.guest << ", host " << vm.host << ", loads " << vm.guest_load << vm.host_load
        << ", stores " << vm.guest_store << vm.host_store << ", ids " << vm.match << ", allowed " << vm.allowed
        << ", pinned " << vm.pinned << ", selection " << vm.selection << "\n";
  }
  for (const CaseContext& context : test.contexts) {
    out << "  context: " << context.value << ", load " << context.load << ", store " << context.store << "\n";
  }
  for (const CaseHost& host : test.hosts) out << "  host: " << host.value << ", ids " << host.match << "\n";
}

std::ostream& operator<<(std::ostream& out, const CaseUnit& unit) {
  out << "    unit: domain " << unit.domain << ", " << unit.counter_bits << " bits, period " << unit.period << ", "
      << unit.lanes << " lanes";
  out << (unit.is_switched() ? ", switched\n" : "\n");
  for (const CaseInput& input : unit.inputs) {
    out << "      wire " << input.wire << " to event " << input.event << " << " << input.shift;
    if (input.digits > 0) out << ", number of " << input.digits << " digits";
    if (input.group > 0) out << ", group " << input.group - 1;
    out << (input.masked ? ", masked\n" : "\n");
  }
  return out;
}

std::ostream& operator<<(std::ostream& out, const CaseAct& act) {
  static constexpr const char* kNames[] = {
      "switch", "latch", "written trigger", "external trigger", "trigger grid", "within cycle", "end", "select",
      "exit",   "entry", "write",           "write context",    "bind VM",      "spoil entry"};
  out << "  +" << act.gap << " (steps of " << act.stride << ") " << kNames[act.kind];
  if (act.kind >= CaseAct::kExit) out << " slice " << act.slice;
  const bool has_value = act.kind >= CaseAct::kWrite && act.kind != CaseAct::kBindVm;
  if (has_value) out << " " << act.value;
  if (act.kind == CaseAct::kSwitch) out << " slice " << act.slice << " to";
  if (act.kind == CaseAct::kTriggerGrid) out << " of " << act.tenant << " cycles";
  const bool has_tenant = act.kind == CaseAct::kSwitch || act.kind == CaseAct::kEnd || act.kind >= CaseAct::kBindVm;
  if (!has_tenant) return out << "\n";
  return act.tenant < kTenants ? out << " tenant " << act.tenant << "\n" : out << " nobody\n";
}

}  // namespace

rc::Gen<LawsCase> AnyCase() {
  const auto latency = gen::weightedOneOf<uint32_t>({{2, gen::just(1u)}, {2, From(1, 12)}, {1, From(1, 150)}});
  return gen::map(
      gen::build<LawsCase>(
          gen::set(&LawsCase::seed, gen::arbitrary<uint32_t>()), gen::set(&LawsCase::slices, From(1, 3)),
          gen::set(&LawsCase::events, From(1, 6)), gen::set(&LawsCase::collectors, Some(0.04, 0.08, Collector())),
          gen::set(&LawsCase::clocks, gen::container<std::vector<CaseClock>>(kDomains - 1, Clock())),
          gen::set(&LawsCase::trigger_period, Period()), gen::set(&LawsCase::commit_period, Period()),
          gen::set(&LawsCase::hypervisor_commit_period, Period()),
          gen::set(&LawsCase::out_of_band_commit_period, Period()), gen::set(&LawsCase::buffer_depth, From(1, 4)),
          gen::set(&LawsCase::record_cycles, latency), gen::set(&LawsCase::route_cycles, latency),
          gen::set(&LawsCase::grant_cycles, latency), gen::set(&LawsCase::switch_step_cycles, From(0, 20)),
          gen::set(&LawsCase::hop_cycles, From(1, 4)), gen::set(&LawsCase::lookup_cycles, From(1, 16)),
          gen::set(&LawsCase::groups, Groups()), gen::set(&LawsCase::gate_cycles, From(1, 4)),
          gen::set(&LawsCase::vms, gen::container<std::vector<CaseVm>>(kVms, Vm())),
          gen::set(&LawsCase::contexts, gen::container<std::vector<CaseContext>>(kTenants, Context())),
          gen::set(&LawsCase::hosts, gen::container<std::vector<CaseHost>>(4, Host())),
          gen::set(&LawsCase::host_blocks), gen::set(&LawsCase::selections, DrawnSelections()),
          gen::set(&LawsCase::window, gen::weightedOneOf<uint32_t>({{2, gen::just(0u)}, {1, From(1, 400)}})),
          gen::set(&LawsCase::faults, gen::map(From(0, 3), [](uint32_t n) { return n == 3; })),
          gen::set(&LawsCase::acts, Some(0.5, 1.0, Act())), gen::set(&LawsCase::rest, From(0, 300))),
      Normalised);
}

uint64_t LawsCase::cycles() const {
  uint64_t sum = rest;
  for (const CaseAct& act : acts) sum += act.gap;
  return sum;
}

LawsCase Normalised(LawsCase test) {
  test.slices = std::clamp(test.slices, 1u, 4u);
  test.events = std::clamp(test.events, 1u, 8u);
  test.groups.resize(std::min<size_t>(test.groups.size(), kGroups));
  test.gate_cycles = std::max(1u, test.gate_cycles);
  test.vms.resize(kVms);
  test.contexts.resize(kTenants);
  test.hosts.resize(test.slices);
  if (test.collectors.empty()) test.collectors.emplace_back();
  for (CaseCollector& collector : test.collectors) Normalise(collector, test);
  NormaliseSelections(test);
  for (CaseCollector& collector : test.collectors) {
    for (CaseUnit& unit : collector.units) NormaliseLanes(unit);
  }
  test.clocks.resize(kDomains - 1);
  for (CaseClock& clock : test.clocks) clock.cycles = std::max(1u, clock.cycles);
  for (uint32_t* latency : {&test.buffer_depth, &test.record_cycles, &test.route_cycles, &test.grant_cycles,
                            &test.hop_cycles, &test.lookup_cycles}) {
    *latency = std::max(1u, *latency);
  }
  Shorten(test);
  return test;
}

uint32_t EventsToSelect(const LawsCase& test) {
  uint32_t events = 0;
  for (const CaseCollector& collector : test.collectors) {
    for (const CaseUnit& unit : collector.units) {
      if (!unit.is_switched()) continue;
      for (const CaseInput& input : unit.inputs) events |= input.masked ? 0 : 1u << input.event;
    }
  }
  return events;
}

uint32_t EventsToSelectIn(const LawsCase& test, uint32_t group) {
  uint32_t events = 0;
  for (const CaseCollector& collector : test.collectors) {
    for (const CaseUnit& unit : collector.units) {
      if (!unit.is_switched()) continue;
      for (const CaseInput& input : unit.inputs) {
        if (!input.masked && input.group == group + 1) events |= 1u << input.event;
      }
    }
  }
  return events;
}

uint64_t SliceEvents(const LawsCase& test) {
  uint64_t events = 0;
  for (const CaseCollector& collector : test.collectors) {
    if (collector.channel == test.device()) continue;
    for (const CaseUnit& unit : collector.units) {
      for (const CaseInput& input : unit.inputs) events |= input.masked ? 0 : uint64_t{1} << input.event;
    }
  }
  return events;
}

// Wires differ in activity: always 1, seldom (or never), 1 in 8, 7 in 8, 1 in 2, in runs.
bool WireBit(const LawsCase& test, uint32_t channel, uint32_t domain, uint32_t wire, uint64_t cycle) {
  const uint64_t character = Mixed({test.seed, channel, domain, wire});
  const uint64_t drawn = Mixed({character, cycle});
  switch (character % 6) {
    case 0:
      return true;
    case 1:
      return character / 6 % 4 != 0 && drawn % 97 == 0;
    case 2:
      return drawn % 8 == 0;
    case 3:
      return drawn % 8 != 0;
    case 4:
      return drawn % 2 == 0;
    default:
      return (cycle + character % 101) / (1 + character / 101 % 40) % 2 == 0;
  }
}

uint32_t EdgesIn(const LawsCase& test, uint32_t domain, uint64_t cycle) {
  if (domain == 0) return 1;
  const CaseClock& clock = test.clocks[domain - 1];
  if (cycle >= clock.stop && cycle - clock.stop < clock.stopped) return 0;
  const uint64_t drawn = Mixed({test.seed, domain, cycle});
  switch (clock.kind) {
    case CaseClock::kRandom:
      return static_cast<uint32_t>(drawn % (clock.edges + 1));
    case CaseClock::kBursts:
      return drawn % 16 == 0 ? static_cast<uint32_t>(drawn / 16 % (8 * clock.edges + 1)) : 0;
    default:
      return static_cast<uint32_t>((cycle + 1) * clock.edges / clock.cycles - cycle * clock.edges / clock.cycles);
  }
}

uint32_t EdgesHeldIn(const LawsCase& test, uint32_t domain, uint64_t cycle) {
  if (domain == 0) return 0;  // its only edge ends the cycle
  return static_cast<uint32_t>(Mixed({test.seed, domain, cycle, 1}) % (EdgesIn(test, domain, cycle) + 1));
}

std::ostream& operator<<(std::ostream& out, const LawsCase& test) {
  out << "seed " << test.seed << ", " << test.slices << " slices, " << test.events << " events, " << test.cycles()
      << " cycles\n  periods: trigger " << test.trigger_period << ", commit " << test.commit_period << ", hypervisor "
      << test.hypervisor_commit_period << ", out of band " << test.out_of_band_commit_period << "\n  buffer "
      << test.buffer_depth << ", record " << test.record_cycles << ", route " << test.route_cycles << ", grant "
      << test.grant_cycles << ", step " << test.switch_step_cycles << ", hop " << test.hop_cycles << ", lookup "
      << test.lookup_cycles << ", window " << test.window << (test.host_blocks ? ", host blocks\n" : "\n");
  for (const CaseClock& clock : test.clocks) {
    out << "  clock kind " << clock.kind << ": " << clock.edges << " edges in " << clock.cycles << ", none in ["
        << clock.stop << ", +" << clock.stopped << ")\n";
  }
  for (const CaseCollector& collector : test.collectors) {
    out << "  collector of channel " << collector.channel << ", threshold " << collector.threshold << "\n";
    for (const CaseUnit& unit : collector.units) out << unit;
  }
  if (!test.groups.empty()) PrintGates(out, test);
  for (uint32_t vm = 0; vm < test.vms.size(); ++vm) {
    if (test.vms[vm].is_private) out << "  VM " << 1 + vm << " is private\n";
  }
  for (const uint32_t selection : test.selections) out << "  selection of events " << std::bitset<8>(selection) << "\n";
  for (const CaseAct& act : test.acts) out << act;
  return out << "  +" << test.rest << " the end\n";
}

}  // namespace sideband::mcu
