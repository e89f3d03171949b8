// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/firmware/event_registers.h"

#include <gtest/gtest.h>

namespace sideband::mcu {
namespace {

using mailbox::MailboxStatus;

constexpr uint8_t kWrite = 0, kRead = 1;
constexpr uint8_t kPages = 0, kPending = 1, kMask = 2;

class EventRegistersTest : public testing::Test {
 protected:
  ScratchMemory scratch_;
  EventRegisters registers_{scratch_};
};

TEST_F(EventRegistersTest, AStartIsPendingButMasked) {
  EXPECT_EQ(registers_.Access(kRead, kPending, 0).data, 1u);
  EXPECT_EQ(registers_.Access(kRead, kMask, 0).data, 0u);
  EXPECT_FALSE(registers_.AnyPending());
}

TEST_F(EventRegistersTest, AnEnabledEventIsTold) {
  registers_.Access(kWrite, kMask, 0x3FE);
  EXPECT_FALSE(registers_.AnyPending()) << "all but the start";
  registers_.Access(kWrite, kMask, 0x3FF);
  EXPECT_TRUE(registers_.AnyPending());
  EXPECT_EQ(registers_.Access(kRead, kMask, 0).data, 0x3FFu);
}

TEST_F(EventRegistersTest, ZerosClear) {
  registers_.Access(kWrite, kMask, 1);
  EXPECT_EQ(registers_.Access(kWrite, kPending, 0xFFFFFFFF).status, MailboxStatus::kSuccess);
  EXPECT_TRUE(registers_.AnyPending()) << "kept";
  EXPECT_EQ(registers_.Access(kRead, kPending, 0).data, 1u) << "and none raised";
  registers_.Access(kWrite, kPending, ~uint32_t{1});
  EXPECT_FALSE(registers_.AnyPending());
  registers_.Access(kWrite, kPending, 1);
  EXPECT_EQ(registers_.Access(kRead, kPending, 0).data, 0u);
}

TEST_F(EventRegistersTest, SelectsTheScratchPages) {
  EXPECT_EQ(registers_.Access(kWrite, kPages, 0x0201).status, MailboxStatus::kSuccess);
  EXPECT_EQ(scratch_.pages(), 0x0201u);
  EXPECT_EQ(registers_.Access(kRead, kPages, 0).data, 0x0201u);
  EXPECT_EQ(registers_.Access(kWrite, kPages, 4).status, MailboxStatus::kErrData);
}

TEST_F(EventRegistersTest, WhatIsNotThere) {
  EXPECT_EQ(registers_.Access(2, kMask, 0).status, MailboxStatus::kErrArg1);
  EXPECT_EQ(registers_.Access(kRead, 3, 0).status, MailboxStatus::kErrArg2);
  EXPECT_EQ(registers_.Access(kWrite, 0xFF, 0).status, MailboxStatus::kErrArg2);
  EXPECT_EQ(registers_.Access(kWrite, kMask, 0x400).status, MailboxStatus::kErrData);
  EXPECT_EQ(registers_.Access(kRead, kMask, 0).data, 0u) << "nothing was changed";
}

}  // namespace
}  // namespace sideband::mcu
