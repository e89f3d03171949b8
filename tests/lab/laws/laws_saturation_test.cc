// SPDX-License-Identifier: Apache-2.0
//
// Honesty when counts are lost: residencies too long for 28 bits, on wires that are always 1. The expected counts and
// losses of each block follow from plain arithmetic.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <ostream>
#include <vector>

#include "secure_mcu/chip/chip.h"

namespace sideband::mcu {
namespace {

namespace gen = rc::gen;

constexpr uint64_t kCounterMax = (uint64_t{1} << 28) - 1;
constexpr uint32_t kTenants = 3;  // contexts of one VM

struct Stay {
  uint32_t tenant = 0;  // kTenants: none
  uint64_t cycles = 0;
};

struct LongCase {
  uint32_t mapped = 1;  // wires that are added to the one counter
  uint32_t speed = 1;   // edges of their clock per reference cycle
  uint32_t threshold = 0;
  uint64_t trigger_period = 0;
  std::vector<Stay> stays;
};

std::ostream& operator<<(std::ostream& out, const LongCase& test) {
  out << test.mapped << " wires, " << test.speed << " edges per cycle, threshold " << test.threshold
      << ", trigger period " << test.trigger_period << "\n";
  for (const Stay& stay : test.stays) out << "  tenant " << stay.tenant << " for " << stay.cycles << " cycles\n";
  return out;
}

class FastOnes final : public sim::WireSource {
 public:
  explicit FastOnes(uint64_t speed) : speed_(speed) {}
  void AddCounts(sim::CycleRange range, std::span<const sim::WireId>, std::span<uint64_t> sums) const override {
    for (uint64_t& sum : sums) sum += range.size();
  }
  uint64_t CyclesBefore(size_t domain, uint64_t cycle) const override { return domain == 0 ? cycle : cycle * speed_; }
  uint64_t CyclesHeld(size_t domain, uint64_t end) const override { return CyclesBefore(domain, end); }

 private:
  const uint64_t speed_;
};

PipelineConfig ConfigOf(const LongCase& test) {
  PipelineConfig config{.slices = 1, .events = 1};
  config.ccus = Pack("slice", 0, std::vector<CounterInput>(test.mapped), UlcSpec{.domain = 1});
  config.ccus[0].threshold = test.threshold;
  config.trigger_period = test.trigger_period;
  config.commit_period = config.hypervisor_commit_period = 0;
  return config;
}

// A chip after playing and latching the case.
class LongRun {
 public:
  explicit LongRun(const LongCase& test) : wires_(test.speed), chip_(*Chip::Create(ConfigOf(test))) {
    vm_ = chip_->memory().Create(1, mailbox::kNoContext);
    for (uint16_t context = 0; context < kTenants; ++context) contexts_[context] = chip_->memory().Create(1, context);
    chip_->Attach(0, wires_);
    for (const Stay& stay : test.stays) {
      chip_->SwitchTo(0, stay.tenant < kTenants ? std::optional(Binding{vm_, contexts_[stay.tenant]}) : std::nullopt);
      chip_->AdvanceTo(chip_->now() + stay.cycles);
    }
    chip_->Latch();
  }
  uint64_t Count(BlockId block) const { return chip_->memory().counters(block)[0]; }
  uint16_t Flags(BlockId block) const { return chip_->memory().header(block).flags; }
  BlockId vm() const { return vm_; }
  BlockId context(uint32_t tenant) const { return contexts_[tenant]; }

 private:
  const FastOnes wires_;
  const std::unique_ptr<Chip> chip_;
  BlockId vm_;
  std::array<BlockId, kTenants> contexts_;
};

struct Truth {
  uint64_t all = 0;   // counts on the wires
  uint64_t held = 0;  // of these, the counts that fit into 28 bits if no trigger empties them within a residency
};

std::array<Truth, kTenants + 1> TruthOf(const LongCase& test) {  // the last: the sum over all tenants
  std::array<Truth, kTenants + 1> truth;
  for (const Stay& stay : test.stays) {
    if (stay.tenant >= kTenants) continue;
    const uint64_t count = stay.cycles * test.mapped * test.speed;
    for (Truth* const block : {&truth[stay.tenant], &truth[kTenants]}) {
      block->all += count;
      block->held += std::min(count, kCounterMax);
    }
  }
  return truth;
}

rc::Gen<LongCase> AnyLongCase(const rc::Gen<uint32_t>& threshold, const rc::Gen<uint64_t>& trigger_period) {
  const auto cycles = gen::resize(
      rc::kNominalSize, gen::weightedOneOf<uint64_t>({{1, gen::inRange<uint64_t>(0, 2000)},
                                                      {2, gen::inRange<uint64_t>(0, uint64_t{1} << 29)},
                                                      {1, gen::inRange<uint64_t>(kCounterMax - 3, kCounterMax + 4)}}));
  const auto stay = gen::build<Stay>(gen::set(&Stay::tenant, gen::inRange<uint32_t>(0, kTenants + 1)),
                                     gen::set(&Stay::cycles, cycles));
  const auto few =
      gen::resize(rc::kNominalSize, gen::weightedOneOf<uint32_t>({{2, gen::just(1u)}, {1, gen::inRange(1u, 6u)}}));
  return gen::build<LongCase>(
      gen::set(&LongCase::mapped, few), gen::set(&LongCase::speed, few), gen::set(&LongCase::threshold, threshold),
      gen::set(&LongCase::trigger_period, trigger_period),
      gen::set(&LongCase::stays,
               gen::scale(0.08, gen::container<std::vector<Stay>>(gen::resize(rc::kNominalSize, stay)))));
}

// Flags are raised and counts are missing exactly where counts are lost: in the context's, the VM's and the device's
// block.
TEST(LawsSaturationTest, WithNothingToEmptyTheBanksALossIsExactAndFlagged) {
  EXPECT_TRUE(rc::check("saturation is honest", [] {
    const LongCase test = *AnyLongCase(gen::just(0u), gen::just(uint64_t{0}));
    const LongRun run(test);
    const auto truth = TruthOf(test);
    const auto holds = [&](BlockId block, const Truth& expected) {
      RC_ASSERT(run.Count(block) == expected.held);
      RC_ASSERT(run.Flags(block) == (expected.held == expected.all ? 0 : mailbox::kFlagOverflow));
    };
    for (uint32_t tenant = 0; tenant < kTenants; ++tenant) holds(run.context(tenant), truth[tenant]);
    holds(run.vm(), truth[kTenants]);
    holds(0, truth[kTenants]);
    RC_CLASSIFY(truth[kTenants].held != truth[kTenants].all, "lost");
  }));
}

TEST(LawsSaturationTest, TheDefaultThresholdLosesNothing) {
  EXPECT_TRUE(rc::check("nothing is lost", [] {
    const LongCase test = *AnyLongCase(gen::just(kCcuThresholdDefault), gen::just(uint64_t{0}));
    const LongRun run(test);
    const auto truth = TruthOf(test);
    for (uint32_t tenant = 0; tenant < kTenants; ++tenant) {
      RC_ASSERT(run.Count(run.context(tenant)) == truth[tenant].all);
      RC_ASSERT(run.Flags(run.context(tenant)) == 0);
    }
    RC_ASSERT(run.Count(0) == truth[kTenants].all);
    RC_ASSERT(run.Flags(0) == 0);
  }));
}

TEST(LawsSaturationTest, WhateverEmptiesTheBanksABlockThatDiffersIsFlagged) {
  const auto threshold = gen::weightedOneOf<uint32_t>(
      {{1, gen::just(0u)},
       {1, gen::resize(rc::kNominalSize, gen::inRange<uint32_t>(kCounterMax - 5000, kCounterMax + 1))}});
  const auto period = gen::resize(rc::kNominalSize, gen::inRange<uint64_t>(1 << 22, uint64_t{1} << 30));
  EXPECT_TRUE(rc::check("a difference is flagged", [&] {
    const LongCase test = *AnyLongCase(threshold, period);
    const LongRun run(test);
    const auto truth = TruthOf(test);
    const auto honest = [&](BlockId block, const Truth& expected) {
      RC_ASSERT(run.Count(block) <= expected.all);
      RC_ASSERT((run.Count(block) == expected.all) == (run.Flags(block) == 0));
      RC_CLASSIFY(run.Flags(block) != 0, "lost");
    };
    for (uint32_t tenant = 0; tenant < kTenants; ++tenant) honest(run.context(tenant), truth[tenant]);
    honest(run.vm(), truth[kTenants]);
    honest(0, truth[kTenants]);
  }));
}

}  // namespace
}  // namespace sideband::mcu
