// SPDX-License-Identifier: Apache-2.0
#include "sim/bus/fault_plan.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace sideband::sim {
namespace {

absl::StatusOr<FaultPlan> Parse(const std::string& rule) {
  return FaultPlan::Parse("seed: 3\nrules:\n  - " + rule + "\n", "plan.yaml");
}

// The fault of the board of a rule with these keys, ", key: value" each.
absl::StatusOr<BoardFault> ParseBoard(const std::string& name, const std::string& keys) {
  const auto plan = Parse("{fault: " + name + keys + "}");
  if (!plan.ok()) return plan.status();
  EXPECT_EQ(plan->rules[0].kind, FaultKind::kBoard);
  return plan->rules[0].board;
}

std::string NeededKeys(BoardFaultKind kind) {
  switch (kind) {
    case BoardFaultKind::kXid:
      return ", xid: 63";
    case BoardFaultKind::kNvlinkDown:
    case BoardFaultKind::kNvlinkUp:
      return ", link: 0";
    case BoardFaultKind::kNvlinkErrors:
      return ", link: 0, error: replay";
    case BoardFaultKind::kPcieErrors:
      return ", error: fatal";
    case BoardFaultKind::kLoseCapability:
    case BoardFaultKind::kRegainCapability:
      return ", capability: clocks";
    case BoardFaultKind::kEcc:
    case BoardFaultKind::kSramThreshold:
    case BoardFaultKind::kRowRemap:
    case BoardFaultKind::kRetirePage:
    case BoardFaultKind::kPowerConnector:
    case BoardFaultKind::kResetRequired:
    case BoardFaultKind::kDrain:
      break;
  }
  return "";
}

TEST(FaultPlanTest, TheExampleIsAPlan) {
  const auto plan = FaultPlan::Load("sim/bus/example.yaml");
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(plan->seed, 7u);
  ASSERT_EQ(plan->rules.size(), 8u);
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
  EXPECT_EQ(plan->rules[5].board.kind, BoardFaultKind::kEcc);
  EXPECT_TRUE(plan->rules[5].board.uncorrected);
  EXPECT_EQ(plan->rules[6].board.text, "Row remapping pending");
  EXPECT_EQ(plan->rules[7].board.link, 3);
}

TEST(FaultPlanTest, EveryKindHasANameOfItsOwn) {
  std::set<std::string> names;
  for (size_t i = 0; i < static_cast<size_t>(FaultKind::kBoard); ++i) {
    const auto kind = static_cast<FaultKind>(i);
    names.emplace(FaultName(kind));
    std::string rule = "{fault: " + std::string(FaultName(kind));
    if (kind == FaultKind::kStatus) rule += ", status: 9";
    if (kind == FaultKind::kDelay) rule += ", time: 5ms";
    const auto plan = Parse(rule + "}");
    ASSERT_TRUE(plan.ok()) << plan.status();
    EXPECT_EQ(plan->rules[0].kind, kind);
  }
  for (const BoardFaultRow& row : kBoardFaults) {
    names.emplace(row.name);
    const auto plan = ParseBoard(std::string(row.name), NeededKeys(row.kind));
    ASSERT_TRUE(plan.ok()) << plan.status();
    EXPECT_EQ(plan->kind, row.kind);
  }
  EXPECT_EQ(names.size(), kFaultKinds - 1 + kBoardFaultKinds);
}

TEST(FaultPlanTest, DetailsAreRead) {
  EXPECT_EQ(Parse("{fault: bit_flip, byte: 2, bit: 7}")->rules[0].bit, 7);
  EXPECT_EQ(Parse("{fault: bit_flip, bits: 3}")->rules[0].bits, 3);
  EXPECT_EQ(Parse("{fault: long_block, length: 255}")->rules[0].length, 255);
  EXPECT_EQ(Parse("{fault: delay, time: 5ms}")->rules[0].time, absl::Milliseconds(5));
  EXPECT_EQ(Parse("{fault: status, status: 0x1F}")->rules[0].status, mailbox::MailboxStatus::kSuccess);
}

TEST(FaultPlanTest, AbsentKeysOfTheBoardHaveDefaults) {
  const auto ecc = ParseBoard("ecc", "");
  EXPECT_EQ(ecc->memory, mailbox::EccMemory::kDram);
  EXPECT_FALSE(ecc->uncorrected);
  EXPECT_EQ(ecc->count, 1u);
  EXPECT_FALSE(ParseBoard("row_remap", "")->failed);
  EXPECT_EQ(ParseBoard("xid", ", xid: 63")->text, "");
}

TEST(FaultPlanTest, WordsOfTheBoardAreRead) {
  EXPECT_EQ(ParseBoard("ecc", ", memory: sram")->memory, mailbox::EccMemory::kSram);
  EXPECT_EQ(ParseBoard("ecc", ", memory: dram")->memory, mailbox::EccMemory::kDram);
  for (const char* name : {"ecc", "row_remap", "retire_page"}) {
    EXPECT_FALSE(ParseBoard(name, ", errors: corrected")->uncorrected);
    EXPECT_TRUE(ParseBoard(name, ", errors: uncorrected")->uncorrected);
  }
  EXPECT_TRUE(ParseBoard("row_remap", ", failed: true")->failed);
  const auto nvlink = [](const std::string& error) {
    return ParseBoard("nvlink_errors", ", link: 0, error: " + error)->nvlink_error;
  };
  EXPECT_EQ(nvlink("replay"), NvlinkError::kReplay);
  EXPECT_EQ(nvlink("recovery"), NvlinkError::kRecovery);
  EXPECT_EQ(nvlink("flit_crc"), NvlinkError::kFlitCrc);
  EXPECT_EQ(nvlink("data_crc"), NvlinkError::kDataCrc);
  const auto pcie = [](const std::string& error) { return ParseBoard("pcie_errors", ", error: " + error)->pcie_error; };
  EXPECT_EQ(pcie("correctable"), PcieError::kCorrectable);
  EXPECT_EQ(pcie("non_fatal"), PcieError::kNonFatal);
  EXPECT_EQ(pcie("fatal"), PcieError::kFatal);
  EXPECT_EQ(pcie("unsupported"), PcieError::kUnsupported);
  EXPECT_EQ(pcie("replay"), PcieError::kReplay);
  for (const mailbox::CapabilityRow& row : mailbox::kCapabilities) {
    EXPECT_EQ(ParseBoard("lose_capability", std::string(", capability: ") + row.name)->capability, row.capability);
  }
}

TEST(FaultPlanTest, NumbersOfTheBoardHaveBounds) {
  EXPECT_EQ(ParseBoard("ecc", ", count: 1")->count, 1u);
  EXPECT_EQ(ParseBoard("pcie_errors", ", error: fatal, count: 4294967295")->count, 4294967295u);
  EXPECT_EQ(ParseBoard("xid", ", xid: 1")->xid, 1);
  EXPECT_EQ(ParseBoard("xid", ", xid: 65535")->xid, 65535);
  EXPECT_EQ(ParseBoard("nvlink_down", ", link: 0")->link, 0);
  EXPECT_EQ(ParseBoard("nvlink_up", ", link: 31")->link, 31);
  EXPECT_EQ(ParseBoard("xid", ", xid: 63, text: x")->text, "x");
  const std::string longest(79, '~');
  EXPECT_EQ(ParseBoard("xid", ", xid: 63, text: '" + longest + "'")->text, longest);
}

TEST(FaultPlanTest, MistakesInTheBoardAreSaidInOneLine) {
  const std::string text = "plan.yaml:3: expected 1 to 79 printable characters of ASCII";
  const struct {
    const char* name;
    std::string keys, message;
  } kCases[] = {
      {"ecc", ", memory: hbm", "plan.yaml:3: unknown memory 'hbm', must be sram or dram"},
      {"ecc", ", errors: fatal", "plan.yaml:3: unknown kind of errors 'fatal', must be corrected or uncorrected"},
      {"ecc", ", count: 0", "plan.yaml:3: expected a whole number from 1 to 4294967295"},
      {"ecc", ", count: 4294967296", "plan.yaml:3: expected a whole number from 1 to 4294967295"},
      {"ecc", ", link: 0", "plan.yaml:3: 'link' does not go with ecc"},
      {"retire_page", ", count: 2", "plan.yaml:3: 'count' does not go with retire_page"},
      {"reset", ", errors: corrected", "plan.yaml:3: 'errors' does not go with reset"},
      {"xid", "", "plan.yaml:3: key 'xid' is missing"},
      {"xid", ", xid: 0", "plan.yaml:3: expected a whole number from 1 to 65535"},
      {"xid", ", xid: 65536", "plan.yaml:3: expected a whole number from 1 to 65535"},
      {"xid", ", xid: 1, text: ''", "plan.yaml:3: expected a text"},
      {"xid", ", xid: 1, text: '" + std::string(80, 'x') + "'", text},
      {"xid", ", xid: 1, text: \"a\\n\"", text},
      {"xid", ", xid: 1, text: \"\\x7f\"", text},
      {"xid", ", xid: 1, text: \"\\u00e9\"", text},
      {"nvlink_down", "", "plan.yaml:3: key 'link' is missing"},
      {"nvlink_up", ", link: 32", "plan.yaml:3: expected a whole number from 0 to 31"},
      {"nvlink_errors", ", link: 1", "plan.yaml:3: key 'error' is missing"},
      {"nvlink_errors", ", link: 1, error: fatal",
       "plan.yaml:3: unknown error 'fatal', must be replay, recovery, flit_crc or data_crc"},
      {"pcie_errors", ", error: recovery",
       "plan.yaml:3: unknown error 'recovery', must be correctable, non_fatal, fatal, unsupported or replay"},
      {"lose_capability", "", "plan.yaml:3: key 'capability' is missing"},
      {"regain_capability", ", capability: clock", "plan.yaml:3: unknown capability 'clock' (did you mean 'clocks'?)"},
      {"row_remap", ", failed: 1", "plan.yaml:3: expected true or false"},
      {"board", "", "plan.yaml:3: unknown fault 'board'"},
  };
  for (const auto& test : kCases) EXPECT_EQ(ParseBoard(test.name, test.keys).status().message(), test.message);
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
      {"{fault: die, only: write}", "plan.yaml:3: unknown kind of transaction 'write', must be all, reads or writes"},
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
