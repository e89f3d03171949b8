// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/pipeline/hpc_client.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

namespace sideband::mcu {
namespace {

constexpr uint64_t kTrigger = hpc::kHpccTrigger | hpc::kHpccUseren;
constexpr HpcPrivilege kSupervisor = HpcPrivilege::kSupervisor;

class HpcClientTest : public testing::Test {
 protected:
  void Write(HpcRegister which, uint64_t value, HpcHalf half = HpcHalf::kWhole) {
    client_.Write(which, value, kSupervisor, cycle_++, half);
  }
  uint64_t Read(HpcRegister which, HpcHalf half = HpcHalf::kWhole) { return client_.Read(which, cycle_++, half); }
  bool Has(uint64_t field) { return (client_.Read(HpcRegister::kHpcc, cycle_) & field) != 0; }
  HpcRequest Start(uint64_t bitmap, uint64_t more = 0) {
    Write(HpcRegister::kHpcm, bitmap);
    Write(HpcRegister::kHpcc, kTrigger | more);
    return client_.TakeDeparture().value().request;
  }
  // Values 100 times the tag + position, one a cycle from `first` on.
  void Answer(const HpcRequest& request, uint64_t first) {
    HpcAnswer answer{.tag = request.tag, .bitmap = request.bitmap, .values = {}, .first_cycle = first};
    for (int i = 0; i < std::popcount(request.bitmap); ++i) answer.values.push_back(100 * request.tag + i);
    client_.Deliver(std::move(answer));
  }
  void StartAndFinish(uint64_t bitmap) {
    Answer(Start(bitmap), cycle_);
    cycle_ += 100;
  }

  HpcClient client_{[](HpcManagerId manager, HpcPrivilege) { return manager.module == 0 ? 0xFFFF : uint64_t{0}; }};
  uint64_t cycle_ = 10;
};

TEST_F(HpcClientTest, InitiallyEmpty) {
  EXPECT_EQ(Read(HpcRegister::kHpcc), hpc::kHpccEmpty);
  EXPECT_EQ(Read(HpcRegister::kHpcm), 0u);
  EXPECT_EQ(client_.NextDeparture(), kNoCycle);
}

TEST_F(HpcClientTest, AStartTakesTheBitmap) {
  Write(HpcRegister::kHpcm, 0b1001);
  Write(HpcRegister::kHpcc, kTrigger | uint64_t{5} << hpc::kHpccExtendLsb);
  const auto departure = client_.TakeDeparture();
  ASSERT_TRUE(departure);
  EXPECT_EQ(departure->cycle, 11u);
  EXPECT_EQ(departure->request.bitmap, 0b1001u);
  EXPECT_EQ(departure->request.manager, (HpcManagerId{.module = 0, .extend = 5}));
  EXPECT_EQ(Read(HpcRegister::kHpcm), 0u);
  EXPECT_TRUE(Has(hpc::kHpccTrigger));
  EXPECT_FALSE(client_.TakeDeparture());
}

TEST_F(HpcClientTest, AnAccessSeesTheArrivalsOfEarlierCycles) {
  const HpcRequest request = Start(0b110);
  Answer(request, 50);
  EXPECT_EQ(client_.Read(HpcRegister::kHpcm, 50), 0u);
  EXPECT_EQ(client_.Read(HpcRegister::kHpcm, 51), 0b010u);
  EXPECT_EQ(client_.Read(HpcRegister::kHpcc, 51) & (hpc::kHpccEmpty | hpc::kHpccTrigger), hpc::kHpccTrigger);
  EXPECT_EQ(client_.Read(HpcRegister::kHpcm, 52), 0b110u);
  EXPECT_EQ(client_.Read(HpcRegister::kHpcc, 52) & hpc::kHpccTrigger, 0u);
}

TEST_F(HpcClientTest, AnEmptyFifoReadsZeroAndIsAnError) {
  StartAndFinish(0b1);
  Read(HpcRegister::kHpcr);
  EXPECT_FALSE(Has(hpc::kHpccReaderror));
  EXPECT_EQ(Read(HpcRegister::kHpcr), 0u);
  EXPECT_TRUE(Has(hpc::kHpccReaderror));
  Write(HpcRegister::kHpcm, 1);
  EXPECT_FALSE(Has(hpc::kHpccReaderror));
}

TEST_F(HpcClientTest, WhileARequestIsUnderWayItsRegistersAreFixed) {
  Start(0b1);
  Write(HpcRegister::kHpcm, 0xFF);
  EXPECT_EQ(Read(HpcRegister::kHpcm), 0u);
  Write(HpcRegister::kHpcc, kTrigger | hpc::kHpccModule | hpc::kHpccExtend | hpc::kHpccStamp);
  EXPECT_FALSE(Has(hpc::kHpccModule | hpc::kHpccExtend | hpc::kHpccStamp));
  EXPECT_FALSE(client_.TakeDeparture());
}

TEST_F(HpcClientTest, TheStampIsTheFirstWordAndNoBit) {
  HpcAnswer answer{.tag = Start(0b1, hpc::kHpccStamp).tag, .bitmap = 0b1, .stamp = 77, .values = {5}};
  answer.stamp_cycle = 20;
  answer.first_cycle = 21;
  client_.Deliver(std::move(answer));
  EXPECT_EQ(client_.Read(HpcRegister::kHpcm, 21), 0u);
  EXPECT_EQ(client_.Read(HpcRegister::kHpcr, 30), 77u);
  EXPECT_EQ(client_.Read(HpcRegister::kHpcr, 30), 5u);
}

TEST_F(HpcClientTest, WhatComesAfterACancelIsDropped) {
  const HpcRequest first = Start(0b11);
  Write(HpcRegister::kHpcc, hpc::kHpccUseren);
  EXPECT_FALSE(Has(hpc::kHpccTrigger));
  const HpcRequest second = Start(0b1);
  EXPECT_NE(first.tag, second.tag);
  Answer(first, cycle_);
  Answer(second, cycle_ + 10);
  cycle_ += 5;
  EXPECT_TRUE(Has(hpc::kHpccEmpty));
  EXPECT_TRUE(Has(hpc::kHpccTrigger));
  cycle_ += 10;
  EXPECT_EQ(Read(HpcRegister::kHpcr), uint64_t{100} * second.tag);
}

TEST_F(HpcClientTest, ACancelDropsThePushOfItsCycle) {
  Answer(Start(0b11), 50);
  client_.Write(HpcRegister::kHpcc, 0, kSupervisor, 51);
  EXPECT_EQ(client_.Read(HpcRegister::kHpcm, 60), 0b01u);
}

TEST_F(HpcClientTest, WithoutAFreeTagARequestWaits) {
  const HpcRequest first = Start(0b1);
  Write(HpcRegister::kHpcc, 0);
  Start(0b1);
  Write(HpcRegister::kHpcc, 0);
  Write(HpcRegister::kHpcm, 0b1);
  Write(HpcRegister::kHpcc, kTrigger);
  EXPECT_FALSE(client_.TakeDeparture());
  EXPECT_TRUE(Has(hpc::kHpccTrigger));
  EXPECT_EQ(client_.NextDeparture(), kNoCycle);
  Answer(first, 60);
  EXPECT_EQ(client_.NextDeparture(), 60u);
  client_.AdvanceTo(60);
  EXPECT_FALSE(client_.TakeDeparture());
  client_.AdvanceTo(61);
  const auto departure = client_.TakeDeparture();
  ASSERT_TRUE(departure);
  EXPECT_EQ(departure->cycle, 60u);
  EXPECT_EQ(departure->request.tag, first.tag);
}

TEST_F(HpcClientTest, ARequestThatWaitsCanBeCancelled) {
  const HpcRequest first = Start(0b1);
  Write(HpcRegister::kHpcc, 0);
  Start(0b1);
  Write(HpcRegister::kHpcc, 0);
  Write(HpcRegister::kHpcm, 0b1);
  Write(HpcRegister::kHpcc, kTrigger);
  Write(HpcRegister::kHpcc, 0);
  Answer(first, cycle_);
  client_.AdvanceTo(cycle_ + 10);
  EXPECT_FALSE(client_.TakeDeparture());
}

TEST_F(HpcClientTest, ARefusedTriggerClearsNothing) {
  StartAndFinish(0b1);
  Write(HpcRegister::kHpcc, kTrigger | uint64_t{1} << hpc::kHpccModuleLsb);
  EXPECT_TRUE(Has(hpc::kHpccRefused));
  EXPECT_FALSE(Has(hpc::kHpccTrigger));
  EXPECT_FALSE(Has(hpc::kHpccEmpty));
  EXPECT_EQ(Read(HpcRegister::kHpcm), 0b1u);
  StartAndFinish(0b1);
  EXPECT_FALSE(Has(hpc::kHpccRefused));
}

TEST_F(HpcClientTest, UsersNeedUseren) {
  EXPECT_TRUE(client_.Write(HpcRegister::kHpcm, 1, HpcPrivilege::kUser, cycle_));
  EXPECT_FALSE(client_.Write(HpcRegister::kHpcc, kTrigger | hpc::kHpccStamp, HpcPrivilege::kUser, cycle_));
  EXPECT_TRUE(Has(hpc::kHpccRefused));
  EXPECT_FALSE(Has(hpc::kHpccUseren | hpc::kHpccStamp));
  EXPECT_FALSE(client_.TakeDeparture());
  Write(HpcRegister::kHpcc, hpc::kHpccUseren);
  EXPECT_TRUE(client_.Write(HpcRegister::kHpcc, hpc::kHpccTrigger, HpcPrivilege::kUser, cycle_));
  EXPECT_TRUE(client_.TakeDeparture());
  EXPECT_TRUE(Has(hpc::kHpccUseren));  // a user's write does not reach it
}

TEST_F(HpcClientTest, AnEmptyBitmapIsCompleteAtOnce) {
  Write(HpcRegister::kHpcm, 0);
  Write(HpcRegister::kHpcc, kTrigger);
  EXPECT_FALSE(client_.TakeDeparture());
  EXPECT_FALSE(Has(hpc::kHpccTrigger | hpc::kHpccRefused));
}

TEST_F(HpcClientTest, TheHalvesOfAValueBelongTogether) {
  HpcAnswer answer{.tag = Start(0b11).tag, .bitmap = 0b11, .values = {0x1111'2222'3333'4444, 0x5555'6666'7777'8888}};
  answer.first_cycle = cycle_;
  client_.Deliver(std::move(answer));
  cycle_ += 10;
  EXPECT_EQ(Read(HpcRegister::kHpcr, HpcHalf::kLow), 0x3333'4444u);
  EXPECT_EQ(Read(HpcRegister::kHpcr, HpcHalf::kHigh), 0x1111'2222u);
  EXPECT_EQ(Read(HpcRegister::kHpcr, HpcHalf::kLow), 0x7777'8888u);
  EXPECT_EQ(Read(HpcRegister::kHpcr, HpcHalf::kHigh), 0x5555'6666u);
}

TEST_F(HpcClientTest, OnlyTheLowHalfOfABitmapClearsInterrupted) {
  Write(HpcRegister::kHpcm, 0xFFFF'FFFF'FFFF'FFFF);
  Write(HpcRegister::kHpcm, 5, HpcHalf::kLow);
  client_.Switch(true);
  Write(HpcRegister::kHpcm, 6, HpcHalf::kHigh);
  EXPECT_TRUE(Has(hpc::kHpccInterrupted));
  Write(HpcRegister::kHpcm, 5, HpcHalf::kLow);
  EXPECT_FALSE(Has(hpc::kHpccInterrupted));
  EXPECT_EQ(Read(HpcRegister::kHpcm), 5u);
  Write(HpcRegister::kHpcm, 6, HpcHalf::kHigh);
  EXPECT_EQ(Read(HpcRegister::kHpcm), 0x6'0000'0005u);
  EXPECT_EQ(Read(HpcRegister::kHpcm, HpcHalf::kHigh), 6u);
}

TEST_F(HpcClientTest, TheHighHalfOfTheConfigurationHasNoFields) {
  Start(0b1);
  Write(HpcRegister::kHpcc, 0, HpcHalf::kHigh);
  EXPECT_TRUE(Has(hpc::kHpccTrigger));
  EXPECT_EQ(Read(HpcRegister::kHpcc, HpcHalf::kHigh), 0u);
}

TEST_F(HpcClientTest, ASupervisorInterruptsAThread) {
  StartAndFinish(0b1);
  const HpcRequest request = Start(0b1);
  Write(HpcRegister::kHpcc, hpc::kHpccInterrupted | hpc::kHpccUseren);
  EXPECT_EQ(client_.Read(HpcRegister::kHpcc, cycle_), hpc::kHpccInterrupted | hpc::kHpccEmpty | hpc::kHpccUseren);
  Answer(request, cycle_);  // the tag is taken until then
  cycle_ += 10;
  EXPECT_TRUE(Has(hpc::kHpccEmpty));
}

TEST_F(HpcClientTest, ReservedBitsReadZero) {
  Write(HpcRegister::kHpcc, ~(hpc::kHpccTrigger | hpc::kHpccInterrupted));
  EXPECT_EQ(Read(HpcRegister::kHpcc) >> 24, 0u);
}

}  // namespace
}  // namespace sideband::mcu
