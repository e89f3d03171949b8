// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/firmware/board_flags.h"

#include <gtest/gtest.h>

namespace sideband::mcu {
namespace {

using mailbox::MailboxStatus;

constexpr uint8_t kGet = 0, kSet = 1;
constexpr uint8_t kDisabled = 0x5A, kEnabled = 0xA5;

class BoardFlagsTest : public testing::Test {
 protected:
  BoardSpec spec_ = {.power_connector = true, .write_protection = true};
  BoardState state_{spec_};
  BoardFlags flags_{spec_, state_};
};

TEST_F(BoardFlagsTest, PowerConnector) {
  EXPECT_EQ(flags_.GetPowerConnector(0).data, 0u);
  state_.power_is_insufficient = true;
  EXPECT_EQ(flags_.GetPowerConnector(0).data, 1u);
  EXPECT_EQ(flags_.GetPowerConnector(1).status, MailboxStatus::kErrArg1);
}

TEST_F(BoardFlagsTest, WriteProtection) {
  EXPECT_EQ(flags_.AccessWriteProtect(kGet, 0).data, kDisabled) << "at first";
  EXPECT_EQ(flags_.AccessWriteProtect(kSet, kEnabled).status, MailboxStatus::kSuccess);
  EXPECT_EQ(flags_.AccessWriteProtect(kGet, 0).data, kEnabled);
  EXPECT_TRUE(state_.is_write_protected);
  EXPECT_EQ(flags_.AccessWriteProtect(kSet, kDisabled).status, MailboxStatus::kSuccess);
  EXPECT_EQ(flags_.AccessWriteProtect(kGet, 0).data, kDisabled);
}

struct RefusedCase {
  uint8_t arg1, arg2;
  MailboxStatus status;
};
constexpr RefusedCase kRefused[] = {
    {kGet, 1, MailboxStatus::kErrArg2},
    {kGet, kEnabled, MailboxStatus::kErrArg2},
    {kSet, 0, MailboxStatus::kErrArg2},
    {kSet, kDisabled - 1, MailboxStatus::kErrArg2},
    {kSet, kDisabled + 1, MailboxStatus::kErrArg2},
    {kSet, kEnabled + 1, MailboxStatus::kErrArg2},
    {2, kDisabled, MailboxStatus::kErrArg1},
    {0xFF, 0xFF, MailboxStatus::kErrArg1},
};

TEST_F(BoardFlagsTest, ARefusedCommandChangesNothing) {
  state_.is_write_protected = true;
  for (const RefusedCase& row : kRefused) {
    EXPECT_EQ(flags_.AccessWriteProtect(row.arg1, row.arg2).status, row.status)
        << int{row.arg1} << ", " << int{row.arg2};
    EXPECT_TRUE(state_.is_write_protected) << int{row.arg1} << ", " << int{row.arg2};
  }
}

TEST_F(BoardFlagsTest, ABoardWithoutThem) {
  spec_.power_connector = spec_.write_protection = false;
  for (const uint8_t arg1 : {0, 1, 2}) {
    EXPECT_EQ(flags_.GetPowerConnector(arg1).status, MailboxStatus::kErrNotSupported) << int{arg1};
    EXPECT_EQ(flags_.AccessWriteProtect(arg1, kEnabled).status, MailboxStatus::kErrNotSupported) << int{arg1};
  }
  EXPECT_FALSE(state_.is_write_protected);
}

}  // namespace
}  // namespace sideband::mcu
