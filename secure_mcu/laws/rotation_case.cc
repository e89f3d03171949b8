// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/laws/rotation_case.h"

#include <algorithm>
#include <random>
#include <utility>

namespace sideband::mcu {
namespace {

constexpr uint32_t kFullDigits = 3, kPrescaledNumberDigits = 4;
constexpr sim::WireId kNumberWire = kStates, kPrescaledWire = kNumberWire + kFullDigits;
constexpr sim::WireId kSingleWires = kPrescaledWire + kPrescaledNumberDigits;

sim::WireId WireOf(uint16_t event) { return kSingleWires + event - kSubsetEvent; }
uint16_t FixedEvent(const RotationCase& test) { return static_cast<uint16_t>(test.events - 1); }

std::vector<CounterInput> InputsOf(uint16_t event) {
  if (event == kNumberEvent) return NumberInputs(kNumberWire, kFullDigits, event, false);
  if (event == kPrescaledEvent) return NumberInputs(kPrescaledWire, kPrescaledNumberDigits, event, true);
  const sim::WireId wire = event < kStates ? event : WireOf(event);
  return {{.wire = wire, .meaning = {event, 0}}};
}

// The fixed event is of the first unit; the others are dealt.
std::vector<UlcSpec> UnitsOf(const RotationCase& test) {
  std::vector<UlcSpec> units(test.units);
  for (uint32_t i = 0; i < test.units; ++i) {
    units[i] = {.name = "unit" + std::to_string(i),
                .inputs = {},
                .period = test.period,
                .lanes = 512,
                .counters = test.counters};
  }
  for (uint16_t event = 0; event < test.events; ++event) {
    UlcSpec& unit = units[event == FixedEvent(test) || event < kStates ? 0 : event % test.units];
    for (const CounterInput& input : InputsOf(event)) unit.inputs.push_back(input);
  }
  return units;
}

std::vector<mailbox::Relation> RelationsOf(const RotationCase& test) {
  if (!test.has_relations) return {};
  return {{.kind = mailbox::Relation::Kind::kCycles, .members = {0, 1, 2, 3}},
          {.kind = mailbox::Relation::Kind::kAtMost, .members = {kSupersetEvent}, .whole = kSubsetEvent}};
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const RotationCase& test) {
  out << test.events << " events, " << test.units << " units of " << test.counters << " counters, period "
      << test.period << ", slot " << test.slot << ", dead " << test.dead_cycles << ", seed " << test.seed << ", wires "
      << test.wires_seed << ", relations " << test.has_relations << ", triggers " << test.trigger_period << ", commits "
      << test.commit_period << ", depth " << test.buffer_depth << ", cycles " << test.cycles << ", stable slot "
      << test.stable_slot << ", adapt " << test.adapt << ", instructions " << test.tells_instructions << ", interval "
      << test.interval << ", threshold " << test.threshold_per_mille << ", step " << test.step << ", two-set "
      << test.is_two_set << " of " << test.sets_per_pass << ", last pass " << test.has_pass << "; turns";
  for (const RotationTurn& turn : test.turns) {
    out << " " << turn.cycle << ":";
    if (turn.resident) out << turn.resident->first << "/" << turn.resident->second;
  }
  return out;
}

namespace {

// How turns are made.
void DrawTurns(RotationCase& test) {
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

// Slots are many enough that epochs close, and shares change.
void MakeLong(RotationCase& test) {
  test.cycles = kLongRotationCycles;
  test.period = *rc::gen::inRange<uint32_t>(2, 4);
  test.slot = 8 * test.period + *rc::gen::inRange<uint64_t>(0, 20);
}

}  // namespace

rc::Gen<RotationCase> AnyRotationCase() {
  return rc::gen::exec([] {
    RotationCase test;
    test.events = *rc::gen::inRange<uint32_t>(9, 24);
    test.counters = *rc::gen::inRange<uint32_t>(5, 16);
    test.units = *rc::gen::inRange<uint32_t>(1, 3);
    test.period = *rc::gen::inRange<uint32_t>(2, 40);
    test.slot = 8 * test.period + *rc::gen::inRange<uint64_t>(0, 300);
    if (*rc::gen::inRange(0, 4) == 0) MakeLong(test);
    DrawTurns(test);
    test.dead_cycles = *rc::gen::element<uint32_t>(0, 0, 1, 7);
    test.seed = *rc::gen::arbitrary<uint32_t>();
    test.wires_seed = *rc::gen::arbitrary<uint32_t>();
    test.has_relations = *rc::gen::arbitrary<bool>();
    test.trigger_period = *rc::gen::element<uint64_t>(0, 97, 1000);
    test.commit_period = *rc::gen::element<uint64_t>(0, 150, 777);
    test.buffer_depth = *rc::gen::inRange<uint32_t>(1, 20);
    const auto turns = *rc::gen::inRange<size_t>(1, 24);
    for (size_t i = 0; i < turns; ++i) {
      const uint64_t begin = test.turns.empty() ? 0 : test.turns.back().cycle + 1;
      const bool is_long = test.cycles == kLongRotationCycles;
      const uint64_t cycle = begin + *rc::gen::element<uint64_t>(0, 3, 40, 300, is_long ? 9000 : 900);
      if (cycle >= test.cycles) break;
      const auto who = *rc::gen::inRange<uint16_t>(0, 5);
      RotationTurn turn{.cycle = cycle, .resident = std::nullopt};
      if (who < 3) turn.resident = {1, who == 2 ? mailbox::kNoContext : who};
      if (who == 3) turn.resident = {2, uint16_t{0}};
      test.turns.push_back(turn);
    }
    return test;
  });
}

PipelineConfig ConfigOf(const RotationCase& test) {
  PipelineConfig config{.slices = 1, .events = test.events};
  config.trigger_period = test.trigger_period;
  config.commit_period = config.hypervisor_commit_period = test.commit_period;
  config.buffer_depth = test.buffer_depth;
  config.ccus = {{.name = "slice0.ccu0", .channel = 0, .ulcs = UnitsOf(test)}};
  if (!test.rotates) return config;
  config.relations = RelationsOf(test);
  config.rotation.emplace();
  config.rotation->fixed = mailbox::EmptySet(test.events);
  if (test.counters < kUlcCountersMax) mailbox::Insert(FixedEvent(test), config.rotation->fixed);
  config.rotation->dead_cycles = test.dead_cycles;
  config.rotation->seed = test.seed;
  if (test.tells_instructions) config.rotation->instructions = FixedEvent(test);
  mailbox::RotationSettings& settings = config.rotation->settings;
  settings.profile = test.is_two_set ? mailbox::RotationProfile::kTwoSet : mailbox::RotationProfile::kFast;
  settings.stable_slot = test.stable_slot, settings.fluctuating_slot = test.slot;
  settings.interval = test.interval, settings.step = test.step;
  settings.threshold_per_mille = test.threshold_per_mille;
  settings.sets_per_pass = test.sets_per_pass;
  settings.adapt = test.adapt;
  return config;
}

std::optional<uint32_t> PassOf(const RotationCase& test, const CounterPlan& plan) {
  if (!test.has_pass) return std::nullopt;
  return static_cast<uint32_t>(Passes(plan.sets.size(), test.sets_per_pass) - 1);
}

sim::PackedWires WiresOf(const RotationCase& test) {
  sim::PackedWires wires(kSingleWires + test.events, test.cycles);
  wires.ExtendTo(test.cycles);
  std::mt19937_64 random(test.wires_seed);
  for (uint64_t cycle = 0; cycle < test.cycles; ++cycle) {
    // Long runs of one state, so that slots differ.
    const uint64_t state = (cycle / 64 + random() % 2) % kStates;
    wires.Set(static_cast<sim::WireId>(state), cycle);
    const uint64_t bits = random();
    for (sim::WireId wire = kNumberWire; wire < WireOf(0) + test.events; ++wire) {
      if ((bits >> wire % 64 & 1) != 0) wires.Set(wire, cycle);
    }
    if (wires.Bit(WireOf(kSubsetEvent), cycle)) wires.Set(WireOf(kSupersetEvent), cycle);
  }
  return wires;
}

RotationTruth::RotationTruth(const RotationCase& test, const PipelineConfig& config, const CounterPlan& plan,
                             const sim::PackedWires& wires)
    : test_(test), plan_(plan), wires_(wires), is_switched_(test.events), config_(config) {
  for (const UlcSpec& unit : config.ccus[0].ulcs) {
    for (const CounterInput& input : unit.inputs) is_switched_[input.meaning.event] = unit.is_switched();
  }
}

uint64_t RotationTruth::GainOf(uint16_t event, uint64_t cycle) const {
  if (event != kNumberEvent && event != kPrescaledEvent) {
    return wires_.Bit(event < kStates ? event : WireOf(event), cycle) ? 1 : 0;
  }
  const sim::WireId first = event == kNumberEvent ? kNumberWire : kPrescaledWire;
  const uint32_t digits = event == kNumberEvent ? kFullDigits : kPrescaledNumberDigits;
  uint64_t number = 0;
  for (uint32_t digit = 0; digit < digits; ++digit) number |= uint64_t{wires_.Bit(first + digit, cycle)} << digit;
  return number;
}

RotationTurnsTruth RotationTruth::MakeTurns() const {
  const mailbox::RotationSettings& settings = config_.rotation->settings;
  const TruthScope scope = ScopeOf(settings, plan_.sets.size(), PassOf(test_, plan_));
  const RotationIdentity who{.vm = resident_->first, .context = resident_->second, .generation = 1};
  std::vector<uint16_t> events;
  for (uint16_t event = 0; event < test_.events; ++event) {
    if (event != FixedEvent(test_) && is_switched_[event]) events.push_back(event);
  }
  return {settings,
          plan_,
          std::move(events),
          config_.rotation->instructions,
          test_.dead_cycles,
          RotationOrder(SeedOf(test_.seed), who, scope.sets),
          scope};
}

void RotationTruth::Begin(uint64_t cycle) {
  while (next_turn_ < test_.turns.size() && test_.turns[next_turn_].cycle == cycle) {
    if (resident_) turns_.at(*resident_).EndResidency();
    resident_ = test_.turns[next_turn_++].resident;
    if (!resident_) continue;
    RotationRow& row = rows_[*resident_];
    row.truth.resize(test_.events);
    row.counted.resize(test_.events);
    row.running.resize(plan_.sets.size());
    before_ = row;
    sums_ = {.all = std::vector<uint64_t>(test_.events), .counted = std::vector<uint64_t>(test_.events)};
    if (!turns_.contains(*resident_)) turns_.emplace(*resident_, MakeTurns());
    turns_.at(*resident_).BeginResidency();
  }
}

void RotationTruth::Count(uint64_t cycle) {
  RotationRow& row = rows_.at(*resident_);
  RotationTurnsTruth& in_turn = turns_.at(*resident_);
  const bool is_dead = in_turn.is_dead();
  const size_t set = in_turn.set();
  std::vector<uint64_t> rises(test_.events);
  for (uint16_t event = 0; event < test_.events; ++event) {
    const uint64_t gain = GainOf(event, cycle);
    const bool turns = event != FixedEvent(test_) && is_switched_[event];
    sums_.all[event] += gain;
    if (turns && (is_dead || !mailbox::Includes(plan_.sets[set], event))) continue;
    const uint64_t divisor = event == kPrescaledEvent ? kPrescale : 1;
    rises[event] = (sums_.counted[event] + gain) / divisor - sums_.counted[event] / divisor;
    sums_.counted[event] += gain;
  }
  ++row.enabled;
  if (is_dead) {
    ++row.dead;
  } else {
    ++row.running[set];
  }
  in_turn.Count(rises);
}

void RotationTruth::Show(RotationRow& row, const Sums& sums, const RotationRow& before) const {
  for (uint16_t event = 0; event < test_.events; ++event) {
    const uint64_t divisor = event == kPrescaledEvent ? kPrescale : 1;
    row.truth[event] = before.truth[event] + sums.all[event] / divisor;
    row.counted[event] = before.counted[event] + sums.counted[event] / divisor;
  }
}

void RotationTruth::AdvanceTo(uint64_t cycle) {
  for (; now_ < cycle; ++now_) {
    Begin(now_);
    if (!resident_) continue;
    Count(now_);
    Show(rows_.at(*resident_), sums_, before_);
  }
  Begin(now_);
}

}  // namespace sideband::mcu
