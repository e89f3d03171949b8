// SPDX-License-Identifier: Apache-2.0
//
// The laws of counter rotation (counter-rotation.md, "Laws") on drawn chips.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "rapidcheck/gtest.h"
#include "secure_mcu/chip/chip.h"
#include "secure_mcu/laws/rotation_case.h"

namespace sideband::mcu {
namespace {

using Scope = std::pair<uint16_t, uint16_t>;

// The chip of a case, and its truth, side by side.
class RotationRun {
 public:
  explicit RotationRun(const RotationCase& test) : test_(test), config_(ConfigOf(test)), wires_(WiresOf(test)) {
    auto chip = Chip::Create(config_);
    if (!chip.ok()) return;
    chip_ = *std::move(chip);
    for (const uint16_t vm : {uint16_t{1}, uint16_t{2}}) vms_[vm] = chip_->memory().Create(vm, mailbox::kNoContext);
    for (const Scope& scope : {Scope{1, 0}, Scope{1, 1}, Scope{2, 0}}) {
      contexts_[scope] = chip_->memory().Create(scope.first, scope.second);
    }
    chip_->Attach(0, wires_);
    chip_->Attach(kDeviceChannel, wires_);
    plan_ = chip_->has_rotation() ? chip_->rotation_plans()[0].counters
                                  : CounterPlan{.sets = {{}}, .fixed = {}, .derived = {}};
    ChoosePasses();
    truth_ = std::make_unique<RotationTruth>(test_, config_, plan_, wires_);
  }

  // A drawn plan may not fit.
  bool is_possible() const { return chip_ != nullptr; }
  bool rotates() const { return chip_ != nullptr && chip_->has_rotation(); }
  Chip& chip() { return *chip_; }
  const CounterPlan& plan() const { return plan_; }
  const RotationTruth& truth() const { return *truth_; }
  const std::map<uint16_t, BlockId>& vms() const { return vms_; }
  const std::map<Scope, BlockId>& contexts() const { return contexts_; }

  BlockId BlockOf(const Scope& scope) const {
    return scope.second == mailbox::kNoContext ? vms_.at(scope.first) : contexts_.at(scope);
  }

  // Latches at the cycle.
  void PlayTo(uint64_t cycle) {
    for (; next_ < test_.turns.size() && test_.turns[next_].cycle <= cycle; ++next_) {
      const RotationTurn& turn = test_.turns[next_];
      chip_->AdvanceTo(turn.cycle);
      chip_->SwitchTo(0, turn.resident ? std::optional(BindingOf(*turn.resident)) : std::nullopt);
    }
    chip_->AdvanceTo(cycle);
    const std::vector<std::vector<uint64_t>> live = LiveCounts();
    chip_->Latch();
    for (BlockId block = 0; block < live.size(); ++block) {
      RC_ASSERT(std::ranges::equal(live[block], chip_->memory().counters(block)));
    }
    truth_->AdvanceTo(cycle);
  }

 private:
  void ChoosePasses() {
    const auto pass = chip_->has_rotation() ? PassOf(test_, plan_) : std::nullopt;
    if (!pass) return;
    for (const auto& [vm, block] : vms_) RC_ASSERT(chip_->SetRotationPass(block, *pass).ok());
    for (const auto& [scope, block] : contexts_) RC_ASSERT(chip_->SetRotationPass(block, *pass).ok());
  }

  // What a latch would leave in each block.
  std::vector<std::vector<uint64_t>> LiveCounts() const {
    std::vector<uint16_t> events(test_.events);
    std::iota(events.begin(), events.end(), uint16_t{0});
    std::vector<std::vector<uint64_t>> counts(chip_->memory().size(), std::vector<uint64_t>(test_.events));
    for (BlockId block = 0; block < counts.size(); ++block) chip_->AddLiveCounts(block, events, counts[block]);
    return counts;
  }

  Binding BindingOf(const Scope& scope) const {
    Binding binding{.vm = vms_.at(scope.first), .context = std::nullopt};
    if (scope.second != mailbox::kNoContext) binding.context = contexts_.at(scope);
    return binding;
  }

  const RotationCase& test_;
  const PipelineConfig config_;
  const sim::PackedWires wires_;
  CounterPlan plan_;
  std::unique_ptr<Chip> chip_;
  std::unique_ptr<RotationTruth> truth_;
  std::map<uint16_t, BlockId> vms_;
  std::map<Scope, BlockId> contexts_;
  size_t next_ = 0;
};

std::vector<uint64_t> AnyLatches(const RotationCase& test) {
  std::vector<uint64_t> cycles = *rc::gen::container<std::vector<uint64_t>>(rc::gen::inRange<uint64_t>(0, test.cycles));
  cycles.push_back(test.cycles);
  std::ranges::sort(cycles);
  return cycles;
}

// Sums of rows that a VM's block has: its contexts', and its own.
RotationRow SumOf(const RotationTruth& truth, uint16_t vm, uint32_t events, size_t sets) {
  RotationRow sum{.truth = std::vector<uint64_t>(events),
                  .counted = std::vector<uint64_t>(events),
                  .running = std::vector<uint64_t>(sets)};
  for (const auto& [scope, row] : truth.rows()) {
    if (vm != 0 && scope.first != vm) continue;
    for (uint32_t event = 0; event < events; ++event) {
      sum.truth[event] += row.truth[event];
      sum.counted[event] += row.counted[event];
    }
    for (size_t set = 0; set < sets; ++set) sum.running[set] += row.running[set];
    sum.enabled += row.enabled;
    sum.dead += row.dead;
  }
  return sum;
}

// Laws 1, 2 and 10 of one block.
void CheckBlock(RotationRun& run, BlockId block, const RotationRow& row) {
  const auto counters = run.chip().memory().counters(block);
  RC_ASSERT(std::vector<uint64_t>(counters.begin(), counters.end()) == row.counted);
  if (!run.chip().has_rotation()) {
    RC_ASSERT(row.counted == row.truth);
    return;
  }
  const mailbox::BlockRotation numbers = run.chip().RotationOf(block);
  if (numbers.parts.empty()) {
    RC_ASSERT(row.enabled == 0u);
    return;
  }
  RC_ASSERT(numbers.parts.size() == 1u);
  RC_ASSERT(numbers.parts[0].enabled == std::vector<uint64_t>{row.enabled});
  RC_ASSERT(numbers.parts[0].running == row.running);
  uint64_t running = row.dead;
  for (const uint64_t of_set : row.running) running += of_set;
  RC_ASSERT(running == row.enabled);
  for (size_t i = 0; i < numbers.events.size(); ++i) {
    const uint16_t event = run.chip().rotated_events()[i];
    const mailbox::EventEstimate& estimate = numbers.events[i];
    RC_ASSERT(row.counted[event] <= row.truth[event]);
    RC_ASSERT(row.truth[event] <= estimate.upper);
    RC_ASSERT(row.counted[event] <= estimate.estimate);
    RC_ASSERT(estimate.estimate <= estimate.upper);
  }
}

void CheckBlocks(RotationRun& run, const RotationCase& test) {
  const size_t sets = run.plan().sets.size();
  for (const auto& [scope, block] : run.contexts()) {
    const auto row = run.truth().rows().find(scope);
    if (row != run.truth().rows().end() && !row->second.truth.empty()) CheckBlock(run, block, row->second);
  }
  for (const auto& [vm, block] : run.vms()) CheckBlock(run, block, SumOf(run.truth(), vm, test.events, sets));
  CheckBlock(run, 0, SumOf(run.truth(), 0, test.events, sets));
  for (BlockId block = 0; block < run.chip().memory().size(); ++block) {
    RC_ASSERT((run.chip().memory().header(block).flags & ~mailbox::kFlagTriggerOverrun) == 0);
  }
}

TEST(RotationLawsTest, CountsExactlyWhatEachSlotHasAndBoundsTheRest) {
  EXPECT_TRUE(rc::check("laws 1 and 2", [] {
    const RotationCase test = *AnyRotationCase();
    RotationRun run(test);
    RC_PRE(run.is_possible());
    for (const uint64_t cycle : AnyLatches(test)) {
      run.PlayTo(cycle);
      CheckBlocks(run, test);
    }
    RC_CLASSIFY(run.plan().sets.size() > 1, "rotates");
    RC_CLASSIFY(!run.plan().derived.empty(), "derives");
    RC_CLASSIFY(test.dead_cycles > 0, "has dead cycles");
    RC_CLASSIFY(test.adapt, "adapts");
    RC_CLASSIFY(test.is_two_set, "two-set");
  }));
}

// A slot that ended in its dead cycles has counted instructions, but had no running cycle.
TEST(RotationLawsTest, LooksAtRunningCyclesOnly) {
  RotationCase test{.events = 12, .counters = 5, .period = 3, .dead_cycles = 7, .slot = 30, .stable_slot = 90};
  test.tells_instructions = true;
  test.interval = 46, test.threshold_per_mille = 200, test.step = 1;
  test.wires_seed = 23570;
  test.has_relations = false;
  test.trigger_period = 97, test.commit_period = 777, test.buffer_depth = 1;
  test.cycles = kLongRotationCycles;
  test.turns = {{.cycle = 3, .resident = Scope{1, 0}},
                {.cycle = 44, .resident = Scope{1, 0}},
                {.cycle = 48, .resident = Scope{1, mailbox::kNoContext}},
                {.cycle = 52, .resident = Scope{1, 0}},
                {.cycle = 9053, .resident = Scope{1, mailbox::kNoContext}}};
  RotationRun run(test);
  ASSERT_TRUE(run.rotates());
  run.PlayTo(test.cycles);
  const auto counters = run.chip().memory().counters(run.vms().at(1));
  EXPECT_EQ(std::vector<uint64_t>(counters.begin(), counters.end()),
            SumOf(run.truth(), 1, test.events, run.plan().sets.size()).counted);
}

TEST(RotationLawsTest, NeverFalls) {
  EXPECT_TRUE(rc::check("law 4", [] {
    const RotationCase test = *AnyRotationCase();
    RotationRun run(test);
    RC_PRE(run.rotates());
    std::map<BlockId, mailbox::BlockRotation> last;
    for (const uint64_t cycle : AnyLatches(test)) {
      run.PlayTo(cycle);
      for (BlockId block = 0; block < run.chip().memory().size(); ++block) {
        const mailbox::BlockRotation now = run.chip().RotationOf(block);
        const mailbox::BlockRotation& before = last[block];
        for (size_t i = 0; i < before.events.size(); ++i) {
          RC_ASSERT(before.events[i].estimate <= now.events[i].estimate);
          RC_ASSERT(before.events[i].upper <= now.events[i].upper);
        }
        last[block] = now;
      }
    }
  }));
}

// Law 7.
TEST(RotationLawsTest, AddsUp) {
  EXPECT_TRUE(rc::check("law 7", [] {
    const RotationCase test = *AnyRotationCase();
    RotationRun run(test);
    RC_PRE(run.rotates());
    for (const uint64_t cycle : AnyLatches(test)) {
      run.PlayTo(cycle);
      std::vector<uint64_t> estimates(run.chip().rotated_events().size()), uppers(estimates.size());
      for (const auto& [vm, block] : run.vms()) {
        const mailbox::BlockRotation row = run.chip().RotationOf(block);
        for (size_t i = 0; i < row.events.size(); ++i) {
          estimates[i] += row.events[i].estimate;
          uppers[i] += row.events[i].upper;
        }
      }
      const mailbox::BlockRotation device = run.chip().RotationOf(0);
      for (size_t i = 0; i < device.events.size(); ++i) {
        RC_ASSERT(device.events[i].estimate == estimates[i]);
        RC_ASSERT(device.events[i].upper == uppers[i]);
      }
    }
  }));
}

// Law 3: what stays the same is also when things are committed.
TEST(RotationLawsTest, ChangesNothingWhereEveryEventHasACounter) {
  EXPECT_TRUE(rc::check("law 3", [] {
    RotationCase test = *AnyRotationCase();
    test.counters = kUlcCountersMax;
    RotationRun run(test);
    test.rotates = false;
    RotationRun plain(test);
    RC_ASSERT(run.is_possible());
    for (const uint64_t cycle : AnyLatches(test)) {
      run.PlayTo(cycle);
      plain.PlayTo(cycle);
      std::vector<mailbox::BlockHeader> headers, plain_headers;
      std::vector<uint64_t> counters, plain_counters;
      run.chip().memory().CopyTo(headers, counters);
      plain.chip().memory().CopyTo(plain_headers, plain_counters);
      RC_ASSERT(headers == plain_headers);
      RC_ASSERT(counters == plain_counters);
    }
    RC_ASSERT(run.chip().stats() == plain.chip().stats());
  }));
}

// Law 9: another tenant's residencies come and go elsewhere in time; the row is the same.
TEST(RotationLawsTest, DoesNotDependOnWhoElseRuns) {
  EXPECT_TRUE(rc::check("law 9", [] {
    RotationCase test = *AnyRotationCase();
    RotationRun run(test);
    RC_PRE(run.rotates());
    run.PlayTo(test.cycles);
    RotationCase other = test;
    std::erase_if(other.turns, [](const RotationTurn& turn) { return turn.resident && turn.resident->first == 2; });
    for (size_t i = 0; i < test.turns.size(); ++i) {
      const bool is_other = test.turns[i].resident && test.turns[i].resident->first == 2;
      if (is_other) other.turns.push_back({.cycle = test.turns[i].cycle, .resident = std::nullopt});
    }
    std::ranges::stable_sort(other.turns, {}, &RotationTurn::cycle);
    RotationRun alone(other);
    alone.PlayTo(test.cycles);
    for (const Scope& scope : {Scope{1, 0}, Scope{1, 1}}) {
      const BlockId block = run.contexts().at(scope);
      RC_ASSERT(run.chip().RotationOf(block) == alone.chip().RotationOf(block));
    }
    RC_ASSERT(run.chip().RotationOf(run.vms().at(1)) == alone.chip().RotationOf(alone.vms().at(1)));
  }));
}

// Law 9: the cadence of a confidential VM tells nothing of what it counts.
TEST(RotationLawsTest, TellsNothingOfConfidentialVms) {
  EXPECT_TRUE(rc::check("law 9, confidential", [] {
    const RotationCase test = *AnyRotationCase();
    RotationCase other = test;
    other.wires_seed = ~test.wires_seed;
    RotationRun run(test), altered(other);
    RC_PRE(run.rotates());
    for (RotationRun* each : {&run, &altered}) {
      for (const auto& [vm, block] : each->vms()) each->chip().SetConfidential(block, true);
    }
    for (const uint64_t cycle : AnyLatches(test)) {
      run.PlayTo(cycle);
      altered.PlayTo(cycle);
      for (BlockId block = 0; block < run.chip().memory().size(); ++block) {
        RC_ASSERT(run.chip().RotationOf(block).parts == altered.chip().RotationOf(block).parts);
      }
    }
  }));
}

// Laws 5 and 6 of whole chips, in which what is shown is a running maximum within bounds.
TEST(RotationLawsTest, EstimatesWell) {
  RotationCase test{.events = 20, .counters = 8, .period = 2, .slot = 20, .stable_slot = 40, .has_relations = false};
  test.adapt = test.tells_instructions = true;
  test.cycles = 12'000;
  for (uint64_t cycle = 0; cycle < test.cycles; cycle += 170) {
    test.turns.push_back({.cycle = cycle, .resident = Scope{1, cycle % 340 == 0}});
  }
  constexpr uint64_t kSeeds = 200;
  std::map<uint16_t, std::array<double, 2>> errors;  // per event: sum, and of squares
  uint64_t rows = 0, hits = 0;
  for (test.seed = 0; test.seed < kSeeds; ++test.seed) {
    RotationRun run(test);
    ASSERT_TRUE(run.rotates());
    run.PlayTo(test.cycles);
    const mailbox::BlockRotation numbers = run.chip().RotationOf(run.contexts().at({1, 0}));
    const RotationRow& row = run.truth().rows().at({1, 0});
    for (size_t i = 0; i < numbers.events.size(); ++i) {
      const uint16_t event = run.chip().rotated_events()[i];
      // Each residency drops a remainder of what was counted, however short: half a count that stands for several.
      if (event == kPrescaledEvent) continue;
      const auto& [estimate, upper, deviation] = numbers.events[i];
      const double error = static_cast<double>(estimate) - static_cast<double>(row.truth[event]);
      errors[event][0] += error, errors[event][1] += error * error;
      ++rows;
      if (std::abs(error) <= 1.96 * static_cast<double>(deviation) + 1) ++hits;
    }
  }
  EXPECT_GE(static_cast<double>(hits), 0.94 * static_cast<double>(rows));
  for (const auto& [event, sums] : errors) {
    const double mean = sums[0] / kSeeds, deviation = std::sqrt(sums[1] / kSeeds - mean * mean);
    EXPECT_LE(std::abs(mean), (0.25 + 4 / std::sqrt(kSeeds)) * deviation + 1) << event;
  }
}

}  // namespace
}  // namespace sideband::mcu
