// SPDX-License-Identifier: Apache-2.0
//
// The laws of counter rotation (counter-rotation.md, "Laws") on drawn chips.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "proto/mailbox/catalog.h"
#include "proto/mailbox/snapshot.h"
#include "rapidcheck/gtest.h"
#include "secure_mcu/chip/chip.h"
#include "sim/wires/clocked_source.h"
#include "tests/lab/laws/rotation_case.h"

namespace sideband::mcu {
namespace {

// Checks of law 2, of all cases; SIDEBAND_VERBOSE prints it.
uint64_t containment_checks = 0;

class CountsChecks : public testing::Environment {
 public:
  void TearDown() override {
    if (std::getenv("SIDEBAND_VERBOSE") != nullptr) std::cout << containment_checks << " checks of containment\n";
  }
};
const testing::Environment* const counts_checks = testing::AddGlobalTestEnvironment(new CountsChecks);

// The chip of a case, and its truth, side by side.
class RotationRun {
 public:
  explicit RotationRun(const RotationCase& test) : test_(test), config_(ConfigOf(test)), wires_(WiresOf(test)) {
    auto chip = Chip::Create(config_);
    if (!chip.ok()) return;
    chip_ = *std::move(chip);
    for (const uint16_t vm : {uint16_t{1}, uint16_t{2}}) vms_[vm] = chip_->memory().Create(vm, mailbox::kNoContext);
    for (const RotationScope& scope : {RotationScope{1, 0}, RotationScope{1, 1}, RotationScope{2, 0}}) {
      contexts_[scope] = chip_->memory().Create(scope.first, scope.second);
    }
    if (test.private_vm > 0) chip_->guests().vm_control(vms_.at(test.private_vm)).is_private = true;
    if (rotates()) ChoosePlans();
    Attach();
    if (test.has_host_blocks) chip_->CreateHostBlocks();
    truth_ = std::make_unique<RotationTruth>(
        test_, config_, rotates() ? chip_->rotation().turns().plans() : std::vector<TurnPlan>(), wires_);
  }

  // A drawn plan may not fit.
  bool is_possible() const { return chip_ != nullptr; }
  bool rotates() const { return chip_ != nullptr && chip_->has_rotation(); }
  Chip& chip() { return *chip_; }
  const CounterPlan& plan() const { return chip_->rotation().turns().plans()[0].counters; }
  bool has_second_plan() const { return second_ > 0; }
  const RotationTruth& truth() const { return *truth_; }
  const std::map<uint16_t, BlockId>& vms() const { return vms_; }
  const std::map<RotationScope, BlockId>& contexts() const { return contexts_; }
  // The blocks of VM 1 and of its contexts.
  std::vector<BlockId> BlocksOfVm1() const { return {vms_.at(1), contexts_.at({1, 0}), contexts_.at({1, 1})}; }

  // Latches at the cycle.
  void PlayTo(uint64_t cycle) {
    for (; next_ < test_.turns.size() && test_.turns[next_].cycle <= cycle; ++next_) Act(test_.turns[next_]);
    chip_->AdvanceTo(cycle);
    const std::vector<std::vector<uint64_t>> live = LiveCounts();
    chip_->Latch();
    for (BlockId block = 0; block < live.size(); ++block) {
      RC_ASSERT(std::ranges::equal(live[block], chip_->memory().counters(block)));
    }
    truth_->AdvanceTo(cycle);
  }

  // A stream of the blocks at the last latch, with the plans that they have cycles of.
  Bytes Encoded(const std::vector<BlockId>& blocks) const {
    mailbox::Snapshot snapshot{.counters_per_block = EventsOf(test_)};
    for (const BlockId block : blocks) {
      snapshot.blocks.push_back(chip_->memory().header(block));
      const auto counters = chip_->memory().counters(block);
      snapshot.counters.insert(snapshot.counters.end(), counters.begin(), counters.end());
      if (rotates()) snapshot.rotation.push_back(chip_->rotation().NumbersOf(block));
    }
    if (rotates()) snapshot.layout = LayoutOf(snapshot.rotation);
    return mailbox::EncodeSnapshotStream(snapshot, nullptr, {}, mailbox::Framing::kSections);
  }

 private:
  void ChoosePlans() {
    const auto wishes = SecondPlanOf(test_, chip_->rotation().turns().events());
    const auto number = wishes ? chip_->rotation().Plan(*wishes, SecondSettingsOf(test_, config_))
                               : absl::StatusOr<uint16_t>(uint16_t{0});
    second_ = number.value_or(0);
    for (const auto& [vm, block] : vms_) ChoosePlan(vm, block);
    for (const auto& [scope, block] : contexts_) ChoosePlan(scope.first, block);
  }

  void ChoosePlan(uint16_t vm, BlockId block) {
    if (vm == test_.planned_vm) chip_->rotation().turns().Choose(block, second_);
    if (chip_->rotation().turns().chosen(block) > 0) return;
    if (const auto pass = PassOf(test_, plan())) RC_ASSERT(chip_->rotation().turns().ChoosePass(block, *pass).ok());
  }

  void Attach() {
    for (uint32_t channel = 0; channel <= test_.slices; ++channel) {
      clocked_.push_back(std::make_unique<sim::ClockedSource>(wires_[channel]));
      chip_->Attach(channel == test_.slices ? kDeviceChannel : static_cast<uint8_t>(channel), *clocked_.back());
    }
  }

  void Act(const RotationTurn& turn) {
    const auto slice = static_cast<uint8_t>(turn.slice);
    // Exits and entries may be told ahead.
    const bool is_ahead = turn.value % 2 == 0;
    if (!is_ahead) chip_->AdvanceTo(turn.cycle);
    if (turn.kind == RotationTurn::kExit) chip_->guests().Exit(slice, turn.cycle);
    if (turn.kind == RotationTurn::kEntry) chip_->guests().Enter(slice, turn.cycle);
    chip_->AdvanceTo(turn.cycle);
    if (turn.kind == RotationTurn::kWrite && test_.has_gates) {
      chip_->guests().gate(slice).WriteValue({.master = true, .vector_enable = true, .vector = turn.value});
      chip_->guests().ShowGate(slice);
    }
    if (turn.kind == RotationTurn::kChoose && rotates()) {
      chip_->rotation().turns().Choose(BlockOf(*turn.resident), turn.value % 2 == 0 ? 0 : second_);
    }
    if (turn.kind == RotationTurn::kSwitch) {
      chip_->SwitchTo(slice, turn.resident ? std::optional(BindingOf(*turn.resident)) : std::nullopt);
    }
  }

  // The counts that a latch would leave in each block.
  std::vector<std::vector<uint64_t>> LiveCounts() const {
    std::vector<uint16_t> events(EventsOf(test_));
    std::iota(events.begin(), events.end(), uint16_t{0});
    std::vector<std::vector<uint64_t>> counts(chip_->memory().size(), std::vector<uint64_t>(events.size()));
    for (BlockId block = 0; block < counts.size(); ++block) chip_->live().Add(block, events, counts[block]);
    return counts;
  }

  mailbox::RotationLayout LayoutOf(const std::vector<mailbox::BlockRotation>& rows) const {
    mailbox::RotationLayout layout;
    for (const uint16_t event : chip_->rotation().turns().events()) layout.events.push_back({.event = event});
    for (const TurnPlan& plan : chip_->rotation().turns().plans()) {
      const bool has_cycles = std::ranges::any_of(rows, [&](const mailbox::BlockRotation& row) {
        return std::ranges::find(row.parts, plan.number, &mailbox::RotationPart::plan) != row.parts.end();
      });
      if (!has_cycles) continue;
      layout.plans.push_back({plan.number, std::vector<uint64_t>(layout.events.size())});
      auto& of_plan = layout.plans.back();
      for (size_t set = 0; set < plan.counters.sets.size(); ++set) {
        for (size_t i = 0; i < layout.events.size(); ++i) {
          const bool is_in = mailbox::Includes(plan.counters.sets[set], layout.events[i].event);
          of_plan.sets_of[i] |= uint64_t{is_in} << set;
        }
      }
    }
    return layout;
  }

  BlockId BlockOf(const RotationScope& scope) const {
    return scope.second == mailbox::kNoContext ? vms_.at(scope.first) : contexts_.at(scope);
  }

  Binding BindingOf(const RotationScope& scope) const {
    Binding binding{.vm = vms_.at(scope.first), .context = std::nullopt};
    if (scope.second != mailbox::kNoContext) binding.context = contexts_.at(scope);
    return binding;
  }

  const RotationCase& test_;
  const PipelineConfig config_;
  const RotationWires wires_;
  std::vector<std::unique_ptr<sim::ClockedSource>> clocked_;
  std::unique_ptr<Chip> chip_;
  std::unique_ptr<RotationTruth> truth_;
  std::map<uint16_t, BlockId> vms_;
  std::map<RotationScope, BlockId> contexts_;
  uint16_t second_ = 0;
  size_t next_ = 0;
};

std::vector<uint64_t> AnyLatches(const RotationCase& test) {
  std::vector<uint64_t> cycles = *rc::gen::container<std::vector<uint64_t>>(rc::gen::inRange<uint64_t>(0, test.cycles));
  cycles.push_back(test.cycles);
  std::ranges::sort(cycles);
  return cycles;
}

// Law 1 of the cycles of a plan; a plan without any is as if it had no part.
void CheckCycles(const mailbox::RotationPart& part, const PlanCycles& cycles) {
  std::vector<uint64_t> enabled = cycles.enabled, running;
  for (const auto& of_set : cycles.running) running.insert(running.end(), of_set.begin(), of_set.end());
  enabled.resize(part.enabled.size());
  running.resize(part.running.size());
  RC_ASSERT(part.enabled == enabled);
  RC_ASSERT(part.running == running);
  for (size_t line = 0; line < cycles.enabled.size(); ++line) {
    uint64_t sum = cycles.dead[line];
    for (const auto& of_set : cycles.running) sum += of_set[line];
    RC_ASSERT(sum == part.enabled[line]);
  }
}

// Laws 1, 2 and 10 of one block.
void CheckBlock(RotationRun& run, BlockId block, const RotationRow& row) {
  const auto counters = run.chip().memory().counters(block);
  RC_ASSERT(std::vector<uint64_t>(counters.begin(), counters.end()) == row.counted);
  if (!run.rotates()) {
    RC_ASSERT(row.counted == row.truth);
    return;
  }
  const mailbox::BlockRotation numbers = run.chip().rotation().NumbersOf(block);
  for (const mailbox::RotationPart& part : numbers.parts) {
    const auto cycles = row.plans.find(part.plan);
    CheckCycles(part, cycles == row.plans.end() ? PlanCycles() : cycles->second);
  }
  for (const auto& [number, cycles] : row.plans) {
    RC_ASSERT(std::ranges::count(numbers.parts, number, &mailbox::RotationPart::plan) == 1);
  }
  for (size_t i = 0; i < numbers.events.size(); ++i) {
    const uint16_t event = run.chip().rotation().turns().events()[i];
    const mailbox::EventEstimate& estimate = numbers.events[i];
    RC_ASSERT(row.counted[event] <= row.truth[event]);
    RC_ASSERT(row.truth[event] <= estimate.upper);
    RC_ASSERT(row.counted[event] <= estimate.estimate);
    RC_ASSERT(estimate.estimate <= estimate.upper);
    containment_checks += 4;
  }
}

void CheckBlocks(RotationRun& run) {
  for (const auto& [scope, row] : run.truth().rows()) {
    const auto block = run.contexts().find(scope);
    if (block != run.contexts().end()) CheckBlock(run, block->second, row);
    const bool is_host = scope.first == 0 && scope != kDeviceScope;
    if (is_host) CheckBlock(run, run.chip().host_block(static_cast<uint8_t>(scope.second)), row);
  }
  for (const auto& [vm, block] : run.vms()) CheckBlock(run, block, run.truth().SumOf(vm));
  CheckBlock(run, 0, run.truth().Device());
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
      CheckBlocks(run);
    }
    if (!run.rotates()) return;
    RC_CLASSIFY(run.plan().sets.size() > 1, "rotates");
    RC_CLASSIFY(!run.plan().derived.empty(), "derives");
    RC_CLASSIFY(test.dead_cycles > 0, "has dead cycles");
    RC_CLASSIFY(test.adapt, "adapts");
    RC_CLASSIFY(test.is_two_set, "two-set");
    RC_CLASSIFY(test.slices > 1, "slices");
    RC_CLASSIFY(test.has_gates, "gates");
    RC_CLASSIFY(test.has_host_blocks, "host blocks");
    RC_CLASSIFY(test.has_device_units, "device units");
    RC_CLASSIFY(test.private_vm > 0, "a private VM");
    RC_CLASSIFY(run.has_second_plan(), "two plans");
    RC_CLASSIFY(run.chip().stats().threshold_triggers > 0, "threshold triggers");
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
  test.turns = {{.cycle = 3, .resident = RotationScope{1, 0}},
                {.cycle = 44, .resident = RotationScope{1, 0}},
                {.cycle = 48, .resident = RotationScope{1, mailbox::kNoContext}},
                {.cycle = 52, .resident = RotationScope{1, 0}},
                {.cycle = 9053, .resident = RotationScope{1, mailbox::kNoContext}}};
  RotationRun run(test);
  ASSERT_TRUE(run.rotates());
  run.PlayTo(test.cycles);
  const auto counters = run.chip().memory().counters(run.vms().at(1));
  EXPECT_EQ(std::vector<uint64_t>(counters.begin(), counters.end()), run.truth().SumOf(1).counted);
}

// A turn of `two-set` goes on in the next residency, and cycles of the hypervisor are not of its time.
TEST(RotationLawsTest, ExitsMakeNoTurnOlder) {
  RotationCase test{.events = 12, .counters = 6, .period = 2, .slot = 100, .stable_slot = 100};
  test.has_relations = false;
  test.is_two_set = test.has_pass = test.has_gates = true;
  test.turns = {{.cycle = 0, .resident = RotationScope{1, 0}},
                {.cycle = 30, .resident = {}, .kind = RotationTurn::kExit},
                {.cycle = 500, .resident = {}},
                {.cycle = 510, .resident = RotationScope{1, 0}}};
  RotationRun run(test);
  ASSERT_TRUE(run.rotates());
  run.PlayTo(600);
  const mailbox::RotationPart part = run.chip().rotation().NumbersOf(run.contexts().at({1, 0})).parts.at(0);
  // Only the second of the two groups is open during the exit. Per set: all cycles, and those with each gate open.
  EXPECT_EQ(part.enabled, (std::vector<uint64_t>{590, 120, 590}));
  EXPECT_EQ(std::vector<uint64_t>(part.running.begin(), part.running.begin() + 6),
            (std::vector<uint64_t>{570, 100, 570, 20, 20, 20}));
}

// The device's turns derive nothing of what slices count, and find no contradiction in it.
TEST(RotationLawsTest, TheDeviceHasNoPartInRelationsOfSlices) {
  RotationCase test{.events = 13, .counters = 8, .period = 2, .slot = 100, .stable_slot = 100};
  test.has_device_units = test.has_gates = true;
  test.turns = {{.cycle = 300, .resident = RotationScope{1, 0}}};
  RotationRun run(test);
  ASSERT_TRUE(run.rotates());
  ASSERT_FALSE(run.plan().derived.empty());
  run.PlayTo(250);
  CheckBlocks(run);
  for (uint16_t event = 0; event < test.events; ++event) EXPECT_EQ(run.chip().memory().counters(0)[event], 0u);
  run.PlayTo(1000);
  CheckBlocks(run);
  const mailbox::BlockRotation numbers = run.chip().rotation().NumbersOf(0);
  ASSERT_EQ(numbers.parts.size(), 2u);
  EXPECT_EQ(numbers.parts[1].enabled, (std::vector<uint64_t>{1000, 0, 0})) << "the device's events have no gate";
}

bool AreAtMost(const std::vector<uint64_t>& before, const std::vector<uint64_t>& now) {
  return before.size() <= now.size() &&
         std::ranges::equal(before, std::span(now).first(before.size()), std::less_equal());
}

struct ShownRow {
  std::vector<uint64_t> counters;
  mailbox::BlockRotation numbers;
};

// Every number but the error; the lower bound is what was counted.
void CheckNeverFell(const ShownRow& before, const ShownRow& now) {
  RC_ASSERT(AreAtMost(before.counters, now.counters));
  RC_ASSERT(before.numbers.events.size() <= now.numbers.events.size());
  for (size_t i = 0; i < before.numbers.events.size(); ++i) {
    RC_ASSERT(before.numbers.events[i].estimate <= now.numbers.events[i].estimate);
    RC_ASSERT(before.numbers.events[i].upper <= now.numbers.events[i].upper);
  }
  for (const mailbox::RotationPart& part : before.numbers.parts) {
    const auto found = std::ranges::find(now.numbers.parts, part.plan, &mailbox::RotationPart::plan);
    RC_ASSERT(found != now.numbers.parts.end());
    RC_ASSERT(AreAtMost(part.enabled, found->enabled));
    RC_ASSERT(AreAtMost(part.running, found->running));
  }
}

ShownRow Shown(RotationRun& run, BlockId block) {
  const auto counters = run.chip().memory().counters(block);
  return {{counters.begin(), counters.end()}, run.chip().rotation().NumbersOf(block)};
}

TEST(RotationLawsTest, NeverFalls) {
  EXPECT_TRUE(rc::check("law 4", [] {
    const RotationCase test = *AnyRotationCase();
    RotationRun run(test);
    RC_PRE(run.rotates());
    std::map<BlockId, ShownRow> last;
    for (const uint64_t cycle : AnyLatches(test)) {
      run.PlayTo(cycle);
      for (BlockId block = 0; block < run.chip().memory().size(); ++block) {
        const ShownRow now = Shown(run, block);
        CheckNeverFell(last[block], now);
        last[block] = now;
      }
    }
  }));
}

// Rows added. Of variances only their roots are shown, each rounded up.
struct AddedRows {
  std::vector<uint64_t> counters, estimates, uppers;
  std::map<uint16_t, PlanCycles> plans;
  std::vector<double> least_variances, variances;

  void Add(const ShownRow& row) {
    AddTo(row.counters, counters);
    estimates.resize(std::max(estimates.size(), row.numbers.events.size()));
    uppers.resize(estimates.size());
    least_variances.resize(estimates.size());
    variances.resize(estimates.size());
    for (size_t i = 0; i < row.numbers.events.size(); ++i) {
      estimates[i] += row.numbers.events[i].estimate;
      uppers[i] += row.numbers.events[i].upper;
      const auto deviation = static_cast<double>(row.numbers.events[i].deviation);
      variances[i] += deviation * deviation;
      least_variances[i] += std::pow(std::max(deviation - 1, 0.0), 2);
    }
    for (const mailbox::RotationPart& part : row.numbers.parts) {
      PlanCycles& cycles = plans[part.plan];
      AddTo(part.enabled, cycles.enabled);
      cycles.running.resize(1);
      AddTo(part.running, cycles.running[0]);
    }
  }

 private:
  static void AddTo(const std::vector<uint64_t>& values, std::vector<uint64_t>& sums) {
    sums.resize(std::max(sums.size(), values.size()));
    for (size_t i = 0; i < values.size(); ++i) sums[i] += values[i];
  }
};

void CheckIsSum(const ShownRow& row, const AddedRows& sum) {
  RC_ASSERT(row.counters == sum.counters);
  for (size_t i = 0; i < row.numbers.events.size(); ++i) {
    const mailbox::EventEstimate& event = row.numbers.events[i];
    RC_ASSERT(event.estimate == sum.estimates[i]);
    RC_ASSERT(event.upper == sum.uppers[i]);
    const auto deviation = static_cast<double>(event.deviation);
    RC_ASSERT(deviation * deviation >= sum.least_variances[i]);
    RC_ASSERT(std::pow(std::max(deviation - 1, 0.0), 2) <= sum.variances[i]);
  }
  for (const mailbox::RotationPart& part : row.numbers.parts) {
    const auto cycles = sum.plans.find(part.plan);
    RC_ASSERT(cycles != sum.plans.end());
    RC_ASSERT(part.enabled == cycles->second.enabled);
    RC_ASSERT(part.running == cycles->second.running[0]);
  }
}

// Every residency is a context's.
void GiveContexts(RotationCase& test) {
  for (RotationTurn& turn : test.turns) {
    if (turn.resident && turn.resident->second == mailbox::kNoContext) turn.resident->second = 0;
  }
  // The device's own events are of no row below it.
  test.has_device_units = false;
}

bool IsResident(RotationRun& run, uint32_t slices, BlockId block) {
  for (uint32_t slice = 0; slice < slices; ++slice) {
    const auto& resident = run.chip().resident(static_cast<uint8_t>(slice));
    if (resident && resident->context == block) return true;
  }
  return false;
}

// Law 7: contexts add up to their VM, those that are gone included, and VMs and host blocks to the device, without
// private VMs.
TEST(RotationLawsTest, AddsUp) {
  EXPECT_TRUE(rc::check("law 7", [] {
    RotationCase test = *AnyRotationCase();
    GiveContexts(test);
    RotationRun run(test);
    RC_PRE(run.rotates());
    std::map<uint16_t, AddedRows> gone;  // contexts, by VM
    for (const uint64_t cycle : AnyLatches(test)) {
      run.PlayTo(cycle);
      AddedRows of_device;
      for (const auto& [vm, block] : run.vms()) {
        AddedRows of_vm = gone[vm];
        for (const auto& [scope, context] : run.contexts()) {
          if (scope.first == vm) of_vm.Add(Shown(run, context));
        }
        CheckIsSum(Shown(run, block), of_vm);
        if (vm != test.private_vm) of_device.Add(Shown(run, block));
      }
      for (uint32_t slice = 0; test.has_host_blocks && slice < test.slices; ++slice) {
        of_device.Add(Shown(run, run.chip().host_block(static_cast<uint8_t>(slice))));
      }
      CheckIsSum(Shown(run, 0), of_device);
      for (const auto& [scope, context] : run.contexts()) {
        if (*rc::gen::inRange(0, 4) > 0 || IsResident(run, test.slices, context)) continue;
        gone[scope.first].Add(Shown(run, context));
        run.chip().memory().Renew(context);
      }
    }
  }));
}

// Law 3: what stays the same is also when things are committed, and what is sent.
TEST(RotationLawsTest, ChangesNothingWhereEveryEventHasACounter) {
  EXPECT_TRUE(rc::check("law 3", [] {
    RotationCase test = *AnyRotationCase();
    test.counters = kUlcCountersMax;
    RotationCase of_plain = test;
    of_plain.rotates = false;
    RotationRun run(test), plain(of_plain);
    RC_ASSERT(run.is_possible() && !run.rotates());
    std::vector<BlockId> blocks(run.chip().memory().size());
    std::iota(blocks.begin(), blocks.end(), BlockId{0});
    for (const uint64_t cycle : AnyLatches(test)) {
      run.PlayTo(cycle);
      plain.PlayTo(cycle);
      std::vector<mailbox::BlockHeader> headers, plain_headers;
      mailbox::CounterValues counters, plain_counters;
      run.chip().memory().CopyTo(headers, counters);
      plain.chip().memory().CopyTo(plain_headers, plain_counters);
      RC_ASSERT(headers == plain_headers);
      RC_ASSERT(counters == plain_counters);
      RC_ASSERT(run.Encoded(blocks) == plain.Encoded(blocks));
    }
    RC_ASSERT(run.chip().stats() == plain.chip().stats());
  }));
}

// VM 2 is elsewhere: others' residencies, modes and values come and go, or there are none.
void ClearVm2(RotationCase& test) {
  std::erase_if(test.turns, [](const RotationTurn& turn) { return turn.kind == RotationTurn::kChoose; });
  for (RotationTurn& turn : test.turns) {
    if (turn.resident && turn.resident->first == 2) turn.resident.reset();
  }
}

// Everything that is not VM 1's: what the others count, which plan they have, how it adapts, and whether they run.
RotationCase WithOtherOthers(const RotationCase& test) {
  RotationCase other = test;
  other.wires_seed_of_others = ~test.wires_seed_of_others;
  other.private_vm = test.private_vm == 1 ? 1 : 2 - test.private_vm;
  if (*rc::gen::arbitrary<bool>()) ClearVm2(other);
  if (test.planned_vm == 2) {
    other.planned_vm = *rc::gen::element<uint16_t>(0, 2);
    other.planned_events = *rc::gen::arbitrary<uint32_t>();
    other.planned_slot += *rc::gen::inRange<uint64_t>(0, 99);
    other.plan_adapts = !test.plan_adapts;
    return other;
  }
  if (test.planned_vm == 0) return other;
  // VM 1 has the second plan: the chip's own is the others'.
  other.adapt = !test.adapt;
  other.slot += *rc::gen::inRange<uint64_t>(0, 99);
  other.stable_slot = 3 * other.slot;
  return other;
}

// No number of a trigger, and no flag, that others could move.
RotationCase Unhurried(RotationCase test) {
  test.threshold = kCcuThresholdDefault;
  test.trigger_period = 0;
  // Choices are VM 2's.
  for (RotationTurn& turn : test.turns) {
    if (turn.kind == RotationTurn::kChoose) turn.resident->first = 2, turn.resident->second = 0;
  }
  return test;
}

// Law 9: what other tenants are, have and do leaves every number of a tenant as it is, and each byte that is sent of
// it.
TEST(RotationLawsTest, DoesNotDependOnWhoElseRuns) {
  EXPECT_TRUE(rc::check("law 9", [] {
    const RotationCase test = Unhurried(*AnyRotationCase());
    const RotationCase other = WithOtherOthers(test);
    RotationRun run(test), altered(other);
    RC_PRE(run.rotates());
    RC_PRE(altered.rotates());
    RC_PRE(test.planned_vm != 1 || (run.has_second_plan() && altered.has_second_plan()));
    for (const uint64_t cycle : AnyLatches(test)) {
      run.PlayTo(cycle);
      altered.PlayTo(cycle);
      for (const BlockId block : run.BlocksOfVm1()) {
        const ShownRow one = Shown(run, block), two = Shown(altered, block);
        RC_ASSERT(one.counters == two.counters);
        RC_ASSERT(one.numbers == two.numbers);
        RC_ASSERT(run.chip().memory().header(block) == altered.chip().memory().header(block));
      }
      RC_ASSERT(run.Encoded(run.BlocksOfVm1()) == altered.Encoded(altered.BlocksOfVm1()));
    }
    RC_CLASSIFY(test.planned_vm == 1, "VM 1 has a plan of its own");
    RC_CLASSIFY(test.planned_vm == 2, "VM 2 has one");
  }));
}

// Law 9: the cadence of a confidential VM tells nothing of what it counts.
TEST(RotationLawsTest, TellsNothingOfConfidentialVms) {
  EXPECT_TRUE(rc::check("law 9, confidential", [] {
    const RotationCase test = *AnyRotationCase();
    RotationCase other = test;
    other.wires_seed = ~test.wires_seed, other.wires_seed_of_others = ~test.wires_seed_of_others;
    RotationRun run(test), altered(other);
    RC_PRE(run.rotates());
    for (RotationRun* each : {&run, &altered}) {
      for (const auto& [vm, block] : each->vms()) each->chip().rotation().SetConfidential(block, true);
    }
    std::vector<BlockId> blocks = run.BlocksOfVm1();
    blocks.insert(blocks.end(), {run.vms().at(2), run.contexts().at({2, 0})});
    for (const uint64_t cycle : AnyLatches(test)) {
      run.PlayTo(cycle);
      altered.PlayTo(cycle);
      for (const BlockId block : blocks) {
        RC_ASSERT(run.chip().rotation().NumbersOf(block).parts == altered.chip().rotation().NumbersOf(block).parts);
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
    test.turns.push_back({.cycle = cycle, .resident = RotationScope{1, cycle % 340 == 0}});
  }
  constexpr uint64_t kSeeds = 200;
  std::map<uint16_t, std::array<double, 2>> errors;  // per event: sum, and of squares
  uint64_t rows = 0, hits = 0;
  for (test.seed = 0; test.seed < kSeeds; ++test.seed) {
    RotationRun run(test);
    ASSERT_TRUE(run.rotates());
    run.PlayTo(test.cycles);
    const mailbox::BlockRotation numbers = run.chip().rotation().NumbersOf(run.contexts().at({1, 0}));
    const RotationRow& row = run.truth().rows().at({1, 0});
    for (size_t i = 0; i < numbers.events.size(); ++i) {
      const uint16_t event = run.chip().rotation().turns().events()[i];
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
