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
  SystemInfo info_{gpu_};
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
