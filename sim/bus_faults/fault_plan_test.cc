// SPDX-License-Identifier: Apache-2.0
#include "sim/bus_faults/fault_plan.h"

#include <gtest/gtest.h>

#include <set>

namespace sideband::sim {
namespace {

absl::StatusOr<FaultPlan> Parse(const std::string& rule) {
  return FaultPlan::Parse("seed: 3\nrules:\n  - " + rule + "\n", "plan.yaml");
}

TEST(FaultPlanTest, TheExampleIsAPlan) {
  const auto plan = FaultPlan::Load("sim/bus_faults/example.yaml");
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(plan->seed, 7u);
  ASSERT_EQ(plan->rules.size(), 5u);
  EXPECT_EQ(plan->rules[0].kind, FaultKind::kBitFlip);
  EXPECT_EQ(plan->rules[0].probability, 0.001);
  EXPECT_EQ(plan->rules[1].from, 120u);
  EXPECT_EQ(plan->rules[1].to, 120u);
  EXPECT_EQ(plan->rules[1].byte, 3u);
  EXPECT_EQ(plan->rules[2].every, 50u);
  EXPECT_EQ(plan->rules[2].only, FaultRule::Only::kWrites);
  EXPECT_EQ(plan->rules[2].command, 0x5C);
  EXPECT_EQ(plan->rules[3].to, 500u);
  EXPECT_EQ(plan->rules[3].times, 10u);
  EXPECT_EQ(plan->rules[3].status, mailbox::MailboxStatus::kErrBusy);
  EXPECT_EQ(plan->rules[4].kind, FaultKind::kReset);
}

TEST(FaultPlanTest, EveryKindHasANameOfItsOwn) {
  std::set<std::string> names;
  for (size_t i = 0; i < kFaultKinds; ++i) {
    const auto kind = static_cast<FaultKind>(i);
    names.emplace(FaultName(kind));
    std::string rule = "{fault: " + std::string(FaultName(kind));
    if (kind == FaultKind::kStatus) rule += ", status: 9";
    if (kind == FaultKind::kDelay) rule += ", time: 5ms";
    const auto plan = Parse(rule + "}");
    ASSERT_TRUE(plan.ok()) << plan.status();
    EXPECT_EQ(plan->rules[0].kind, kind);
  }
  EXPECT_EQ(names.size(), kFaultKinds);
}

TEST(FaultPlanTest, DetailsAreRead) {
  EXPECT_EQ(Parse("{fault: bit_flip, byte: 2, bit: 7}")->rules[0].bit, 7);
  EXPECT_EQ(Parse("{fault: bit_flip, bits: 3}")->rules[0].bits, 3);
  EXPECT_EQ(Parse("{fault: long_block, length: 255}")->rules[0].length, 255);
  EXPECT_EQ(Parse("{fault: delay, time: 5ms}")->rules[0].time, absl::Milliseconds(5));
  EXPECT_EQ(Parse("{fault: status, status: 0x1F}")->rules[0].status, mailbox::MailboxStatus::kSuccess);
}

TEST(FaultPlanTest, MistakesAreSaidInOneLine) {
  const struct {
    const char* rule;
    const char* message;
  } kCases[] = {
      {"{fault: bit_flop}", "plan.yaml:3: unknown fault 'bit_flop' (did you mean 'bit_flip'?)"},
      {"{at: 3}", "plan.yaml:3: key 'fault' is missing"},
      {"{fault: die, at: 0}", "plan.yaml:3: expected a whole number from 1 to 18446744073709551615"},
      {"{fault: die, at: 3, every: 2}", "plan.yaml:3: 'at' cannot be combined with 'every'"},
      {"{fault: die, from: 9, to: 8}", "plan.yaml:3: expected a whole number from 9 to 18446744073709551615"},
      {"{fault: die, probability: 1.1}", "plan.yaml:3: expected a number from 0 to 1"},
      {"{fault: die, only: write}", "plan.yaml:3: unknown kind of transaction 'write' (did you mean 'writes'?)"},
      {"{fault: die, bit: 1}", "plan.yaml:3: 'bit' does not go with die"},
      {"{fault: bit_flip, bits: 4}", "plan.yaml:3: expected a whole number from 1 to 3"},
      {"{fault: bit_flip, bits: 2, bit: 0}", "plan.yaml:3: several 'bits' cannot be combined with 'byte' or 'bit'"},
      {"{fault: status}", "plan.yaml:3: key 'status' is missing"},
      {"{fault: status, status: ERR_BUSI}", "plan.yaml:3: unknown status 'ERR_BUSI' (did you mean 'ERR_BUSY'?)"},
      {"{fault: status, status: 32}", "plan.yaml:3: unknown status '32'"},
      {"{fault: delay}", "plan.yaml:3: key 'time' is missing"},
      {"{fault: reset, when: 1}", "plan.yaml:3: unknown key 'when'"},
      {"reset", "plan.yaml:3: expected a mapping (key: value)"},
  };
  for (const auto& test : kCases) EXPECT_EQ(Parse(test.rule).status().message(), test.message);
  EXPECT_EQ(FaultPlan::Parse("seed: 1\n", "plan.yaml").status().message(), "plan.yaml:1: key 'rules' is missing");
  EXPECT_FALSE(FaultPlan::Load("no/such/plan.yaml").ok());
}

}  // namespace
}  // namespace sideband::sim
