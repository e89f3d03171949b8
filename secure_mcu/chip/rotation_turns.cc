// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/chip/rotation_turns.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "secure_mcu/chip/rotation_plan.h"

namespace sideband::mcu {
namespace {

using mailbox::kOwnPlan;

// A context that was never shown has no numbers before.
void AddDifferences(std::span<const uint64_t> before, std::span<const uint64_t> now, std::vector<uint64_t>& sums) {
  sums.resize(std::max(sums.size(), now.size()));
  for (size_t i = 0; i < now.size(); ++i) sums[i] += now[i] - (i < before.size() ? before[i] : 0);
}

// Per line, of the plan's set that ran least of those that ran: each event of these ran as long.
std::vector<uint64_t> LeastRunning(const mailbox::RotationPart& part) {
  const size_t lines = part.enabled.size();
  std::vector<uint64_t> least(lines);
  for (size_t i = 0; i < part.running.size(); ++i) {
    uint64_t& of_line = least[i % lines];
    if (part.running[i] > 0) of_line = of_line == 0 ? part.running[i] : std::min(of_line, part.running[i]);
  }
  return least;
}

uint64_t AddBound(uint64_t before, uint64_t now, uint64_t sum) {
  const bool is_bounded = now != mailbox::kUnknownNumber && sum != mailbox::kUnknownNumber;
  return is_bounded ? sum + (now - before) : mailbox::kUnknownNumber;
}

uint64_t DeviationOf(const absl::uint128& variance) {
  const double root = std::ceil(std::sqrt(static_cast<double>(variance)));
  return root >= std::ldexp(1.0, 64) ? mailbox::kUnknownNumber : static_cast<uint64_t>(root);
}

}  // namespace

void RotationNumbers::Add(BlockId block, uint32_t generation, uint16_t plan, const LeafNumbers& before,
                          const LeafNumbers& now, std::span<const size_t> indices) {
  Row& row = rows_[block];
  if (row.generation != generation) row = {.generation = generation, .parts = {}, .events = {}};
  row.events.resize(events_);
  mailbox::RotationPart& part = row.parts[plan];
  part.plan = plan;
  AddDifferences(before.enabled, now.enabled, part.enabled);
  AddDifferences(before.running, now.running, part.running);
  for (size_t i = 0; i < now.events.size(); ++i) {
    const LeafNumbers::Event old = i < before.events.size() ? before.events[i] : LeafNumbers::Event{};
    LeafNumbers::Event& sum = row.events[indices[i]];
    sum.estimate += now.events[i].estimate - old.estimate;
    sum.upper = AddBound(old.upper, now.events[i].upper, sum.upper);
    sum.variance += now.events[i].variance - old.variance;
  }
}

void RotationNumbers::Forget(uint16_t plan) {
  for (auto& [block, row] : rows_) {
    const auto part = row.parts.extract(plan);
    if (part.empty()) continue;
    mailbox::RotationPart& forgotten = row.parts[mailbox::kForgottenPlan];
    forgotten.plan = mailbox::kForgottenPlan;
    AddDifferences({}, part.mapped().enabled, forgotten.enabled);
    AddDifferences({}, LeastRunning(part.mapped()), forgotten.running);
  }
}

mailbox::BlockRotation RotationNumbers::Of(BlockId block, uint32_t generation) const {
  mailbox::BlockRotation numbers;
  const auto row = rows_.find(block);
  if (row == rows_.end() || row->second.generation != generation) return numbers;
  for (const auto& [plan, part] : row->second.parts) numbers.parts.push_back(part);
  for (const LeafNumbers::Event& event : row->second.events) {
    const bool is_bounded = event.upper != mailbox::kUnknownNumber;
    numbers.events.push_back({.estimate = event.estimate,
                              .upper = event.upper,
                              .deviation = is_bounded ? DeviationOf(event.variance) : mailbox::kUnknownNumber});
  }
  return numbers;
}

namespace {

bool IsSameContext(const RotationIdentity& a, const RotationIdentity& b) {
  return a.uuid == b.uuid && a.vm == b.vm && a.context == b.context;
}

// Set 0, which the first run has counted, is left to the last pass.
TurnScope SetsOf(size_t pass, size_t passes, size_t sets, size_t of_pass) {
  if (passes == 1) return {.first = 0, .sets = sets, .learnt = {}};
  if (pass + 1 == passes) return {.first = 0, .sets = 1, .learnt = {}};
  const size_t first = 1 + pass * of_pass;
  return {.first = first, .sets = std::min(of_pass, sets - first), .learnt = {}};
}

}  // namespace

size_t SetsOfPass(const mailbox::RotationSettings& settings, size_t sets) {
  return settings.sets_per_pass == 0 ? sets : std::min<size_t>(settings.sets_per_pass, sets);
}

void RotationPasses::Learn(BlockId id) {
  Block& block = blocks_[id];
  const bool is_fast = block.profile == mailbox::RotationProfile::kFast;
  if (block.identity && is_fast) {
    block.learns = block.identity->generation;
  } else if (!block.is_first_run) {
    block.learns_next = true;
  }
}

void RotationPasses::Keep(BlockId id, uint8_t channel, uint32_t generation, const OwnPeriods& periods) {
  const auto found = blocks_.find(id);
  if (found != blocks_.end() && found->second.learns == generation) found->second.periods[channel] = periods;
}

void RotationPasses::BeginRun(const RotationIdentity& identity, uint16_t plan,
                              const mailbox::RotationSettings& settings, uint32_t passes, Block& block) {
  const bool is_other = block.identity && !IsSameContext(*block.identity, identity);
  if (is_other) block = {.asked = block.asked, .learns_next = block.learns_next};
  const bool is_first = !block.identity || block.plan != plan;
  if (is_first) block.next_pass = 0;
  block.identity = identity, block.plan = plan, block.profile = settings.profile;
  const auto asked = std::exchange(block.asked, std::nullopt);
  const bool is_two_set = settings.profile == mailbox::RotationProfile::kTwoSet;
  block.is_first_run = is_two_set && !asked && (is_first || block.learns_next);
  if (block.is_first_run || (block.learns_next && !is_two_set)) {
    block.learns = identity.generation;
    block.learns_next = false;
  }
  if (block.is_first_run) return;
  block.pass = asked.value_or(block.next_pass) % passes;
  block.next_pass = block.pass + 1;
}

TurnScope RotationPasses::ScopeOf(const RotationRun& run, uint8_t channel, uint16_t plan, size_t sets,
                                  const mailbox::RotationSettings& settings) {
  Block& block = blocks_[run.block];
  const size_t of_pass = SetsOfPass(settings, sets);
  const bool is_known = block.identity && IsSameContext(*block.identity, run.identity) &&
                        block.identity->generation == run.identity.generation && block.plan == plan;
  const auto passes = static_cast<uint32_t>(Passes(sets, settings.sets_per_pass));
  if (!is_known) BeginRun(run.identity, plan, settings, passes, block);
  if (block.is_first_run) return {.first = 0, .sets = 1, .is_first_run = true, .learnt = {}};
  const auto periods = block.periods.find(channel);
  TurnScope scope = SetsOf(block.pass, passes, sets, of_pass);
  if (periods != block.periods.end()) scope.learnt = periods->second;
  return scope;
}

bool TurnRows::IsFree(size_t first, size_t rows) const {
  for (size_t row = first; row < first + rows; ++row) {
    if (used_[row]) return false;
  }
  return true;
}

std::optional<size_t> TurnRows::Take(size_t rows) {
  for (size_t first = 0; first + rows <= used_.size(); ++first) {
    if (!IsFree(first, rows)) continue;
    for (size_t row = first; row < first + rows; ++row) used_.set(row);
    return first;
  }
  return std::nullopt;
}

void TurnRows::Give(size_t first, size_t rows) {
  for (size_t row = first; row < first + rows; ++row) used_.reset(row);
}

namespace {

// The numbers after both are of plans that are added, whether or not device-scope events turn.
constexpr uint16_t kDevicePlan = 1;

mailbox::EventSet ConnectedIn(const CounterPlan& plan, size_t set, size_t events) {
  mailbox::EventSet connected = mailbox::EmptySet(events);
  for (size_t event = 0; event < events; ++event) {
    if (plan.Counts(set, event)) mailbox::Insert(event, connected);
  }
  return connected;
}

std::vector<size_t> IndicesOf(const RotationTable& table, const std::vector<uint16_t>& events) {
  std::vector<size_t> indices;
  for (const RotatedEvent& event : table.events) {
    indices.push_back(std::ranges::lower_bound(events, event.event) - events.begin());
  }
  return indices;
}

// The bound that a relation leaves an open slot can fall when the relation ceases to hold.
void KeepHighest(const LeafNumbers& before, LeafNumbers& now) {
  for (size_t i = 0; i < before.events.size(); ++i) {
    now.events[i].estimate = std::max(now.events[i].estimate, before.events[i].estimate);
    now.events[i].upper = std::max(now.events[i].upper, before.events[i].upper);
  }
}

}  // namespace

RotationTurns::RotationTurns(const PipelineConfig& config, const RotationSeed& seed, CounterPlan plan)
    : spec_(*config.rotation),
      seed_(seed),
      config_(config),
      lines_(config),
      events_(TurningEvents(config)),
      of_device_(DeviceEvents(config)),
      connected_(mailbox::kRotationSetsMax + 1, mailbox::EmptySet(config.events)),
      turns_(config.slices + 1),
      numbers_(events_.size()) {
  connected_.back() = config.rotation->fixed;
  const bool has_device = std::ranges::any_of(events_, [&](uint16_t event) { return of_device_[event]; });
  AddPlan({.number = kOwnPlan, .counters = plan, .settings = spec_.settings}, *rows_.Take(plan.sets.size()));
  if (has_device) {
    AddPlan({.number = kDevicePlan, .of_device = true, .counters = std::move(plan), .settings = spec_.settings}, 0);
  }
  for (Turn& turn : turns_) {
    turn.counts.resize(config.events);
    indices_.push_back(IndicesOf(*tables_.front()[indices_.size()], events_));
  }
}

void RotationTurns::AddPlan(TurnPlan plan, size_t first_row) {
  for (size_t set = 0; set < plan.counters.sets.size(); ++set) {
    connected_[first_row + set] = ConnectedIn(plan.counters, set, config_.events);
  }
  auto& tables = tables_.emplace_back();
  for (uint32_t slice = 0; slice <= config_.slices; ++slice) {
    const uint8_t channel = slice == config_.slices ? kDeviceChannel : static_cast<uint8_t>(slice);
    tables.push_back(std::make_shared<RotationTable>(config_, lines_, channel, plan));
  }
  first_rows_.push_back(first_row);
  plans_.push_back(std::move(plan));
}

absl::StatusOr<uint16_t> RotationTurns::Add(CounterPlan plan, const mailbox::RotationSettings& settings) {
  if (next_number_ == mailbox::kForgottenPlan) {
    return absl::ResourceExhaustedError("every number of a plan has been used since the device booted");
  }
  GiveUpUnused();
  // A block has parts of these, and one of forgotten plans.
  const bool is_full = plans_.size() + 1 == mailbox::kPlansMax;
  const bool can_forget = std::ranges::any_of(first_rows_, [](const auto& row) { return !row.has_value(); });
  if (is_full && !can_forget) return absl::ResourceExhaustedError("no more plans");
  const auto first_row = rows_.Take(plan.sets.size());
  if (!first_row) {
    return absl::ResourceExhaustedError(
        absl::StrCat("the plan has ", plan.sets.size(), " counter sets, and ", rows_.free(), " are free"));
  }
  if (is_full) ForgetOne();
  while (KnownSets() + plan.sets.size() > mailbox::kRotationSetsMax) ForgetOne();
  const uint16_t number = next_number_++;
  AddPlan({.number = number, .counters = std::move(plan), .settings = settings}, *first_row);
  return number;
}

uint64_t RotationTurns::GroupsInTurns(uint16_t number) const {
  return mcu::GroupsInTurns(config_, std::ranges::find(plans_, number, &TurnPlan::number)->counters);
}

bool RotationTurns::IsInForce(uint16_t number) const {
  const auto plan = std::ranges::find(plans_, number, &TurnPlan::number);
  return plan != plans_.end() && first_rows_[plan - plans_.begin()].has_value();
}

// Chosen, or of a resident that has begun under it.
bool RotationTurns::IsUsed(uint16_t number) const {
  if (number <= kDevicePlan) return true;
  const auto is_chosen = [number](const auto& choice) { return choice.second == number; };
  const auto is_in_turn = [number](const Turn& turn) {
    return turn.life != nullptr && turn.life->life.table().number == number;
  };
  return std::ranges::any_of(chosen_, is_chosen) || std::ranges::any_of(turns_, is_in_turn);
}

void RotationTurns::GiveUpUnused() {
  for (size_t plan = 0; plan < plans_.size(); ++plan) {
    if (!first_rows_[plan] || IsUsed(plans_[plan].number)) continue;
    rows_.Give(*first_rows_[plan], plans_[plan].counters.sets.size());
    first_rows_[plan].reset();
  }
}

// The plans of which something is told have at most kRotationSetsMax sets. Those in force never have more: their sets
// have rows.
size_t RotationTurns::KnownSets() const {
  size_t sets = 0;
  for (const TurnPlan& plan : plans_) sets += plan.of_device ? 0 : plan.counters.sets.size();
  return sets;
}

// Rows with its cycles still show that these were enabled.
void RotationTurns::ForgetOne() {
  const auto given_up = std::ranges::find_if(first_rows_, [](const auto& row) { return !row.has_value(); });
  const auto plan = given_up - first_rows_.begin();
  numbers_.Forget(plans_[plan].number);
  plans_.erase(plans_.begin() + plan);
  tables_.erase(tables_.begin() + plan);
  first_rows_.erase(given_up);
}

uint16_t RotationTurns::chosen(BlockId block) const {
  const auto found = chosen_.find(block);
  return found == chosen_.end() ? kOwnPlan : found->second;
}

uint16_t RotationTurns::PlanOf(uint8_t channel, const RotationLeaf& leaf) const {
  return channel == kDeviceChannel ? kDevicePlan : chosen(leaf.block);
}

// The device has no generations: its sets are all of one pass.
TurnScope RotationTurns::ScopeOf(uint8_t channel, const RotationLeaf& leaf, const RotationTable& table) {
  if (channel == kDeviceChannel) return {.sets = table.sets()};
  TurnScope scope = passes_.ScopeOf({leaf.block, leaf.identity}, channel, table.number, table.sets(), table.settings);
  scope.is_confidential = leaf.is_confidential;
  return scope;
}

absl::Status RotationTurns::ChoosePass(BlockId block, uint32_t pass) {
  const auto plan = std::ranges::find(plans_, chosen(block), &TurnPlan::number);
  const size_t passes = Passes(plan->counters.sets.size(), plan->settings.sets_per_pass);
  if (pass >= passes) return absl::OutOfRangeError(absl::StrCat("pass ", pass, ": the plan has ", passes));
  passes_.ChooseNext(block, pass);
  return absl::OkStatus();
}

// A context that ran under another plan begins again, in an order of its own: what it had stays in its numbers.
RotationTurns::Life& RotationTurns::FindLife(uint8_t channel, const RotationLeaf& leaf) {
  const uint16_t number = PlanOf(channel, leaf);
  const std::pair key(leaf.block, channel);
  const auto found = lives_.find(key);
  const bool is_known = found != lives_.end() && found->second.generation == leaf.generation;
  const bool is_same =
      is_known && found->second.is_confidential == leaf.is_confidential && found->second.life.table().number == number;
  if (is_same) return found->second;
  if (found != lives_.end()) passes_.Keep(leaf.block, channel, found->second.generation, found->second.life.Learn());
  const size_t plan = std::ranges::find(plans_, number, &TurnPlan::number) - plans_.begin();
  const auto& table = tables_[plan][&TurnOf(channel) - turns_.data()];
  TurnScope scope = ScopeOf(channel, leaf, *table);
  RotationIdentity identity = leaf.identity;
  identity.life = is_known ? found->second.number + 1 : 0;
  identity.channel = channel;
  RotationOrder order(seed_, identity, scope.sets);
  Life life{.generation = leaf.generation,
            .number = identity.life,
            .is_confidential = leaf.is_confidential,
            .first_row = *first_rows_[plan],
            .life = RotationLife(table, std::move(order), std::move(scope)),
            .shown = {}};
  lives_.erase(key);
  return lives_.emplace(key, std::move(life)).first->second;
}

void RotationTurns::Begin(uint8_t channel, const RotationLeaf& leaf, const RotationInstant& at) {
  Turn& turn = TurnOf(channel);
  if (tables_.front()[&turn - turns_.data()]->events.empty()) return;
  turn.leaf = leaf;
  turn.life = &FindLife(channel, leaf);
  turn.life->life.BeginResidency();
  turn.clock.Start(at.cycle);
  turn.slot_begin = 0;
  BeginSlot(turn, at);
}

void RotationTurns::BeginSlot(Turn& turn, const RotationInstant& at) {
  turn.begin = turn.alive = at;
  // One set is always in turn: nothing ever turns.
  turn.is_dead = spec_.dead_cycles > 0 && turn.life->life.turns();
  std::ranges::fill(turn.counts, 0);
  turn.dead_gates.assign(lines_.running_events.size(), 0);
}

uint8_t RotationTurns::select(uint8_t channel) const {
  const Turn& turn = TurnOf(channel);
  if (turn.is_dead) return kDeadSelect;
  return static_cast<uint8_t>(kTurnSelectFirst + turn.life->first_row + turn.life->life.set());
}

size_t RotationTurns::sets(uint8_t channel) const {
  const Turn& turn = TurnOf(channel);
  return turn.life == nullptr ? 0 : turn.life->life.table().sets();
}

uint64_t RotationTurns::PhaseEnd(const Turn& turn) const {
  const uint64_t slot = turn.life->life.slot_cycles();
  // The rest of a turn that a residency's end cut can be less.
  if (turn.is_dead) return turn.slot_begin + std::min<uint64_t>(spec_.dead_cycles, slot);
  if (turn.life->life.table().sets() == 1) return OwnClock::kNever;
  return turn.slot_begin + slot;
}

uint64_t RotationTurns::EndOf(uint8_t channel) const {
  const Turn& turn = TurnOf(channel);
  return turn.life == nullptr ? OwnClock::kNever : turn.clock.CycleOf(PhaseEnd(turn));
}

uint64_t RotationTurns::NextEnd() const {
  uint64_t end = OwnClock::kNever;
  for (const Turn& turn : turns_) {
    if (turn.life != nullptr) end = std::min(end, turn.clock.CycleOf(PhaseEnd(turn)));
  }
  return end;
}

void RotationTurns::AddCounts(uint8_t channel, std::span<const uint64_t> counts) {
  Turn& turn = TurnOf(channel);
  if (turn.life == nullptr) return;
  AddOwn(channel, counts, turn.counts);
}

// The device's channel commits what slices count, too.
void RotationTurns::AddOwn(uint8_t channel, std::span<const uint64_t> counts, std::vector<uint64_t>& sums) const {
  for (size_t event = 0; event < counts.size(); ++event) {
    if (of_device_[event] == (channel == kDeviceChannel)) sums[event] += counts[event];
  }
}

void RotationTurns::Saturate(uint8_t channel, const mailbox::EventSet& events) {
  const Turn& turn = TurnOf(channel);
  // Counts of dead cycles are not of a slot.
  if (turn.life == nullptr || turn.is_dead || events.empty()) return;
  for (uint16_t event = 0; event < config_.events; ++event) {
    if (mailbox::Includes(events, event)) turn.life->life.Saturate(event);
  }
}

// After a flush, so that the counts of the gates' cycles are complete.
SlotLengths RotationTurns::LengthsAt(const Turn& turn, const RotationInstant& at,
                                     std::span<const uint64_t> counts) const {
  SlotLengths lengths{.enabled = {at.cycle - turn.begin.cycle},
                      .running = {at.cycle - turn.alive.cycle},
                      .own = turn.clock.Before(at.cycle) - turn.slot_begin};
  for (size_t group = 0; group < lines_.running_events.size(); ++group) {
    const auto& event = lines_.running_events[group];
    lengths.running.push_back(event ? counts[*event] : 0);
    lengths.enabled.push_back(lengths.running.back() + turn.dead_gates[group]);
  }
  for (size_t domain = 0; domain < at.domains.size(); ++domain) {
    lengths.enabled.push_back(at.domains[domain] - turn.begin.domains[domain]);
    lengths.running.push_back(at.domains[domain] - turn.alive.domains[domain]);
  }
  // The channel may have no unit of some of the chip's clocks.
  lengths.enabled.resize(lines_.size());
  lengths.running.resize(lines_.size());
  if (turn.is_dead) std::ranges::fill(lengths.running, 0);
  return lengths;
}

void RotationTurns::Derive(uint8_t channel, const RotationInstant& at, std::span<const uint64_t> pending,
                           std::span<uint64_t> gained) const {
  const Turn& turn = TurnOf(channel);
  if (turn.life == nullptr || turn.is_dead) return;
  std::vector<uint64_t> counts = turn.counts;
  AddOwn(channel, pending, counts);
  turn.life->life.Derive(LengthsAt(turn, at, counts), counts, gained);
}

// A relation that breaks in a VM whose numbers others may not see is not told in a statistic either.
void RotationTurns::EndSlotOf(Turn& turn, const SlotLengths& lengths, bool is_whole) {
  RotationLife& life = turn.life->life;
  const size_t before = life.broken();
  life.EndSlot(lengths, turn.counts, is_whole);
  const auto of_device = [](const auto& other) { return other.first == 0; };
  const bool is_shown = turn.leaf.block == 0 || std::ranges::any_of(turn.leaf.others, of_device);
  if (is_shown && !turn.leaf.is_confidential) inconsistencies_ += life.broken() - before;
}

void RotationTurns::EndSlot(uint8_t channel, const RotationInstant& at) {
  Turn& turn = TurnOf(channel);
  const bool is_whole = turn.clock.Before(at.cycle) == PhaseEnd(turn);
  if (turn.is_dead && is_whole && spec_.dead_cycles < turn.life->life.slot_cycles()) {
    for (size_t group = 0; group < lines_.running_events.size(); ++group) {
      const auto& event = lines_.running_events[group];
      if (event) turn.dead_gates[group] = turn.counts[*event];
    }
    std::ranges::fill(turn.counts, 0);
    turn.alive = at;
    turn.is_dead = false;
    return;
  }
  const SlotLengths lengths = LengthsAt(turn, at, turn.counts);
  if (turn.is_dead) std::ranges::fill(turn.counts, 0);
  EndSlotOf(turn, lengths, is_whole);
  shows_ended_ = false;
  turn.slot_begin = turn.clock.Before(at.cycle);
  turn.clock.Forget(at.cycle);
  BeginSlot(turn, at);
}

bool RotationTurns::EndResidency(uint8_t channel, const RotationInstant& at) {
  Turn& turn = TurnOf(channel);
  // A slot in its dead cycles has ended without a running one: what fixed events gained is of no slot.
  const SlotLengths lengths = LengthsAt(turn, at, turn.counts);
  if (turn.is_dead) std::ranges::fill(turn.counts, 0);
  EndSlotOf(turn, lengths, /*is_whole=*/false);
  turn.life->life.EndResidency();
  ShowNumbers(turn, {});
  turn.clock.End();
  return std::exchange(turn.life, nullptr)->life.broken() > 0;
}

void RotationTurns::Show(uint8_t channel, const RotationInstant& at) {
  Turn& turn = TurnOf(channel);
  if (turn.life == nullptr) return;
  ShowNumbers(turn, LengthsAt(turn, at, turn.counts));
  // A plan of one set has no slot's end at which earlier exits are forgotten.
  turn.clock.Forget(at.cycle);
  shows_ended_ = false;
}

void RotationTurns::ShowEnded() {
  // When many blocks are read at one instant, the first read has done it.
  if (std::exchange(shows_ended_, true)) return;
  for (Turn& turn : turns_) {
    if (turn.life != nullptr) ShowNumbers(turn, {});
  }
}

void RotationTurns::ShowNumbers(Turn& turn, const SlotLengths& open) {
  const size_t channel = &turn - turns_.data();
  const RotationTable& table = turn.life->life.table();
  LeafNumbers now = turn.life->life.Show(open, turn.counts);
  KeepHighest(turn.life->shown, now);
  numbers_.Add(turn.leaf.block, turn.leaf.generation, table.number, turn.life->shown, now, indices_[channel]);
  for (const auto& [block, generation] : turn.leaf.others) {
    numbers_.Add(block, generation, table.number, turn.life->shown, now, indices_[channel]);
  }
  turn.life->shown = std::move(now);
}

}  // namespace sideband::mcu
