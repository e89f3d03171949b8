// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/firmware/async_requests.h"

#include <gtest/gtest.h>

#include <set>

#include "secure_mcu/firmware/fake_gpu.h"

namespace sideband::mcu {
namespace {

using mailbox::MailboxStatus;

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
