// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "tests/lab/laws/laws_case.h"

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

}  // namespace sideband::mcu
