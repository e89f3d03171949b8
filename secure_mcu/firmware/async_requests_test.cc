// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/firmware/async_requests.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "secure_mcu/firmware/fake_gpu.h"

namespace sideband::mcu {
namespace {

using mailbox::AsyncStatus;
using mailbox::AsyncType;
using mailbox::BoardEvent;
using mailbox::MailboxStatus;

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

constexpr uint8_t kEnergy = 0x08, kUtilization = 0x0A, kMemory = 0x15, kPoll = 0xFF;
constexpr uint32_t kDone = 0x00, kInvalidArgument = 0x08, kInvalidCommand = 0x0D, kInvalidOffset = 0x1E,
                   kNotSupported = 0x29, kNotReady = 0x34;

class AsyncRequestsTest : public testing::Test {
 protected:
  uint8_t Submit(uint8_t type, uint8_t dword = 0) {
    const Reply reply = requests_.Execute(type, dword);
    EXPECT_EQ(reply.status, MailboxStatus::kAccepted);
    return static_cast<uint8_t>(reply.data);
  }
  uint32_t Poll(uint8_t id) {
    const Reply reply = requests_.Execute(kPoll, id);
    EXPECT_EQ(reply.status, MailboxStatus::kSuccess);
    return reply.data;
  }

  FakeGpu gpu_;
  BoardUnit board_{gpu_, PowerModel({.idle_mw = 10'000})};
  Sensors sensors_{gpu_, board_};
  PerformanceMonitor monitor_{gpu_};
  ScratchMemory scratch_;
  BoardSpec spec_;
  LimitRequests limits_{gpu_, spec_, board_.state, scratch_};
  AsyncRequests requests_{gpu_, sensors_, monitor_, scratch_, limits_};
};

TEST_F(AsyncRequestsTest, Energy) {
  gpu_.time_ns = 500'000'000'000'000;
  EXPECT_EQ(Poll(Submit(kEnergy, 40)), kDone);
  EXPECT_EQ(scratch_.Read(40).data, 5'000'000'000u & 0xFFFFFFFF);
  EXPECT_EQ(scratch_.Read(41).data, 1u);
}

TEST_F(AsyncRequestsTest, UtilizationIsInWholePercent) {
  EXPECT_EQ(Poll(Submit(kUtilization)), kNotReady) << "no window yet";
  gpu_.Count(1, 0, "sm_active_cycles", 404'000'000);
  gpu_.Count(1, 0, "dram_write_cycles", 80'000'000);
  gpu_.time_ns = 100'000'000;
  EXPECT_EQ(Poll(Submit(kUtilization, 2)), kDone);
  EXPECT_EQ(scratch_.Read(2).data, 51u) << "50.5 %";
  EXPECT_EQ(scratch_.Read(3).data, 10u) << "of 8 wires";
}

TEST_F(AsyncRequestsTest, MemoryCapacity) {
  EXPECT_TRUE(requests_.HasMemoryCapacity());
  EXPECT_EQ(Poll(Submit(kMemory)), kDone);
  EXPECT_EQ(scratch_.Read(0).data, 512u);
  EXPECT_EQ(scratch_.Read(1).data, 2048u);
  gpu_.memory.reset();
  EXPECT_FALSE(requests_.HasMemoryCapacity());
  EXPECT_EQ(Poll(Submit(kMemory)), kNotSupported);
}

TEST_F(AsyncRequestsTest, LimitsHaveTheirParametersWhereTheirResultIs) {
  spec_.power_limit = PowerLimits{};
  scratch_.Write(8, 0, mailbox::kLimitPersists);
  scratch_.Write(9, 0, 250'000);
  EXPECT_EQ(Poll(Submit(0x01, 8)), kDone);
  EXPECT_EQ(board_.state.power_limit.asked_mw, 250'000u);
  EXPECT_EQ(Poll(Submit(0x00, 8)), kDone);
  EXPECT_EQ(scratch_.Read(8).data, 0u) << "flags";
  EXPECT_EQ(scratch_.Read(9).data, 250'000u);
  EXPECT_EQ(scratch_.Read(10).data, 250'000u) << "in force";
  EXPECT_EQ(Poll(Submit(0x01, 10)), kInvalidArgument) << "250000 is no flag";
  EXPECT_EQ(Poll(Submit(0x02, 253)), kDone);
  EXPECT_EQ(Poll(Submit(0x02, 254)), kInvalidOffset);
}

TEST_F(AsyncRequestsTest, EveryTypeOfLimitsIsRouted) {
  spec_ = {.thermal = ThermalLimits{}, .power_limit = PowerLimits{}, .module_overhead_mw = 0.0};
  gpu_.clock = WorkloadClock{.levels = {1}, .hz = 1};
  scratch_.Write(1, 0, 300'000);
  for (const uint8_t type : {0x01, 0x13, 0x00, 0x02, 0x03, 0x0D, 0x12, 0x14, 0x09}) {
    EXPECT_EQ(Poll(Submit(type)), kDone) << int{type};
    scratch_.Write(0, 0, 0);
  }
  EXPECT_EQ(Poll(Submit(0x09, 190)), kDone);
  EXPECT_EQ(Poll(Submit(0x09, 191)), kInvalidOffset) << "66 dwords";
}

TEST_F(AsyncRequestsTest, ResultsGoToTheDestinationPage) {
  ASSERT_TRUE(scratch_.SelectPages(0x0002));
  Submit(kMemory);
  EXPECT_EQ(scratch_.Read(0).data, 0u);
  ASSERT_TRUE(scratch_.SelectPages(0x0200));
  EXPECT_EQ(scratch_.Read(0).data, 512u);
}

TEST_F(AsyncRequestsTest, OtherTypesAreAcceptedAndEndInAnError) {
  EXPECT_EQ(Poll(Submit(0x00)), kNotSupported) << "power limits";
  EXPECT_EQ(Poll(Submit(0x14)), kNotSupported);
  EXPECT_EQ(Poll(Submit(0x16)), kInvalidCommand) << "undefined";
  EXPECT_EQ(Poll(Submit(0xFE)), kInvalidCommand);
}

TEST_F(AsyncRequestsTest, ResultsStayWithinThePage) {
  EXPECT_EQ(Poll(Submit(kEnergy, 254)), kDone);
  EXPECT_EQ(Poll(Submit(kEnergy, 255)), kInvalidOffset);
}

TEST_F(AsyncRequestsTest, TheLastRequestsCanBePolledInAnyOrderAndAgain) {
  EXPECT_EQ(requests_.Execute(kPoll, 1).status, MailboxStatus::kErrArg2) << "none yet";
  const uint8_t first = Submit(kEnergy);
  std::set<uint8_t> ids;
  for (size_t i = 0; i + 1 < AsyncRequests::kRemembered; ++i) ids.insert(Submit(0xFE));
  EXPECT_EQ(ids.size() + 1, AsyncRequests::kRemembered);
  EXPECT_EQ(Poll(first), kDone);
  EXPECT_EQ(Poll(first), kDone);
  for (const uint8_t id : ids) EXPECT_EQ(Poll(id), kInvalidCommand);
  Submit(kEnergy);
  EXPECT_EQ(requests_.Execute(kPoll, first).status, MailboxStatus::kErrArg2) << "forgotten";
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(Poll(Submit(kEnergy)), kDone);
}

}  // namespace

}  // namespace sideband::mcu
