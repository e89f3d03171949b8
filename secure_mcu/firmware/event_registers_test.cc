// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/firmware/event_registers.h"

#include <gtest/gtest.h>

namespace sideband::mcu {
namespace {

using mailbox::BoardEvent;
using mailbox::MailboxStatus;

constexpr uint8_t kWrite = 0, kRead = 1;
constexpr uint8_t kScratchPages = 0, kPending = 1, kMask = 2;

class EventRegistersTest : public testing::Test {
 protected:
  ScratchMemory scratch_;
  BoardState board_{BoardSpec{}};
  EventRegisters registers_{scratch_, board_};
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

TEST_F(EventRegistersTest, WhatTheBoardRaisesIsPendingUntilItIsCleared) {
  for (const mailbox::BoardEventRow& row : mailbox::kBoardEvents) {
    const uint32_t bit = MaskOf(row.event);
    registers_.Access(kWrite, kPending, 0);
    registers_.Access(kWrite, kMask, bit);
    EXPECT_FALSE(registers_.AnyPending()) << row.name;
    board_.Raise(row.event);
    EXPECT_TRUE(registers_.AnyPending()) << row.name;
    EXPECT_EQ(registers_.Access(kRead, kPending, 0).data, bit) << row.name;
    EXPECT_EQ(registers_.Access(kRead, kPending, 0).data, bit) << row.name << " is not cleared by a read";
  }
}

TEST_F(EventRegistersTest, AClearedEventCanComeAgain) {
  board_.Raise(BoardEvent::kPowerLimitSet);
  board_.Raise(BoardEvent::kPowerLimitSet);
  registers_.Access(kWrite, kPending, ~MaskOf(BoardEvent::kPowerLimitSet));
  EXPECT_EQ(registers_.Access(kRead, kPending, 0).data, 1u) << "both of them, and not the start";
  board_.Raise(BoardEvent::kNewDriverEvent);
  EXPECT_EQ(registers_.Access(kRead, kPending, 0).data, 0x101u);
  board_.Raise(BoardEvent::kPowerLimitSet);
  EXPECT_EQ(registers_.Access(kRead, kPending, 0).data, 0x109u);
}

TEST_F(EventRegistersTest, EachSetOfRegistersHasItsOwnPendingEvents) {
  ScratchMemory scratch;
  EventRegisters other(scratch, board_);
  board_.Raise(BoardEvent::kEccToggled);
  registers_.Access(kWrite, kPending, 0);
  EXPECT_EQ(registers_.Access(kRead, kPending, 0).data, 0u);
  EXPECT_EQ(other.Access(kRead, kPending, 0).data, 0x21u);
  EventRegisters later(scratch, board_);
  EXPECT_EQ(later.Access(kRead, kPending, 0).data, 1u) << "what was before its start is not its own";
}

TEST_F(EventRegistersTest, SelectsTheScratchPages) {
  EXPECT_EQ(registers_.Access(kWrite, kScratchPages, 0x0201).status, MailboxStatus::kSuccess);
  EXPECT_EQ(scratch_.pages(), 0x0201u);
  EXPECT_EQ(registers_.Access(kRead, kScratchPages, 0).data, 0x0201u);
  EXPECT_EQ(registers_.Access(kWrite, kScratchPages, 4).status, MailboxStatus::kErrData);
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
