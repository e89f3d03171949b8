// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/firmware/system_info.h"

#include <gtest/gtest.h>

#include <string>

#include "secure_mcu/firmware/fake_gpu.h"

namespace sideband::mcu {
namespace {

using mailbox::MailboxStatus;

class SystemInfoTest : public testing::Test {
 protected:
  FakeGpu gpu_;
  BoardUnit board_{gpu_, PowerModel({})};
  SystemInfo info_{gpu_, board_};
};

TEST_F(SystemInfoTest, SlicesArePartitions) {
  EXPECT_EQ(info_.GetFlags(0).data, 0x78u);
  gpu_.catalog().slices.pop_back();
  EXPECT_EQ(info_.GetFlags(0).data, 0x40u) << "the driver runs";
  EXPECT_EQ(info_.GetFlags(1).data, 0u);
  EXPECT_EQ(info_.GetFlags(1).status, MailboxStatus::kSuccess);
  EXPECT_EQ(info_.GetFlags(2).status, MailboxStatus::kErrArg1);
}

TEST_F(SystemInfoTest, TheGraphicsClockIsTheReferenceClock) {
  gpu_.catalog().reference_clock_hz = 1'409'500'000;
  for (const uint8_t which : {0, 1, 2}) EXPECT_EQ(info_.GetClock(which, 0).data, 1410u) << int{which};
  EXPECT_EQ(info_.GetClock(0, 1).status, MailboxStatus::kErrNotSupported);
  EXPECT_EQ(info_.GetClock(0, 2).status, MailboxStatus::kErrArg2);
  EXPECT_EQ(info_.GetClock(3, 0).status, MailboxStatus::kErrNotSupported) << "P-state";
  EXPECT_EQ(info_.GetClock(5, 0).status, MailboxStatus::kErrNotSupported) << "throttle reasons";
  EXPECT_EQ(info_.GetClock(6, 0).status, MailboxStatus::kErrArg1);
}

TEST_F(SystemInfoTest, TheCurrentClockCanBeWithheld) {
  SystemInfo info(gpu_, board_, Complement::kWithhold);
  EXPECT_EQ(info.GetClock(0, 0).status, MailboxStatus::kSuccess) << "there is no confidential VM";
  gpu_.catalog().vms[1].confidential = true;
  EXPECT_EQ(info.GetClock(0, 0).status, MailboxStatus::kErrNotAvailable);
  for (const uint8_t which : {1, 2}) EXPECT_EQ(info.GetClock(which, 0).data, 1000u) << "limits are constant";
  EXPECT_EQ(info_.GetClock(0, 0).data, 1000u);
}

TEST_F(SystemInfoTest, AWorkloadClock) {
  const BoardUnit board(gpu_, PowerModel({}), {.thermal = ThermalLimits{}, .power_limit = PowerLimits{}});
  const SystemInfo info(gpu_, board);
  gpu_.clock = WorkloadClock{.levels = {300'000'000, 600'000'000, 900'000'000}, .hz = 600'000'000};
  EXPECT_EQ(info.GetClock(0, 0).data, 600u);
  EXPECT_EQ(info.GetClock(1, 0).data, 300u);
  EXPECT_EQ(info.GetClock(2, 0).data, 900u);
  EXPECT_EQ(info.GetClock(3, 0).data, 1u) << "one below the highest";
  EXPECT_EQ(info.GetClock(4, 0).data, 0b100111u);
  EXPECT_EQ(info.GetClock(5, 0).data, 0u);
  EXPECT_EQ(info.GetClock(3, 1).status, MailboxStatus::kErrNotSupported);
  EXPECT_EQ(info.GetClock(5, 2).status, MailboxStatus::kErrArg2);
}

TEST_F(SystemInfoTest, AWorkloadClockIsHiddenBesideConfidentialVms) {
  gpu_.clock = WorkloadClock{.levels = {300'000'000, 900'000'000}, .hz = 300'000'000};
  gpu_.catalog().vms[1].confidential = true;
  for (const uint8_t item : {0, 3, 5}) {
    EXPECT_EQ(info_.GetClock(item, 0).status, MailboxStatus::kErrNotAvailable) << int{item};
  }
  EXPECT_EQ(info_.GetClock(2, 0).data, 900u) << "a constant";
  EXPECT_EQ(SystemInfo(gpu_, board_, Complement::kAllow).GetClock(0, 0).data, 300u);
}

TEST_F(SystemInfoTest, FlagsOfTheBoard) {
  BoardUnit board(gpu_, PowerModel({}), {.ecc = EccGeneration::kV6});
  const SystemInfo info(gpu_, board);
  EXPECT_EQ(info.GetFlags(0).data, 0x7Fu);
  board.state.reset_required = true;
  EXPECT_EQ(info.GetFlags(1).data, 1u);
  board.state.drain_recommended = true;
  EXPECT_EQ(info.GetFlags(1).data, 3u);
}

TEST_F(SystemInfoTest, TheVersionIsAText) {
  std::string text;
  for (uint8_t dword = 0; dword < 16; ++dword) {
    const uint32_t characters = info_.GetVersion(0, dword).data;
    for (int i = 0; i < 4; ++i) text += static_cast<char>(characters >> 8 * i);
  }
  EXPECT_EQ(text.substr(0, 13), "sideband-mcu ");
  EXPECT_EQ(text[63], '\0');
  EXPECT_EQ(info_.GetVersion(0, 16).status, MailboxStatus::kErrArg2);
  EXPECT_EQ(info_.GetVersion(1, 0).status, MailboxStatus::kErrArg1);
}

}  // namespace
}  // namespace sideband::mcu
