// SPDX-License-Identifier: Apache-2.0
#include "sim/bus_faults/fault_trigger.h"

#include <gtest/gtest.h>

#include <vector>

namespace sideband::sim {
namespace {

using smbus::Message;
using smbus::Transfer;

const Transfer kRead5c = {{Message::Write(0x4F, {0x5C}), Message::ReadBlock(0x4F, 1)}};
const Transfer kRead5d = {{Message::Write(0x4F, {0x5D}), Message::ReadBlock(0x4F, 1)}};
const Transfer kWrite5c = {{Message::Write(0x4F, {0x5C, 4, 2, 0, 0, 0x80})}};

// The numbers of the transactions, out of twenty equal ones, at which the rule fires.
std::vector<int> Firings(const FaultRule& rule, const Transfer& transfer = kRead5c, uint64_t seed = 1) {
  FaultTrigger trigger(rule, seed);
  std::vector<int> firings;
  for (int i = 1; i <= 20; ++i) {
    if (trigger.Fires(static_cast<uint64_t>(i), transfer)) firings.push_back(i);
  }
  return firings;
}

TEST(FaultTriggerTest, FiresWhereItIsToldTo) {
  EXPECT_EQ(Firings({.from = 3, .to = 3}), (std::vector{3}));
  EXPECT_EQ(Firings({.from = 18}), (std::vector{18, 19, 20}));
  EXPECT_EQ(Firings({.from = 3, .to = 9, .every = 3}), (std::vector{5, 8}));
  EXPECT_EQ(Firings({.every = 2, .times = 2}), (std::vector{2, 4}));
  EXPECT_TRUE(Firings({.probability = 0}).empty());
}

TEST(FaultTriggerTest, FitsByDirectionAndCommand) {
  EXPECT_TRUE(Firings({.only = FaultRule::Only::kWrites}).empty());
  EXPECT_EQ(Firings({.only = FaultRule::Only::kWrites}, kWrite5c).size(), 20u);
  EXPECT_TRUE(Firings({.only = FaultRule::Only::kReads}, kWrite5c).empty());
  EXPECT_TRUE(Firings({.command = 0x5C}, kRead5d).empty());
  EXPECT_EQ(Firings({.command = 0x5D}, kRead5d).size(), 20u);
  EXPECT_TRUE(Firings({.command = 0x5C}, {{Message::Read(0x4F, 5)}}).empty()) << "a read alone has no command code";
  EXPECT_TRUE(Firings({.kind = FaultKind::kStatus}, kRead5d).empty()) << "the status is in 5C";
  EXPECT_TRUE(Firings({.kind = FaultKind::kStatus}, kWrite5c).empty());
  EXPECT_TRUE(Firings({.kind = FaultKind::kShortBlock}, kWrite5c).empty());
}

TEST(FaultTriggerTest, TheSeedDecides) {
  const FaultRule half = {.probability = 0.5};
  EXPECT_EQ(Firings(half), Firings(half));
  EXPECT_NE(Firings(half), Firings(half, kRead5c, /*seed=*/2));
  EXPECT_GT(Firings(half).size(), 3u);
  EXPECT_LT(Firings(half).size(), 17u);
}

}  // namespace
}  // namespace sideband::sim
