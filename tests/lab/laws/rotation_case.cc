// SPDX-License-Identifier: Apache-2.0
#include "tests/lab/laws/rotation_case.h"

#include <algorithm>
#include <numeric>
#include <random>
#include <utility>

namespace sideband::mcu {
namespace {

constexpr uint32_t kFullDigits = 3, kPrescaledNumberDigits = 4;
constexpr sim::WireId kNumberWire = kStates, kPrescaledWire = kNumberWire + kFullDigits;
constexpr sim::WireId kSingleWires = kPrescaledWire + kPrescaledNumberDigits;

sim::WireId WireOf(uint16_t event) { return kSingleWires + event - kSubsetEvent; }
uint16_t FixedEvent(const RotationCase& test) { return static_cast<uint16_t>(test.events - 1); }

uint16_t FirstRunningEvent(const RotationCase& test) { return static_cast<uint16_t>(test.events); }
uint16_t FirstDeviceEvent(const RotationCase& test) {
  return static_cast<uint16_t>(test.events + (test.has_gates ? kCaseGroups : 0));
}

// Events behind a gate, and the running cycles of the gates themselves.
std::optional<uint8_t> GroupOf(const RotationCase& test, uint16_t event) {
  if (!test.has_gates || event < kPrescaledEvent || event == FixedEvent(test)) return std::nullopt;
  if (event < test.events) return event <= kLastOfFirstGroup ? 0 : 1;
  if (event < FirstDeviceEvent(test)) return static_cast<uint8_t>(event - FirstRunningEvent(test));
  return std::nullopt;
}

std::vector<CounterInput> UngatedInputsOf(uint16_t event) {
  if (event == kNumberEvent) return NumberInputs(kNumberWire, kFullDigits, event, false);
  if (event == kPrescaledEvent) return NumberInputs(kPrescaledWire, kPrescaledNumberDigits, event, true);
  const sim::WireId wire = event < kStates ? event : WireOf(event);
  return {{.wire = wire, .meaning = {event, 0}}};
}

std::vector<CounterInput> InputsOf(const RotationCase& test, uint16_t event) {
  std::vector<CounterInput> inputs = UngatedInputsOf(event);
  for (CounterInput& input : inputs) input.group = GroupOf(test, event);
  return inputs;
}

UlcSpec UnitOf(const RotationCase& test, const std::string& name, uint32_t counters) {
  return {.name = name, .inputs = {}, .period = test.period, .lanes = 1, .counters = counters};
}

// A frame is sent within a period.
void ChooseLanes(const RotationCase& test, UlcSpec& unit) {
  const uint32_t bits = UnitLevelCounter::FrameBits(CounterConfig(unit));
  unit.lanes = std::clamp(test.lanes, (bits + test.period - 1) / test.period, 512u);
}

// The fixed event is of the first unit; the others are dealt. The clock is counted alone: running cycles of each gate
// have a unit of their own.
std::vector<UlcSpec> UnitsOf(const RotationCase& test) {
  std::vector<UlcSpec> units;
  for (uint32_t i = 0; i < test.units; ++i) units.push_back(UnitOf(test, "unit" + std::to_string(i), test.counters));
  for (uint16_t event = 0; event < test.events; ++event) {
    UlcSpec& unit = units[event == FixedEvent(test) || event < kStates ? 0 : event % test.units];
    for (const CounterInput& input : InputsOf(test, event)) unit.inputs.push_back(input);
  }
  for (uint8_t group = 0; test.has_gates && group < kCaseGroups; ++group) {
    const auto event = static_cast<uint16_t>(FirstRunningEvent(test) + group);
    UlcSpec& running = units.emplace_back(UnitOf(test, "running" + std::to_string(group), kUlcCountersMax));
    running.inputs.push_back({.wire = kGatedClockWire, .meaning = {event, 0}, .group = group});
  }
  for (UlcSpec& unit : units) ChooseLanes(test, unit);
  return units;
}

CcuSpec DeviceUnits(const RotationCase& test) {
  UlcSpec unit = UnitOf(test, "device", test.counters < kUlcCountersMax ? kDeviceCounters : kUlcCountersMax);
  for (uint16_t i = 0; i < kDeviceEvents; ++i) {
    const auto event = static_cast<uint16_t>(FirstDeviceEvent(test) + i);
    unit.inputs.push_back({.wire = WireOf(static_cast<uint16_t>(kSubsetEvent + i)), .meaning = {event, 0}});
  }
  ChooseLanes(test, unit);
  return {.name = "device.ccu0", .channel = kDeviceChannel, .ulcs = {unit}, .threshold = test.threshold};
}

std::vector<mailbox::Relation> RelationsOf(const RotationCase& test) {
  if (!test.has_relations) return {};
  return {{.kind = mailbox::Relation::Kind::kCycles, .members = {0, 1, 2, 3}},
          {.kind = mailbox::Relation::Kind::kAtMost, .members = {kSupersetEvent}, .whole = kSubsetEvent}};
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const RotationCase& test) {
  out << test.events << " events, " << test.units << " units of " << test.counters << " counters, period "
      << test.period << ", " << test.lanes << " lanes, threshold " << test.threshold << ", " << test.slices
      << " slices, slot " << test.slot << ", dead " << test.dead_cycles << ", seed " << test.seed << ", wires "
      << test.wires_seed << " and " << test.wires_seed_of_others << ", relations " << test.has_relations
      << ", triggers " << test.trigger_period << ", commits " << test.commit_period << ", depth " << test.buffer_depth
      << ", cycles " << test.cycles << ", stable slot " << test.stable_slot << ", adapt " << test.adapt
      << ", instructions " << test.tells_instructions << ", interval " << test.interval << ", per mille "
      << test.threshold_per_mille << ", step " << test.step << ", two-set " << test.is_two_set << " of "
      << test.sets_per_pass << ", last pass " << test.has_pass << ", gates " << test.has_gates << ", host blocks "
      << test.has_host_blocks << ", device units " << test.has_device_units << ", private VM " << test.private_vm
      << ", plan of VM " << test.planned_vm << ": events " << test.planned_events << ", slot " << test.planned_slot
      << ", adapt " << test.plan_adapts << "; turns";
  for (const RotationTurn& turn : test.turns) {
    out << " " << turn.cycle << ":"
        << "sxewc"[turn.kind] << turn.slice << ":" << turn.value;
    if (turn.resident) out << "=" << turn.resident->first << "/" << turn.resident->second;
  }
  return out;
}

namespace {

// How turns are made.
void DrawSettings(RotationCase& test) {
  test.stable_slot = *rc::gen::element<uint64_t>(1, 2, 3) * test.slot;
  test.tells_instructions = *rc::gen::arbitrary<bool>();
  test.interval = 8 * test.period + *rc::gen::inRange<uint64_t>(0, 300);
  test.threshold_per_mille = *rc::gen::element<uint32_t>(0, 50, 200, 1000);
  test.step = *rc::gen::inRange<uint32_t>(1, 5);
  test.is_two_set = *rc::gen::element(false, false, true);
  test.adapt = !test.is_two_set && *rc::gen::arbitrary<bool>();
  test.sets_per_pass = *rc::gen::element<uint32_t>(0, 2, 2, 3);
  test.has_pass = *rc::gen::arbitrary<bool>();
}

// Draws the parts that a chip may have beside a slice, a plan and contexts.
void DrawKinds(RotationCase& test) {
  test.slices = *rc::gen::element<uint32_t>(1, 1, 2, 3);
  test.has_gates = *rc::gen::arbitrary<bool>();
  test.has_host_blocks = *rc::gen::element(false, false, true);
  test.has_device_units = *rc::gen::element(false, false, true);
  test.private_vm = *rc::gen::element<uint16_t>(0, 0, 1, 2);
  test.planned_vm = *rc::gen::element<uint16_t>(0, 1, 2);
  test.planned_events = *rc::gen::arbitrary<uint32_t>() | *rc::gen::arbitrary<uint32_t>();
  test.planned_slot = 8 * test.period + *rc::gen::inRange<uint64_t>(0, 300);
  test.plan_adapts = *rc::gen::arbitrary<bool>();
}

void DrawUnits(RotationCase& test) {
  test.events = *rc::gen::inRange<uint32_t>(9, 24);
  test.counters = *rc::gen::inRange<uint32_t>(5, 16);
  test.units = *rc::gen::inRange<uint32_t>(1, 3);
  test.period = *rc::gen::oneOf(rc::gen::inRange<uint32_t>(1, 40), rc::gen::inRange<uint32_t>(1, 40),
                                rc::gen::inRange<uint32_t>(1, kUlcPeriodMax + 1));
  test.lanes = *rc::gen::oneOf(rc::gen::just(1u), rc::gen::inRange<uint32_t>(1, 513));
  test.threshold = *rc::gen::oneOf(rc::gen::just(kCcuThresholdDefault), rc::gen::inRange<uint32_t>(1, 3000));
}

// Slots are many enough that epochs close, and shares change.
void MakeLong(RotationCase& test) {
  test.cycles = kLongRotationCycles;
  test.period = *rc::gen::inRange<uint32_t>(2, 4);
  test.slot = 8 * test.period + *rc::gen::inRange<uint64_t>(0, 20);
}

std::optional<RotationScope> AnyResident() {
  const auto who = *rc::gen::inRange<uint16_t>(0, 6);
  if (who < 3) return RotationScope{1, who == 2 ? mailbox::kNoContext : who};
  if (who < 5) return RotationScope{2, who == 4 ? mailbox::kNoContext : 0};
  return std::nullopt;
}

RotationTurn AnyTurn(const RotationCase& test, uint64_t cycle) {
  RotationTurn turn{.cycle = cycle, .resident = std::nullopt};
  turn.slice = *rc::gen::inRange<uint32_t>(0, test.slices);
  turn.kind = *rc::gen::weightedElement<uint32_t>({{6, RotationTurn::kSwitch},
                                                   {2, RotationTurn::kExit},
                                                   {2, RotationTurn::kEntry},
                                                   {1, RotationTurn::kWrite},
                                                   {1, RotationTurn::kChoose}});
  turn.value = *rc::gen::inRange<uint32_t>(0, 1u << kCaseGroups);
  // Passes of two plans in turn are for the tests of passes.
  const bool may_choose = test.planned_vm > 0 && !test.is_two_set && !test.has_pass;
  if (turn.kind == RotationTurn::kChoose && !may_choose) turn.kind = RotationTurn::kSwitch;
  turn.resident = AnyResident();
  if (turn.kind == RotationTurn::kChoose && !turn.resident) turn.resident = {1, uint16_t{0}};
  return turn;
}

void DrawTurns(RotationCase& test) {
  const bool is_long = test.cycles == kLongRotationCycles;
  const auto turns = *rc::gen::inRange<size_t>(1, 12 + 12 * test.slices);
  for (size_t i = 0; i < turns; ++i) {
    const uint64_t begin = test.turns.empty() ? 0 : test.turns.back().cycle;
    const uint64_t cycle = begin + *rc::gen::element<uint64_t>(0, 3, 40, 300, is_long ? 9000 : 900);
    if (cycle >= test.cycles) break;
    test.turns.push_back(AnyTurn(test, cycle));
  }
}

}  // namespace

rc::Gen<RotationCase> AnyRotationCase() {
  return rc::gen::exec([] {
    RotationCase test;
    DrawUnits(test);
    test.slot = 8 * test.period + *rc::gen::inRange<uint64_t>(0, 300);
    if (*rc::gen::inRange(0, 4) == 0) MakeLong(test);
    DrawSettings(test);
    DrawKinds(test);
    test.dead_cycles = *rc::gen::element<uint32_t>(0, 0, 1, 7);
    test.seed = *rc::gen::arbitrary<uint32_t>();
    test.wires_seed = *rc::gen::arbitrary<uint32_t>();
    test.wires_seed_of_others = *rc::gen::arbitrary<uint32_t>();
    test.has_relations = *rc::gen::arbitrary<bool>();
    test.trigger_period = *rc::gen::element<uint64_t>(0, 97, 1000);
    test.commit_period = *rc::gen::element<uint64_t>(0, 150, 777);
    test.buffer_depth = *rc::gen::inRange<uint32_t>(1, 20);
    DrawTurns(test);
    return test;
  });
}

// --- The chip -------------------------------------------------------------------------------------------------------

uint32_t EventsOf(const RotationCase& test) {
  return FirstDeviceEvent(test) + (test.has_device_units ? kDeviceEvents : 0);
}

namespace {

RotationSpec SpecOf(const RotationCase& test, const UlcSpec& first) {
  RotationSpec spec{.settings = {}, .fixed = mailbox::EmptySet(EventsOf(test))};
  if (first.is_switched()) mailbox::Insert(FixedEvent(test), spec.fixed);
  spec.dead_cycles = test.dead_cycles;
  spec.seed = test.seed;
  if (test.tells_instructions) spec.instructions = FixedEvent(test);
  mailbox::RotationSettings& settings = spec.settings;
  settings.profile = test.is_two_set ? mailbox::RotationProfile::kTwoSet : mailbox::RotationProfile::kFast;
  settings.stable_slot = test.stable_slot, settings.fluctuating_slot = test.slot;
  settings.interval = test.interval, settings.step = test.step;
  settings.threshold_per_mille = test.threshold_per_mille;
  settings.sets_per_pass = test.sets_per_pass;
  settings.adapt = test.adapt;
  return spec;
}

}  // namespace

PipelineConfig ConfigOf(const RotationCase& test) {
  PipelineConfig config{.slices = test.slices, .events = EventsOf(test)};
  config.trigger_period = test.trigger_period;
  config.commit_period = config.hypervisor_commit_period = test.commit_period;
  config.buffer_depth = test.buffer_depth;
  for (uint32_t slice = 0; slice < test.slices; ++slice) {
    config.ccus.push_back({.name = "slice" + std::to_string(slice) + ".ccu0",
                           .channel = static_cast<uint8_t>(slice),
                           .ulcs = UnitsOf(test),
                           .threshold = test.threshold});
  }
  if (test.has_device_units) config.ccus.push_back(DeviceUnits(test));
  if (test.has_gates) config.gate_groups = {{.in_host = false}, {.in_host = true}};
  if (!test.rotates) return config;
  config.relations = RelationsOf(test);
  config.rotation = SpecOf(test, config.ccus[0].ulcs[0]);
  return config;
}

std::optional<PlanWishes> SecondPlanOf(const RotationCase& test, const std::vector<uint16_t>& rotated) {
  PlanWishes wishes{.events = mailbox::EmptySet(EventsOf(test)), .always = {}};
  bool has_events = false;
  for (const uint16_t event : rotated) {
    if (event >= test.events || (test.planned_events >> event & 1) == 0) continue;
    mailbox::Insert(event, wishes.events);
    has_events = true;
  }
  if (test.planned_vm == 0 || !has_events) return std::nullopt;
  return wishes;
}

mailbox::RotationSettings SecondSettingsOf(const RotationCase& test, const PipelineConfig& config) {
  mailbox::RotationSettings settings = config.rotation->settings;
  settings.profile = mailbox::RotationProfile::kFast;
  settings.fluctuating_slot = test.planned_slot, settings.stable_slot = 2 * test.planned_slot;
  settings.sets_per_pass = 0;
  settings.adapt = test.plan_adapts;
  return settings;
}

std::optional<uint32_t> PassOf(const RotationCase& test, const CounterPlan& plan) {
  if (!test.has_pass) return std::nullopt;
  return static_cast<uint32_t>(Passes(plan.sets.size(), test.sets_per_pass) - 1);
}

// --- Wires ----------------------------------------------------------------------------------------------------------

namespace {

void SetCycle(const RotationCase& test, uint64_t cycle, std::mt19937_64& random, sim::PackedWires* wires) {
  // Long runs of one state, so that slots differ.
  const uint64_t state = (cycle / 64 + random() % 2) % kStates;
  const uint64_t bits = random();
  if (wires == nullptr) return;
  wires->Set(static_cast<sim::WireId>(state), cycle);
  for (sim::WireId wire = kNumberWire; wire < WireOf(0) + test.events; ++wire) {
    if ((bits >> wire % 64 & 1) != 0) wires->Set(wire, cycle);
  }
  if (wires->Bit(WireOf(kSubsetEvent), cycle)) wires->Set(WireOf(kSupersetEvent), cycle);
}

// Per cycle, whether VM 1 has the channel.
std::vector<bool> CyclesOfVm1(const RotationCase& test, uint32_t channel) {
  std::vector<bool> cycles(test.cycles);
  for (size_t i = 0; i < test.turns.size(); ++i) {
    const RotationTurn& turn = test.turns[i];
    if (turn.kind != RotationTurn::kSwitch || turn.slice != channel) continue;
    const bool is_vm1 = turn.resident && turn.resident->first == 1;
    std::fill(cycles.begin() + static_cast<ptrdiff_t>(turn.cycle), cycles.end(), is_vm1);
  }
  return cycles;
}

}  // namespace

RotationWires WiresOf(const RotationCase& test) {
  RotationWires all;
  for (uint32_t channel = 0; channel <= test.slices; ++channel) {
    auto& wires = all.emplace_back(std::make_shared<sim::PackedWires>(kSingleWires + test.events, test.cycles));
    wires->ExtendTo(test.cycles);
    std::mt19937_64 random(test.wires_seed + channel), of_others(test.wires_seed_of_others + channel);
    const std::vector<bool> is_vm1 = CyclesOfVm1(test, channel);
    for (uint64_t cycle = 0; cycle < test.cycles; ++cycle) {
      SetCycle(test, cycle, random, is_vm1[cycle] ? wires.get() : nullptr);
      SetCycle(test, cycle, of_others, is_vm1[cycle] ? nullptr : wires.get());
    }
  }
  return all;
}

// --- Rows -----------------------------------------------------------------------------------------------------------

namespace {

void AddAll(const std::vector<uint64_t>& values, std::vector<uint64_t>& sums) {
  sums.resize(std::max(sums.size(), values.size()));
  for (size_t i = 0; i < values.size(); ++i) sums[i] += values[i];
}

void AddCycles(const PlanCycles& cycles, PlanCycles& sum) {
  AddAll(cycles.enabled, sum.enabled);
  AddAll(cycles.dead, sum.dead);
  sum.running.resize(cycles.running.size());
  for (size_t set = 0; set < cycles.running.size(); ++set) AddAll(cycles.running[set], sum.running[set]);
}

uint64_t DivisorOf(uint16_t event) { return event == kPrescaledEvent ? kPrescale : 1; }

}  // namespace

void Add(const RotationRow& row, RotationRow& sum) {
  AddAll(row.truth, sum.truth);
  AddAll(row.counted, sum.counted);
  for (const auto& [number, cycles] : row.plans) AddCycles(cycles, sum.plans[number]);
}

RotationRow RotationTruth::SumOf(uint16_t vm) const {
  RotationRow sum{.truth = std::vector<uint64_t>(events_), .counted = std::vector<uint64_t>(events_)};
  for (const auto& [scope, row] : rows_) {
    if (scope.first == vm) Add(row, sum);
  }
  return sum;
}

RotationRow RotationTruth::Device() const {
  RotationRow sum{.truth = std::vector<uint64_t>(events_), .counted = std::vector<uint64_t>(events_)};
  for (const auto& [scope, row] : rows_) {
    if (scope.first == 0 || scope.first != test_.private_vm) Add(row, sum);
  }
  return sum;
}

// --- The truth ------------------------------------------------------------------------------------------------------

RotationTruth::RotationTruth(const RotationCase& test, const PipelineConfig& config, const std::vector<TurnPlan>& plans,
                             const RotationWires& wires)
    : test_(test),
      config_(config),
      wires_(wires),
      events_(EventsOf(test)),
      is_switched_(events_),
      channels_(test.slices + 1) {
  for (const CcuSpec& ccu : config.ccus) {
    for (const UlcSpec& unit : ccu.ulcs) {
      for (const CounterInput& input : unit.inputs) is_switched_[input.meaning.event] = unit.is_switched();
    }
  }
  for (const TurnPlan& plan : plans) {
    plans_[plan.number] = {plan.counters, plan.settings};
    if (plan.number > 1) second_ = plan.number;
  }
  for (const uint16_t context : {uint16_t{0}, uint16_t{1}, mailbox::kNoContext}) {
    if (test.planned_vm > 0) chosen_[{test.planned_vm, context}] = second_;
  }
  for (uint32_t slice = 0; slice < test.slices; ++slice) Switch(slice, std::nullopt);
  if (test.has_device_units) Switch(test.slices, kDeviceScope);
}

bool RotationTruth::IsOfDevice(uint16_t event) const { return event >= FirstDeviceEvent(test_); }

// On slices two groups are open in guest mode, the second in host mode, too; each needs the slice's value.
bool RotationTruth::IsOpen(size_t group, const Channel& channel) const {
  return (channel.open_bits >> group & 1) != 0 && (group == 1 || !channel.is_host);
}

uint64_t RotationTruth::GainOf(uint16_t event, uint32_t channel, uint64_t cycle) const {
  const auto group = GroupOf(test_, event);
  if (group && !IsOpen(*group, channels_[channel])) return 0;
  const sim::PackedWires& wires = *wires_[channel];
  if (IsOfDevice(event)) {
    return wires.Bit(WireOf(static_cast<uint16_t>(kSubsetEvent + event - FirstDeviceEvent(test_))), cycle) ? 1 : 0;
  }
  if (event >= FirstRunningEvent(test_)) return 1;
  if (event != kNumberEvent && event != kPrescaledEvent) {
    return wires.Bit(event < kStates ? event : WireOf(event), cycle) ? 1 : 0;
  }
  const sim::WireId first = event == kNumberEvent ? kNumberWire : kPrescaledWire;
  const uint32_t digits = event == kNumberEvent ? kFullDigits : kPrescaledNumberDigits;
  uint64_t number = 0;
  for (uint32_t digit = 0; digit < digits; ++digit) number |= uint64_t{wires.Bit(first + digit, cycle)} << digit;
  return number;
}

bool RotationTruth::Turns(uint16_t event) const {
  return config_.rotation && is_switched_[event] && !mailbox::Includes(config_.rotation->fixed, event);
}

std::vector<uint16_t> RotationTruth::TurningOn(uint32_t channel) const {
  std::vector<uint16_t> events;
  for (uint16_t event = 0; event < events_; ++event) {
    if (Turns(event) && IsOfDevice(event) == is_device(channel)) events.push_back(event);
  }
  return events;
}

uint16_t RotationTruth::PlanOf(const RotationScope& scope) const {
  if (scope == kDeviceScope) return 1;
  const auto found = chosen_.find(scope);
  return found == chosen_.end() ? 0 : found->second;
}

RotationTruth::Life RotationTruth::MakeLife(const RotationScope& scope, uint32_t channel, uint32_t lives) const {
  const uint16_t number = PlanOf(scope);
  const auto& [plan, settings] = plans_.at(number);
  const auto pass = scope.first > 0 && number == 0 ? PassOf(test_, plan) : std::nullopt;
  const TruthScope sets =
      is_device(channel) ? TruthScope{.sets = plan.sets.size()} : ScopeOf(settings, plan.sets.size(), pass);
  const RotationIdentity who{.vm = scope.first,
                             .context = scope.second,
                             .generation = 1,
                             .life = lives,
                             .channel = is_device(channel) ? kDeviceChannel : static_cast<uint8_t>(channel)};
  const auto instructions = is_device(channel) ? std::nullopt : config_.rotation->instructions;
  return {.plan = number,
          .lives = lives,
          .turns = RotationTurnsTruth(settings, plan, TurningOn(channel), instructions, test_.dead_cycles,
                                      RotationOrder(SeedOf(test_.seed), who, sets.sets), sets)};
}

RotationTruth::Life* RotationTruth::LifeOf(uint32_t channel) {
  const auto& resident = channels_[channel].resident;
  const auto life = resident ? lives_.find({*resident, channel}) : lives_.end();
  return life == lives_.end() ? nullptr : &life->second;
}

void RotationTruth::Switch(uint32_t number, std::optional<RotationScope> to) {
  Channel& channel = channels_[number];
  if (Life* const life = LifeOf(number)) life->turns.EndResidency();
  const uint16_t before = channel.resident ? channel.resident->first : 0;
  const bool stays = to && before > 0 && before == to->first;
  if (!stays) channel.open_bits = ~0u;
  channel.is_host = test_.has_gates && !to;
  if (!to && test_.has_host_blocks) to = {0, static_cast<uint16_t>(number)};
  channel.resident = to;
  if (!to) return;
  RotationRow& row = rows_[*to];
  row.truth.resize(events_);
  row.counted.resize(events_);
  channel.all.assign(events_, 0);
  channel.counted.assign(events_, 0);
  if (TurningOn(number).empty()) return;
  const std::pair key(*to, number);
  const auto found = lives_.find(key);
  const bool is_new = found == lives_.end() || found->second.plan != PlanOf(*to);
  if (is_new) {
    Life life = MakeLife(*to, number, found == lives_.end() ? 0 : found->second.lives + 1);
    lives_.erase(key);
    lives_.emplace(key, std::move(life));
  }
  LifeOf(number)->turns.BeginResidency();
}

void RotationTruth::Act(const RotationTurn& turn) {
  Channel& channel = channels_[turn.slice];
  const bool has_guest = channel.resident && channel.resident->first > 0;
  switch (turn.kind) {
    case RotationTurn::kExit:
    case RotationTurn::kEntry:
      if (test_.has_gates && has_guest) channel.is_host = turn.kind == RotationTurn::kExit;
      return;
    case RotationTurn::kWrite:
      if (has_guest) channel.open_bits = turn.value;
      return;
    case RotationTurn::kChoose:
      chosen_[*turn.resident] = turn.value % 2 == 0 ? 0 : second_;
      return;
    case RotationTurn::kSwitch:
      return Switch(turn.slice, turn.resident);
  }
}

std::vector<uint64_t> RotationTruth::CountEvents(uint32_t number, uint64_t cycle, const Life* life, RotationRow& row) {
  Channel& channel = channels_[number];
  std::vector<uint64_t> rises(events_);
  for (uint16_t event = 0; event < events_; ++event) {
    if (IsOfDevice(event) != is_device(number)) continue;
    const uint64_t gain = GainOf(event, number, cycle), divisor = DivisorOf(event);
    row.truth[event] += (channel.all[event] + gain) / divisor - channel.all[event] / divisor;
    channel.all[event] += gain;
    const bool is_out =
        life != nullptr && Turns(event) &&
        (life->turns.is_dead() || !mailbox::Includes(plans_.at(life->plan).counters.sets[life->turns.set()], event));
    if (is_out) continue;
    rises[event] = (channel.counted[event] + gain) / divisor - channel.counted[event] / divisor;
    row.counted[event] += rises[event];
    channel.counted[event] += gain;
  }
  return rises;
}

std::vector<bool> RotationTruth::OpenEvents(const Channel& channel) const {
  std::vector<bool> open(events_, true);
  for (uint16_t event = 0; event < events_; ++event) {
    const auto group = GroupOf(test_, event);
    if (group) open[event] = IsOpen(*group, channel);
  }
  return open;
}

void RotationTruth::CountTime(const Channel& channel, const RotationTurnsTruth& turns, PlanCycles& cycles) const {
  for (size_t line = 0; line < cycles.enabled.size(); ++line) {
    if (line > 0 && !IsOpen(line - 1, channel)) continue;
    ++cycles.enabled[line];
    ++(turns.is_dead() ? cycles.dead : cycles.running[turns.set()])[line];
  }
}

void RotationTruth::Count(uint32_t number, uint64_t cycle) {
  Channel& channel = channels_[number];
  if (!channel.resident) return;
  RotationRow& row = rows_.at(*channel.resident);
  Life* const life = LifeOf(number);
  const std::vector<uint64_t> rises = CountEvents(number, cycle, life, row);
  if (life == nullptr) return;
  PlanCycles& cycles = row.plans[life->plan];
  const size_t lines = test_.has_gates ? 1 + kCaseGroups : 1;
  cycles.enabled.resize(lines);
  cycles.dead.resize(lines);
  cycles.running.resize(plans_.at(life->plan).counters.sets.size(), std::vector<uint64_t>(lines));
  // The device's events have no gate.
  if (is_device(number)) {
    ++cycles.enabled[0];
    ++(life->turns.is_dead() ? cycles.dead : cycles.running[life->turns.set()])[0];
  } else {
    CountTime(channel, life->turns, cycles);
  }
  life->turns.Count(rises, OpenEvents(channel), channel.resident->first == 0 || !channel.is_host);
}

void RotationTruth::AdvanceTo(uint64_t cycle) {
  const auto act = [this] {
    for (; next_turn_ < test_.turns.size() && test_.turns[next_turn_].cycle == now_; ++next_turn_) {
      Act(test_.turns[next_turn_]);
    }
  };
  for (; now_ < cycle; ++now_) {
    act();
    for (uint32_t channel = 0; channel <= test_.slices; ++channel) Count(channel, now_);
  }
  act();
}

}  // namespace sideband::mcu
