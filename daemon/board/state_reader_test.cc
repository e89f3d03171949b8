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
using mailbox::MiscFlag;
using mailbox::Opcode;
using mailbox::SysId;

class IdentityReaderTest : public testing::Test {
 protected:
  const IdentityReading& Read() { return runner_.Read(BoardGroup::kIdentity).identity; }
  bool SawReset() {
    runner_.Read(BoardGroup::kCapabilities);
    return std::exchange(runner_.memory.saw_reset, false);
  }
  FakeBoard board_;
  RoundRunner runner_{board_};
};

TEST_F(IdentityReaderTest, ReadsTextsBytesAndNumbers) {
  for (const auto capability : {Capability::kSerialNumber, Capability::kFirmwareVersion, Capability::kGpuGuid,
                                Capability::kVendorId, Capability::kMemoryVendor, Capability::kFruPartNumber}) {
    board_.Announce(capability);
  }
  board_.SetItem(SysId::kSerialNumber, "1320922000001   ");
  board_.SetItem(SysId::kFirmwareVersion, "96.00.5E.00.01xx");  // of 14 bytes
  board_.SetItem(SysId::kGuid, "\x01\x02");
  board_.SetItem(SysId::kVendorId, "\xde\x10\xff\xff");
  board_.SetItem(SysId::kMemoryVendor, "\x05");
  board_.SetItem(SysId::kFruPartNumber, "");
  EXPECT_EQ(Read().items, (std::map<SysId, std::string>{{SysId::kSerialNumber, "1320922000001"},
                                                        {SysId::kFirmwareVersion, "96.00.5E.00.01"},
                                                        {SysId::kGuid, "01020000000000000000000000000000"},
                                                        {SysId::kVendorId, "0x10de"},
                                                        {SysId::kMemoryVendor, "0x05"}}));
}

TEST_F(IdentityReaderTest, ATextThatCannotBePrintedIsAbsent) {
  board_.Announce(Capability::kMarketingName);
  board_.SetItem(SysId::kMarketingName, "GPU\n");
  EXPECT_TRUE(Read().items.empty());
  EXPECT_EQ(runner_.reports, std::vector<std::string>{"identity: marketing name is implausible"});
}

TEST_F(IdentityReaderTest, ReadsTheDriversVersion) {
  board_.Announce(Capability::kDriverVersion);
  for (uint8_t i = 0; i < 16; ++i) board_.Set(Opcode::kGetSystemInfo, 0, i, i == 0 ? 0x2E303535 : 0);
  EXPECT_EQ(Read().driver_version, "550.");
}

TEST_F(IdentityReaderTest, EverythingFitsIntoTheBoundOfARound) {
  for (const Capability capability : announced::kIdentity) board_.Announce(capability);
  board_.lie = [](const FakeBoard::Ran&) {
    return std::optional(BoardReply{.word = {.status = mailbox::MailboxStatus::kSuccess}, .data = 0x41414141});
  };
  EXPECT_EQ(Read().items.size() + 1, std::size(announced::kIdentity));
  EXPECT_TRUE(runner_.reading.identity.driver_version.has_value());
  EXPECT_LT(runner_.commands, RowOf(BoardGroup::kIdentity).commands_max);
}

TEST_F(IdentityReaderTest, AnotherSerialNumberIsAnotherBoard) {
  board_.Announce(Capability::kSerialNumber);
  board_.SetItem(SysId::kSerialNumber, "A");
  EXPECT_FALSE(SawReset());
  EXPECT_FALSE(SawReset());
  board_.SetItem(SysId::kSerialNumber, "B");
  EXPECT_TRUE(SawReset());
  EXPECT_FALSE(SawReset());
}

TEST_F(IdentityReaderTest, WithoutASerialNumberTheGuidCounts) {
  board_.Announce(Capability::kGpuGuid);
  board_.SetItem(SysId::kGuid, "A");
  EXPECT_FALSE(SawReset());
  board_.SetItem(SysId::kGuid, "B");
  EXPECT_TRUE(SawReset());
}

TEST_F(IdentityReaderTest, CapabilitiesThatAreMissingAreZeroAndOthersStay) {
  board_.Announce(Capability::kMemoryCapacity);  // in dword 5
  board_.Announce(Capability::kPowerTotal);
  const auto status_of = [](mailbox::MailboxStatus status) {
    return [status](const FakeBoard::Ran& ran) -> std::optional<BoardReply> {
      if (ran.word.opcode != Opcode::kGetCapabilities || ran.word.arg1 != 5) return std::nullopt;
      return BoardReply{.word = {.status = status}};
    };
  };
  board_.lie = status_of(mailbox::MailboxStatus::kErrBusy);
  runner_.Read(BoardGroup::kCapabilities);
  EXPECT_TRUE(runner_.memory.capabilities.Has(Capability::kMemoryCapacity));
  board_.lie = status_of(mailbox::MailboxStatus::kErrArg1);
  runner_.Read(BoardGroup::kCapabilities);
  EXPECT_FALSE(runner_.memory.capabilities.Has(Capability::kMemoryCapacity));
  EXPECT_TRUE(runner_.memory.capabilities.Has(Capability::kPowerTotal));
}

class FlagReaderTest : public testing::Test {
 protected:
  const FlagReading& Read() { return runner_.Read(BoardGroup::kFlags).flags; }
  FakeBoard board_;
  RoundRunner runner_{board_};
};

TEST_F(FlagReaderTest, ReadsAnnouncedFlags) {
  board_.Announce(Capability::kMigState);
  board_.Announce(Capability::kDrainAndReset);
  board_.Set(Opcode::kGetMiscFlags, 0, 0, 1 << 4 | 1 << 6 | 1 << 1);
  board_.Set(Opcode::kGetMiscFlags, 1, 0, 0b11);
  EXPECT_EQ(Read().flags, (std::map<MiscFlag, bool>{{MiscFlag::kMigSupported, false},
                                                    {MiscFlag::kMigCurrent, true},
                                                    {MiscFlag::kMigPending, false},
                                                    {MiscFlag::kDriverRuns, true},
                                                    {MiscFlag::kDeviceDisabled, false},
                                                    {MiscFlag::kDriverReloadPending, false},
                                                    {MiscFlag::kDrainRecommended, true}}));
}

TEST_F(FlagReaderTest, ReadsTheFabricManager) {
  board_.Announce(Capability::kFabricFlags);
  board_.Set(Opcode::kGetMiscFlags, 0, 0, 3 << 8);
  EXPECT_EQ(Read().fabric_manager, 3);
  board_.Set(Opcode::kGetMiscFlags, 0, 0, 4 << 8);
  EXPECT_EQ(Read().fabric_manager, std::nullopt);
}

TEST_F(FlagReaderTest, ReadsTheWriteProtection) {
  board_.Announce(Capability::kAccessWpMode);
  const auto read = [&](uint32_t mode) {
    board_.Set(Opcode::kAccessWriteProtect, 0, 0, mode);
    return Read().write_protected;
  };
  EXPECT_EQ(read(0xA5), true);
  EXPECT_EQ(read(0x5A), false);
  EXPECT_EQ(read(0x00), std::nullopt);
  EXPECT_EQ(runner_.commands, 1u);
}

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
