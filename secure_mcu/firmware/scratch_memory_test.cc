// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/firmware/scratch_memory.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "proto/base/bytes.h"
#include "proto/mailbox/services.h"

namespace sideband::mcu {
namespace {

using mailbox::BoardEvent;
using mailbox::BundleField;
using mailbox::BundleRule;
using mailbox::CommandWord;
using mailbox::DriverEvent;
using mailbox::MailboxStatus;
using mailbox::Opcode;

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

constexpr uint32_t kStops = mailbox::kBundleStops;

uint32_t Command(uint8_t opcode, uint8_t arg1 = 0, uint8_t arg2 = 0) {
  return CommandWord{.opcode = static_cast<Opcode>(opcode), .arg1 = arg1, .arg2 = arg2}.Encode();
}

uint32_t Answer(uint32_t command, MailboxStatus status) { return command | static_cast<uint32_t>(status) << 24; }

// Copies a whole register of request 0 unless a field differs.
BundleRule Copying(BundleField source, BundleField destination) {
  return {.source = source, .destination = destination};
}

// The executor repeats data-in, with its complement as extended data. GET_TEMP fails with ERR_ARG1.
class BundlesTest : public testing::Test {
 protected:
  struct Request {
    uint32_t command = 0;
    uint32_t data = 0;
  };

  Reply Execute(const CommandWord& command, uint32_t data) {
    executed_.push_back(command);
    if (command.opcode == Opcode::kGetTemp) return {.status = MailboxStatus::kErrArg1};
    return {.data = data, .extended_data = ~data, .word_bits = word_bits_};
  }
  Reply Launch(const std::vector<Request>& requests, const std::vector<uint32_t>& rules, uint8_t dword = 0) {
    std::vector<uint32_t> dwords;
    for (const Request& request : requests) {
      dwords.insert(dwords.end(), {request.command, request.data, 0xAAAA'AAAA, 0xBBBB'BBBB});
    }
    dwords.insert(dwords.end(), rules.begin(), rules.end());
    scratch_.Put(dword, dwords);
    return bundles_.Launch(static_cast<uint8_t>(requests.size() | rules.size() << 4), dword);
  }
  std::vector<uint32_t> Entry(uint8_t dword) const {
    const auto entry = scratch_.Parameters(dword, mailbox::kBundleRequestDwords);
    return {entry.begin(), entry.end()};
  }

  ScratchMemory scratch_;
  std::vector<CommandWord> executed_;
  std::optional<uint32_t> word_bits_;
  Bundles bundles_{scratch_, [this](const CommandWord& command, uint32_t data) { return Execute(command, data); }};
};

TEST_F(BundlesTest, EachRequestIsExecutedInOrderAndAnswered) {
  const Reply reply = Launch({{Command(0x04, 1, 2), 7}, {Command(0x05) | kStops, 9}}, {}, 100);
  EXPECT_EQ(reply.status, MailboxStatus::kSuccess);
  EXPECT_EQ(reply.data, 0u);
  EXPECT_EQ(reply.extended_data, 0u);
  EXPECT_FALSE(reply.word_bits) << "the status repeats the command";
  const CommandWord first{.opcode = Opcode::kGetPower, .arg1 = 1, .arg2 = 2, .execute = true};
  const CommandWord second{.opcode = Opcode::kGetSysId, .execute = true};
  EXPECT_EQ(executed_, (std::vector<CommandWord>{first, second}));
  EXPECT_EQ(Entry(100), (std::vector<uint32_t>{Answer(Command(0x04, 1, 2), MailboxStatus::kSuccess), 7, 7, ~7u}));
  EXPECT_EQ(Entry(104), (std::vector<uint32_t>{Answer(Command(0x05), MailboxStatus::kSuccess), 9, 9, ~9u}));
}

TEST_F(BundlesTest, AFailureLeavesTheOthersTheirResults) {
  const Reply reply = Launch({{Command(0x04), 1}, {Command(0x02), 2}, {Command(0x04), 3}}, {});
  EXPECT_EQ(reply.status, MailboxStatus::kPartialFailure);
  EXPECT_EQ(Entry(0)[2], 1u);
  EXPECT_EQ(Entry(4), (std::vector<uint32_t>{Answer(Command(0x02), MailboxStatus::kErrArg1), 2, 0, 0}));
  EXPECT_EQ(Entry(8)[2], 3u);
}

TEST_F(BundlesTest, AFailureThatStopsEndsTheBundle) {
  const BundleRule second = {.request = 1, .source = BundleField::kStatus};
  const BundleRule last = {.request = 2, .source = BundleField::kStatus, .destination = BundleField::kExtendedData};
  const Reply reply = Launch({{Command(0x04) | kStops, 1}, {Command(0x02) | kStops, 2}, {Command(0x04, 5), 3}},
                             {second.Encode(), last.Encode()});
  EXPECT_EQ(reply.status, MailboxStatus::kPartialFailure);
  EXPECT_EQ(executed_.size(), 2u);
  EXPECT_EQ(Entry(8), (std::vector<uint32_t>{Command(0x04, 5), 3, 0, 0})) << "its status is NULL";
  EXPECT_EQ(reply.data, Answer(Command(0x02), MailboxStatus::kErrArg1)) << "the rules are applied all the same";
  EXPECT_EQ(reply.extended_data, Command(0x04, 5));
}

TEST_F(BundlesTest, RulesPackBitsOfSeveralResults) {
  const BundleRule low = {.request = 0, .from = 8, .width = 16};
  const BundleRule high = {.request = 1, .from = 0, .width = 16, .to = 16};
  const BundleRule extended = {
      .source = BundleField::kExtendedData, .from = 4, .width = 4, .destination = BundleField::kExtendedData, .to = 28};
  const BundleRule word = {.request = 1, .width = 8, .destination = BundleField::kStatus, .to = 16};
  const Reply reply = Launch({{Command(0x04), 0x00ABCD00}, {Command(0x04), 0x56781234}},
                             {low.Encode(), high.Encode(), extended.Encode(), word.Encode()}, 3);
  EXPECT_EQ(reply.status, MailboxStatus::kSuccess);
  EXPECT_EQ(reply.data, 0x1234ABCDu);
  EXPECT_EQ(reply.extended_data, 0xF000'0000u);
  EXPECT_EQ(reply.word_bits, 0x34'42'1Cu) << "opcode and arg1 are repeated, arg2 is replaced";
}

TEST_F(BundlesTest, ALaterRuleOverwritesAnEarlierOne) {
  const BundleRule whole = {.request = 0};
  const BundleRule byte = {.request = 1, .width = 8, .to = 8};
  EXPECT_EQ(Launch({{Command(0x04), 0xFFFF'FFFF}, {Command(0x04), 0}}, {whole.Encode(), byte.Encode()}).data,
            0xFFFF'00FFu);
}

TEST_F(BundlesTest, BoundsOfRules) {
  struct Row {
    const char* what;
    BundleRule rule;
    bool is_valid;
  };
  using enum BundleField;
  constexpr BundleField kNone = static_cast<BundleField>(3);
  const Row rows[] = {
      {"last request", {.request = 1}, true},
      {"no such request", {.request = 2}, false},
      {"no such source", {.source = kNone}, false},
      {"no such destination", {.destination = kNone}, false},
      {"a whole register", Copying(kExtendedData, kExtendedData), true},
      {"to the last bit of the source", {.from = 1, .width = 31}, true},
      {"beyond the source", {.from = 2, .width = 31}, false},
      {"32 bits from bit 1", {.from = 1}, false},
      {"to the last bit of the destination", {.width = 1, .to = 31}, true},
      {"beyond the destination", {.width = 2, .to = 31}, false},
      {"32 bits to bit 1", {.to = 1}, false},
      {"the whole echo", {.width = 24, .destination = kStatus}, true},
      {"into the status", {.width = 25, .destination = kStatus}, false},
      {"last bit of the echo", {.width = 1, .destination = kStatus, .to = 23}, true},
      {"first bit of the status", {.width = 1, .destination = kStatus, .to = 24}, false},
      {"all bits of a status word", {.source = kStatus}, true},
  };
  for (const Row& row : rows) {
    executed_.clear();
    const Reply reply = Launch({{Command(0x04), 1}, {Command(0x04), 2}}, {row.rule.Encode()});
    EXPECT_EQ(reply.status, row.is_valid ? MailboxStatus::kSuccess : MailboxStatus::kErrDisposition) << row.what;
    EXPECT_EQ(executed_.size(), row.is_valid ? 2u : 0u) << row.what;
    EXPECT_EQ(Entry(0)[2], row.is_valid ? 1u : 0xAAAA'AAAAu) << row.what;
  }
  EXPECT_EQ(Launch({{Command(0x04), 1}}, {1u << 22}).status, MailboxStatus::kErrDisposition) << "undefined bits";
}

TEST_F(BundlesTest, BoundsOfCounts) {
  struct Row {
    uint8_t requests, rules;
    MailboxStatus status;
  };
  const Row rows[] = {
      {0, 0, MailboxStatus::kErrArg1},   // nothing to execute
      {1, 0, MailboxStatus::kSuccess},   //
      {4, 10, MailboxStatus::kSuccess},  // the most
      {5, 0, MailboxStatus::kErrArg1},   //
      {1, 11, MailboxStatus::kErrArg1},  //
      {15, 15, MailboxStatus::kErrArg1}  //
  };
  for (const Row& row : rows) {
    executed_.clear();
    const std::vector<uint32_t> rules(row.rules, BundleRule{}.Encode());
    EXPECT_EQ(Launch(std::vector<Request>(row.requests), rules).status, row.status)
        << int{row.requests} << " " << int{row.rules};
    EXPECT_EQ(executed_.size(), row.status == MailboxStatus::kSuccess ? row.requests : 0u);
  }
}

TEST_F(BundlesTest, BundlesStayWithinThePage) {
  EXPECT_EQ(bundles_.Launch(0x01, 252).status, MailboxStatus::kSuccess);
  EXPECT_EQ(bundles_.Launch(0x01, 253).status, MailboxStatus::kErrArg2);
  EXPECT_EQ(Launch({{}}, {BundleRule{}.Encode()}, 251).status, MailboxStatus::kSuccess) << "with its rule";
  EXPECT_EQ(bundles_.Launch(0x11, 252).status, MailboxStatus::kErrArg2);
  EXPECT_EQ(bundles_.Launch(0x05, 255).status, MailboxStatus::kErrArg1) << "the first argument is judged first";
  EXPECT_EQ(executed_.size(), 2u);
}

TEST_F(BundlesTest, BundlesAreInTheDestinationPage) {
  ASSERT_TRUE(scratch_.SelectPages(0x0002));
  Launch({{Command(0x04), 5}}, {});
  EXPECT_EQ(scratch_.Read(2).data, 0u) << "page 0";
  ASSERT_TRUE(scratch_.SelectPages(0x0200));
  EXPECT_EQ(scratch_.Read(2).data, 5u);
}

TEST_F(BundlesTest, RequestsThatWouldMoveTheBundle) {
  struct Row {
    uint32_t command;
    bool is_refused;
  };
  const Row rows[] = {
      {Command(0x1C, 0x01), true},                    // a bundle
      {Command(0x0E), true},                          // SCRATCH_WRITE
      {Command(0x0F), true},                          // SCRATCH_COPY
      {Command(0x1D), true},                          // a driver event
      {Command(0x10, 0x08), true},                    // ASYNC_REQUEST
      {Command(0x10, 0xFF, 1), false},                // its poll
      {Command(0x11, 0, 0), true},                    // pages of the scratch memory: write
      {Command(0x11, 1, 0), false},                   // read
      {Command(0x11, 0, 1), false},                   // the pending events
      {Command(0x0D), false},                         // SCRATCH_READ
      {Command(0x04) | uint32_t{1} << 29, true},      // the reserved bit
      {Command(0x04) | uint32_t{0x1F} << 24, false},  // a status, which register 5C ignores, too
  };
  for (const Row& row : rows) {
    executed_.clear();
    const Reply reply = Launch({{row.command}, {Command(0x04), 3}}, {});
    EXPECT_EQ(reply.status, row.is_refused ? MailboxStatus::kPartialFailure : MailboxStatus::kSuccess) << row.command;
    EXPECT_EQ(Entry(0)[0],
              Answer(row.command & 0x00FF'FFFF, row.is_refused ? MailboxStatus::kErrRequest : MailboxStatus::kSuccess));
    EXPECT_EQ(executed_.size(), row.is_refused ? 1u : 2u) << row.command;
    EXPECT_EQ(Entry(4)[2], 3u) << "the next request is executed";
  }
}

TEST_F(BundlesTest, TheStatusWordOfARequestIsThatOfRegister5C) {
  Launch({{Command(0x04) | uint32_t{1} << 30, 0x12345678}}, {});
  EXPECT_EQ(Entry(0)[0], 0x1F345678u) << "COPY_DATA";
  Launch({{Command(0x02) | uint32_t{1} << 30, 0x12345678}}, {});
  EXPECT_EQ(Entry(0)[0], 0x03000002u) << "an error has no data";
  word_bits_ = 0xABCDEF;
  Launch({{Command(0x04), 1}}, {});
  EXPECT_EQ(Entry(0)[0], 0x1FABCDEFu) << "the reply's own bits";
}

}  // namespace
}  // namespace sideband::mcu
