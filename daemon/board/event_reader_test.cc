// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "daemon/board/fake_board.h"
#include "daemon/board/group_plans.h"
#include "proto/mailbox/board_items.h"

namespace sideband::daemon {
namespace {

using mailbox::BoardEvent;
using mailbox::Capability;
using mailbox::DriverEvent;
using mailbox::MaskOf;
using mailbox::Opcode;

class EventReaderTest : public testing::Test {
 protected:
  EventReaderTest() {
    board_.AnnounceScratch();
    board_.Announce(Capability::kDriverEvents);
  }
  uint64_t CountOf(BoardEvent event) { return runner_.Read(BoardGroup::kEvents).events.counts.at(event).value; }
  const DriverMessageReading& Messages() { return runner_.Read(BoardGroup::kDriverMessages).driver_messages; }
  void AddMessage(uint16_t xid, uint32_t sequence) {
    board_.AddMessage({.xid = xid, .sequence = sequence, .time_s = 1, .text = "text"});
  }
  FakeBoard board_;
  RoundRunner runner_{board_};
};

TEST_F(EventReaderTest, CountsAndClearsEvents) {
  EXPECT_EQ(CountOf(BoardEvent::kEccToggled), 0u);
  EXPECT_EQ(runner_.commands, 1u);
  board_.pending_events = MaskOf(BoardEvent::kEccToggled) | 1u << 31;
  EXPECT_EQ(CountOf(BoardEvent::kEccToggled), 1u);
  EXPECT_EQ(board_.pending_events, 0u);
  EXPECT_EQ(CountOf(BoardEvent::kEccToggled), 1u);
  board_.pending_events = MaskOf(BoardEvent::kEccToggled);
  EXPECT_EQ(CountOf(BoardEvent::kEccToggled), 2u);
  EXPECT_EQ(runner_.reading.events.counts.size(), std::size(mailbox::kBoardEvents));
  EXPECT_FALSE(runner_.memory.saw_reset);
}

TEST_F(EventReaderTest, AnEventThatCannotBeClearedCountsOnce) {
  board_.pending_events = MaskOf(BoardEvent::kMigToggled);
  board_.lie = [](const FakeBoard::Ran& ran) -> std::optional<BoardReply> {
    if (!ran.data) return std::nullopt;
    return BoardReply{.word = {.status = mailbox::MailboxStatus::kErrNotAvailable}};
  };
  EXPECT_EQ(CountOf(BoardEvent::kMigToggled), 1u);
  EXPECT_EQ(CountOf(BoardEvent::kMigToggled), 1u);
}

TEST_F(EventReaderTest, ARestartIsAReset) {
  for (const BoardEvent event : {BoardEvent::kColdRestart, BoardEvent::kWarmRestart}) {
    runner_.memory.saw_reset = false;
    board_.pending_events = MaskOf(event);
    CountOf(event);
    EXPECT_TRUE(runner_.memory.saw_reset);
  }
}

TEST_F(EventReaderTest, ReadsMessagesInOrder) {
  AddMessage(79, 1);
  AddMessage(0x163, 2);
  const DriverMessageReading& read = Messages();
  ASSERT_EQ(read.messages.size(), 2u);
  EXPECT_EQ(read.messages[0].xid, 79);
  EXPECT_EQ(read.messages[1].xid, 0x163);
  EXPECT_EQ(read.messages[1].text, "text");
  EXPECT_EQ(read.counts.at(79).value, 1u);
  EXPECT_EQ(runner_.reports.front(), "driver_messages: xid 79, number 1: text");
}

TEST_F(EventReaderTest, ARoundReadsSoManyAndTheNextGoesOn) {
  for (uint32_t i = 1; i <= kMessagesPerRoundMax + 1; ++i) AddMessage(13, i);
  EXPECT_EQ(Messages().messages.size(), size_t{kMessagesPerRoundMax});
  EXPECT_EQ(Messages().messages.size(), size_t{kMessagesPerRoundMax} + 1);
  EXPECT_EQ(runner_.reading.driver_messages.counts.at(13).value, kMessagesPerRoundMax + 1u);
}

TEST_F(EventReaderTest, LongestMessagesFitIntoTheBoundOfARound) {
  for (uint32_t i = 1; i <= kMessagesPerRoundMax; ++i) {
    board_.AddMessage({.xid = 1, .sequence = i, .text = std::string(DriverEvent::kTextBytesMax - 1, 'x')});
  }
  EXPECT_EQ(Messages().messages.size(), size_t{kMessagesPerRoundMax});
  EXPECT_LT(runner_.commands, RowOf(BoardGroup::kDriverMessages).commands_max);
}

TEST_F(EventReaderTest, KeepsTheNewestMessages) {
  for (uint32_t i = 1; i <= DriverMessageReading::kMessagesMax + 4; ++i) AddMessage(13, i);
  for (size_t i = 0; i < DriverMessageReading::kMessagesMax / kMessagesPerRoundMax + 1; ++i) Messages();
  const DriverMessageReading& read = runner_.reading.driver_messages;
  EXPECT_EQ(read.messages.size(), DriverMessageReading::kMessagesMax);
  EXPECT_EQ(read.messages.back().sequence, DriverMessageReading::kMessagesMax + 4);
  EXPECT_EQ(read.taken, DriverMessageReading::kMessagesMax + 4);
}

TEST_F(EventReaderTest, CountsXidsWithoutRoomTogether) {
  const size_t xids = DriverMessageReading::kXidsMax + 4;
  for (uint16_t i = 0; i < xids; ++i) AddMessage(i, i + 1u);
  for (size_t i = 0; i < xids / kMessagesPerRoundMax; ++i) Messages();
  const DriverMessageReading& read = runner_.reading.driver_messages;
  EXPECT_EQ(read.counts.size(), DriverMessageReading::kXidsMax);
  EXPECT_EQ(read.other.value, 4u);
}

TEST_F(EventReaderTest, AMessageThatTheBoardRepeatsCountsOnce) {
  AddMessage(79, 1);
  AddMessage(79, 1);
  Messages();
  EXPECT_EQ(Messages().counts.at(79).value, 1u);
}

TEST_F(EventReaderTest, AnImpossibleRecordIsLeftOut) {
  board_.messages.push_back(Bytes{2, 1, 0, 0, 0, 0, 0, 0});   // shorter than a header
  board_.messages.push_back(Bytes{24, 1, 0, 0, 0, 0, 0, 0});  // longer than the longest
  Messages();
  EXPECT_TRUE(Messages().messages.empty());
  EXPECT_EQ(runner_.reports.size(), 1u);
}

TEST_F(EventReaderTest, WithoutScratchMemoryNoMessagesAreRead) {
  board_.capabilities.dwords[2] = 0;
  Messages();
  EXPECT_EQ(runner_.commands, 0u);
}

}  // namespace
}  // namespace sideband::daemon
