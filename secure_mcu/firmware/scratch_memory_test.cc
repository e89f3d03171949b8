// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/firmware/scratch_memory.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "proto/base/bytes.h"

namespace sideband::mcu {
namespace {

using mailbox::BoardEvent;
using mailbox::DriverEvent;
using mailbox::MailboxStatus;

TEST(ScratchMemoryTest, ReadsWhatWasWritten) {
  ScratchMemory scratch;
  EXPECT_EQ(scratch.Read(255).data, 0u);
  EXPECT_EQ(scratch.Write(255, 0, 7).status, MailboxStatus::kSuccess);
  EXPECT_EQ(scratch.Read(255).data, 7u);
  EXPECT_EQ(scratch.Write(0, 255, 9).status, MailboxStatus::kSuccess) << "a whole page";
  EXPECT_EQ(scratch.Read(0).data, 9u);
  EXPECT_EQ(scratch.Read(255).data, 9u);
}

TEST(ScratchMemoryTest, NothingIsWrittenBeyondThePage) {
  ScratchMemory scratch;
  EXPECT_EQ(scratch.Write(255, 1, 7).status, MailboxStatus::kErrArg2);
  EXPECT_EQ(scratch.Read(255).data, 0u);
  EXPECT_FALSE(scratch.Put(255, std::vector<uint32_t>{1, 2}));
  EXPECT_EQ(scratch.Read(255).data, 0u);
  EXPECT_TRUE(scratch.Put(254, std::vector<uint32_t>{1, 2}));
  EXPECT_EQ(scratch.Read(255).data, 2u);
}

TEST(ScratchMemoryTest, ParametersAreInTheDestinationPage) {
  ScratchMemory scratch;
  ASSERT_TRUE(scratch.SelectPages(0x0001));
  scratch.Write(254, 1, 7);
  ASSERT_EQ(scratch.Parameters(254, 2).size(), 2u);
  EXPECT_EQ(scratch.Parameters(254, 2)[1], 7u);
  EXPECT_EQ(scratch.Parameters(0, 256).size(), 256u) << "a whole page";
  EXPECT_TRUE(scratch.Parameters(254, 3).empty());
  EXPECT_TRUE(scratch.Parameters(1, 256).empty());
}

TEST(ScratchMemoryTest, PagesAreSelectedApart) {
  ScratchMemory scratch;
  ASSERT_TRUE(scratch.SelectPages(0x0003));
  EXPECT_EQ(scratch.pages(), 0x0003u);
  scratch.Write(5, 0, 42);
  EXPECT_EQ(scratch.Read(5).data, 0u) << "page 0";
  ASSERT_TRUE(scratch.SelectPages(0x0301));
  EXPECT_EQ(scratch.Read(5).data, 42u);
  for (const uint32_t pages : {0x0004u, 0x0400u, 0x10000u, 0xFFFFFFFFu}) {
    EXPECT_FALSE(scratch.SelectPages(pages)) << pages;
    EXPECT_EQ(scratch.pages(), 0x0301u) << pages;
  }
}

TEST(ScratchMemoryTest, CopiesBetweenPages) {
  ScratchMemory scratch;
  for (uint8_t i = 0; i < 4; ++i) scratch.Write(i, 0, i + 1);
  ASSERT_TRUE(scratch.SelectPages(0x0002));
  EXPECT_EQ(scratch.Copy(10, 3, 0).status, MailboxStatus::kSuccess);
  ASSERT_TRUE(scratch.SelectPages(0x0200));
  EXPECT_EQ(scratch.Read(10).data, 1u);
  EXPECT_EQ(scratch.Read(13).data, 4u);
  EXPECT_EQ(scratch.Read(14).data, 0u);
}

TEST(ScratchMemoryTest, ACopyMayOverlap) {
  ScratchMemory scratch;
  for (uint8_t i = 0; i < 4; ++i) scratch.Write(i, 0, i + 1);
  scratch.Copy(1, 3, 0);
  EXPECT_EQ(scratch.Read(1).data, 1u);
  EXPECT_EQ(scratch.Read(4).data, 4u);
  scratch.Copy(0, 3, 1);
  EXPECT_EQ(scratch.Read(0).data, 1u);
  EXPECT_EQ(scratch.Read(3).data, 4u);
}

TEST(ScratchMemoryTest, CopiesStayWithinTheirPages) {
  ScratchMemory scratch;
  EXPECT_EQ(scratch.Copy(255, 1, 0).status, MailboxStatus::kErrArg2);
  EXPECT_EQ(scratch.Copy(0, 1, 255).status, MailboxStatus::kErrData);
  EXPECT_EQ(scratch.Copy(0, 0, 255).status, MailboxStatus::kSuccess);
  EXPECT_EQ(scratch.Copy(0, 0, 256).status, MailboxStatus::kErrData);
  EXPECT_EQ(scratch.Copy(0, 0, 0xFFFFFFFF).status, MailboxStatus::kErrData);
}

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

constexpr uint8_t kOldest = 0, kBySequence = 1, kByTime = 2;

class DriverEventsTest : public testing::Test {
 protected:
  DriverEventsTest() {
    messages_.Append({.xid = 63, .time_s = 100, .text = "Row remapping pending"});
    messages_.Append({.xid = 79, .time_s = 200, .text = "off the bus"});
    messages_.Append({.xid = 0x123, .time_s = 300, .text = ""});
  }
  // The record that a reply announces at this dword.
  DriverEvent Record(const Reply& reply, uint8_t dword = 0) {
    EXPECT_EQ(reply.status, MailboxStatus::kSuccess);
    ByteWriter out;
    for (const uint32_t value : scratch_.Parameters(dword, reply.data / 4)) out.U32(value);
    const auto event = DriverEvent::Decode(std::move(out).Take());
    EXPECT_TRUE(event.ok()) << event.status();
    return event.value_or(DriverEvent{});
  }

  ScratchMemory scratch_;
  DriverMessages messages_;
  DriverEvents events_{scratch_, messages_};
};

TEST_F(DriverEventsTest, TheOldestIsReadOnce) {
  const Reply reply = events_.Get(kOldest, 16, 0);
  EXPECT_EQ(reply.data, 36u) << "a header of 12 bytes, 21 characters and a zero, in dwords";
  EXPECT_EQ(Record(reply, 16), (DriverEvent{.xid = 63, .sequence = 1, .time_s = 100, .text = "Row remapping pending"}));
  EXPECT_EQ(Record(events_.Get(kOldest, 0, 0)).xid, 79u);
  EXPECT_EQ(Record(events_.Get(kOldest, 0, 0)).xid, 0x123u);
  EXPECT_EQ(events_.Get(kOldest, 0, 0).status, MailboxStatus::kErrNotAvailable);
}

TEST_F(DriverEventsTest, OthersAreFoundAndStay) {
  struct Row {
    uint8_t step;
    uint32_t data, sequence;
  };
  const Row rows[] = {
      {kBySequence, 0, 1},  // the first one from there on
      {kBySequence, 1, 1},  //
      {kBySequence, 3, 3},  // the last
      {kByTime, 0, 1},      //
      {kByTime, 100, 1},    // at this time
      {kByTime, 101, 2},    // or later
      {kByTime, 300, 3},    // the last
  };
  for (const Row& row : rows) {
    EXPECT_EQ(Record(events_.Get(row.step, 0, row.data)).sequence, row.sequence) << int{row.step} << " " << row.data;
  }
  EXPECT_EQ(events_.Get(kBySequence, 0, 4).status, MailboxStatus::kErrNotAvailable);
  EXPECT_EQ(events_.Get(kByTime, 0, 301).status, MailboxStatus::kErrNotAvailable);
  EXPECT_EQ(Record(events_.Get(kOldest, 0, 0)).sequence, 1u) << "nothing was removed";
}

TEST_F(DriverEventsTest, ARecordThatExceedsThePageStays) {
  constexpr uint8_t kLast = 256 - 36 / 4;
  EXPECT_EQ(events_.Get(kOldest, kLast + 1, 0).status, MailboxStatus::kErrArg2);
  EXPECT_EQ(scratch_.Read(kLast + 1).data, 0u) << "nothing was written";
  EXPECT_EQ(Record(events_.Get(kOldest, kLast, 0), kLast).sequence, 1u);
}

TEST_F(DriverEventsTest, TheLongestRecord) {
  DriverMessages messages;
  messages.Append({.text = std::string(200, 'x')});
  DriverEvents events(scratch_, messages);
  EXPECT_EQ(events.Get(kBySequence, 234, 0).status, MailboxStatus::kErrArg2);
  const Reply reply = events.Get(kBySequence, 233, 0);
  EXPECT_EQ(reply.data, DriverEvent::kBytesMax);
  EXPECT_TRUE(Record(reply, 233).text_truncated);
}

TEST_F(DriverEventsTest, RecordsGoToTheDestinationPage) {
  ASSERT_TRUE(scratch_.SelectPages(0x0003));
  events_.Get(kOldest, 0, 0);
  EXPECT_EQ(scratch_.Read(0).data, 0u);
  ASSERT_TRUE(scratch_.SelectPages(0x0300));
  EXPECT_EQ(scratch_.Read(0).data & 0xFF, 9u) << "dwords of the record";
}

TEST_F(DriverEventsTest, WhatIsNotDefined) {
  EXPECT_EQ(events_.Get(3, 0, 0).status, MailboxStatus::kErrArg1);
  EXPECT_EQ(events_.Get(0xFF, 0xFF, 0).status, MailboxStatus::kErrArg1) << "the first argument is judged first";
  EXPECT_EQ(Record(events_.Get(kOldest, 0, 0)).sequence, 1u) << "nothing was removed";
}

}  // namespace

}  // namespace sideband::mcu
