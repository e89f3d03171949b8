// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/firmware/limit_requests.h"

#include <gtest/gtest.h>

#include <vector>

#include "secure_mcu/firmware/fake_gpu.h"

namespace sideband::mcu {
namespace {

using mailbox::AsyncStatus;
using mailbox::AsyncType;
using mailbox::BoardEvent;

using Dwords = std::vector<uint32_t>;

// The types of one limit, which the board's power and the module's have in common.
struct LimitKind {
  const char* name;
  AsyncType get, set, info;
  PowerLimitState BoardState::*state;
  BoardEvent event;
  uint32_t overhead_mw;
};
constexpr LimitKind kKinds[] = {
    {"power", AsyncType::kGetPowerLimit, AsyncType::kSetPowerLimit, AsyncType::kPowerLimitInfo,
     &BoardState::power_limit, BoardEvent::kPowerLimitSet, 0},
    {"module", AsyncType::kGetModuleLimit, AsyncType::kSetModuleLimit, AsyncType::kModuleLimitInfo,
     &BoardState::module_limit, BoardEvent::kModuleLimitSet, 50'000},
};

class LimitRequestsTest : public testing::Test {
 protected:
  LimitRequestsTest() {
    gpu_.clock = WorkloadClock{.levels = {500'000'000, 1'000'000'000}, .hz = 1'000'000'000};
    spec_ = {.thermal = ThermalLimits{},
             .power_limit = PowerLimits{.least_mw = 100'000, .most_mw = 400'000, .default_mw = 350'000},
             .module_overhead_mw = 50'000.0};
  }
  AsyncStatus Set(AsyncType type, uint32_t flags, uint32_t asked_mw, uint8_t dword = 0) {
    scratch_.Put(dword, Dwords{flags, asked_mw, 0xDEADBEEF});
    const AsyncResult result = limits_.CarryOut(type, dword);
    EXPECT_TRUE(result.dwords.empty());
    return result.status;
  }
  uint32_t Raised(BoardEvent event) const { return state_.raised[static_cast<size_t>(event)]; }

  FakeGpu gpu_;
  BoardSpec spec_;
  BoardState state_{spec_};
  ScratchMemory scratch_;
  LimitRequests limits_{gpu_, spec_, state_, scratch_};
};

TEST_F(LimitRequestsTest, TheDefaultIsInForceUntilAnotherLimitIsAskedFor) {
  for (const LimitKind& kind : kKinds) {
    const uint32_t default_mw = 350'000 + kind.overhead_mw;
    EXPECT_EQ(limits_.CarryOut(kind.get, 0).dwords, (Dwords{0, mailbox::kNoLimit, default_mw})) << kind.name;
    EXPECT_EQ(Set(kind.set, mailbox::kLimitPersists, 200'000, 9), AsyncStatus::kSuccess) << kind.name;
    EXPECT_EQ((state_.*kind.state).asked_mw, 200'000u) << kind.name;
    EXPECT_EQ(limits_.CarryOut(kind.get, 0).dwords, (Dwords{0, 200'000, 200'000})) << kind.name;
    EXPECT_EQ(Set(kind.set, mailbox::kLimitClears, 0), AsyncStatus::kSuccess) << kind.name;
    EXPECT_EQ(limits_.CarryOut(kind.get, 0).dwords, (Dwords{0, mailbox::kNoLimit, default_mw})) << kind.name;
    EXPECT_EQ(Raised(kind.event), 2u) << kind.name << ": set and cleared";
  }
}

TEST_F(LimitRequestsTest, LimitsAreInTheirRange) {
  for (const LimitKind& kind : kKinds) {
    const uint32_t least = 100'000 + kind.overhead_mw, most = 400'000 + kind.overhead_mw;
    EXPECT_EQ(limits_.CarryOut(kind.info, 0).dwords, (Dwords{least, most, 350'000 + kind.overhead_mw})) << kind.name;
    EXPECT_EQ(Set(kind.set, 0, least), AsyncStatus::kSuccess) << kind.name;
    EXPECT_EQ(Set(kind.set, 0, least - 1), AsyncStatus::kInvalidLimit) << kind.name;
    EXPECT_EQ((state_.*kind.state).asked_mw, least) << kind.name << ": kept";
    EXPECT_EQ(Set(kind.set, 0, most), AsyncStatus::kSuccess) << kind.name;
    EXPECT_EQ(Set(kind.set, 0, most + 1), AsyncStatus::kInvalidLimit) << kind.name;
    EXPECT_EQ(Set(kind.set, 0, mailbox::kNoLimit), AsyncStatus::kInvalidLimit) << kind.name;
    EXPECT_EQ((state_.*kind.state).asked_mw, most) << kind.name;
    EXPECT_EQ(Raised(kind.event), 2u) << kind.name << ": of those that were set";
  }
}

TEST_F(LimitRequestsTest, OneLimitLeavesTheOther) {
  EXPECT_EQ(Set(AsyncType::kSetPowerLimit, 0, 200'000), AsyncStatus::kSuccess);
  EXPECT_FALSE(state_.module_limit.asked_mw);
  EXPECT_EQ(Raised(BoardEvent::kModuleLimitSet), 0u);
}

TEST_F(LimitRequestsTest, ParametersThatAreWrong) {
  for (const LimitKind& kind : kKinds) {
    EXPECT_EQ(Set(kind.set, 1 << 2, 200'000), AsyncStatus::kInvalidArgument) << kind.name << ": an undefined flag";
    EXPECT_EQ(Set(kind.set, 1u << 31 | mailbox::kLimitClears, 200'000), AsyncStatus::kInvalidArgument) << kind.name;
    EXPECT_EQ(limits_.CarryOut(kind.set, 254).status, AsyncStatus::kInvalidOffset) << kind.name;
    EXPECT_FALSE((state_.*kind.state).asked_mw) << kind.name;
    EXPECT_EQ(Raised(kind.event), 0u) << kind.name;
    EXPECT_EQ(Set(kind.set, 3, 0, 253), AsyncStatus::kSuccess) << kind.name << ": both flags, at the page's end";
  }
}

TEST_F(LimitRequestsTest, ParametersAreInTheDestinationPage) {
  ASSERT_TRUE(scratch_.SelectPages(0x0003));
  EXPECT_EQ(Set(AsyncType::kSetPowerLimit, 0, 200'000), AsyncStatus::kSuccess);
  ASSERT_TRUE(scratch_.SelectPages(0x0300));
  EXPECT_EQ(limits_.CarryOut(AsyncType::kSetPowerLimit, 0).status, AsyncStatus::kInvalidLimit) << "page 0 is zeros";
}

TEST_F(LimitRequestsTest, AModuleNeedsItsOverhead) {
  spec_.module_overhead_mw.reset();
  for (const auto type : {AsyncType::kGetModuleLimit, AsyncType::kSetModuleLimit, AsyncType::kModuleLimitInfo}) {
    EXPECT_EQ(limits_.CarryOut(type, 0).status, AsyncStatus::kNotSupported);
  }
  EXPECT_EQ(limits_.CarryOut(AsyncType::kPowerLimitInfo, 0).status, AsyncStatus::kSuccess);
}

TEST_F(LimitRequestsTest, APassiveBoardHasNoFans) {
  EXPECT_EQ(limits_.CarryOut(AsyncType::kFanCount, 0).dwords, Dwords{0});
}

TEST_F(LimitRequestsTest, ClockLimits) {
  EXPECT_EQ(limits_.CarryOut(AsyncType::kGetClockLimit, 0).dwords, (Dwords{0xFFFF'FFFF, 500 | 1000 << 16}));
}

TEST_F(LimitRequestsTest, ViolationsAreInMilliseconds) {
  state_.violation_ns = {999'999, 1'000'000, 5'000'000'000'000'000, 7'999'999};
  scratch_.Put(4, Dwords{mailbox::kAllViolations});
  const AsyncResult all = limits_.CarryOut(AsyncType::kViolations, 4);
  Dwords expected(66);
  expected[0] = 0xF;
  expected[4] = 1;
  expected[6] = 5'000'000'000 & 0xFFFF'FFFF;
  expected[7] = 1;
  expected[8] = 7;
  EXPECT_EQ(all.dwords, expected);
}

TEST_F(LimitRequestsTest, ViolationsAreHiddenBesideConfidentialVms) {
  gpu_.catalog().vms[1].confidential = true;
  EXPECT_EQ(limits_.CarryOut(AsyncType::kViolations, 0).status, AsyncStatus::kNotReady);
  LimitRequests allowed(gpu_, spec_, state_, scratch_, Complement::kAllow);
  EXPECT_EQ(allowed.CarryOut(AsyncType::kViolations, 0).status, AsyncStatus::kSuccess);
}

TEST_F(LimitRequestsTest, TheMaskSelectsViolations) {
  state_.violation_ns = {1'000'000, 2'000'000, 3'000'000, 4'000'000};
  struct Row {
    uint32_t mask, known;
  };
  const Row rows[] = {{0, 0}, {0b0001, 0b0001}, {0b1010, 0b1010}, {0b1'1000, 0b1000}, {1u << 31, 0}};
  for (const Row& row : rows) {
    scratch_.Put(0, Dwords{row.mask});
    const AsyncResult result = limits_.CarryOut(AsyncType::kViolations, 0);
    EXPECT_EQ(result.status, AsyncStatus::kSuccess);
    EXPECT_EQ(result.dwords[0], row.known) << row.mask;
    for (uint32_t i = 0; i < mailbox::kViolationSlots; ++i) {
      EXPECT_EQ(result.dwords[2 + 2 * i], row.known >> i & 1 ? i + 1 : 0) << row.mask << " " << i;
    }
  }
}

TEST_F(LimitRequestsTest, ABareChipHasNoneOfThese) {
  spec_ = {};
  gpu_.clock.reset();
  for (int type = 0; type <= 0xFF; ++type) {
    const AsyncResult result = limits_.CarryOut(static_cast<AsyncType>(type), 0);
    EXPECT_EQ(result.status, AsyncStatus::kNotSupported) << type;
    EXPECT_TRUE(result.dwords.empty()) << type;
  }
  EXPECT_EQ(Set(AsyncType::kSetPowerLimit, mailbox::kLimitClears, 0), AsyncStatus::kNotSupported);
  EXPECT_EQ(Raised(BoardEvent::kPowerLimitSet), 0u);
}

}  // namespace
}  // namespace sideband::mcu
