// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/firmware/driver_events.h"

#include <gtest/gtest.h>

#include <string>

#include "proto/base/bytes.h"

namespace sideband::mcu {
namespace {

using mailbox::DriverEvent;
using mailbox::MailboxStatus;

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
