// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/firmware/snapshot_commands.h"

#include <gtest/gtest.h>

#include "proto/mailbox/extension.h"
#include "proto/mailbox/snapshot_stream.h"
#include "proto/mailbox/stream.h"
#include "secure_mcu/firmware/fake_device.h"

namespace sideband::mcu {
namespace {

using mailbox::MailboxStatus;
using mailbox::Opcode;
using Reply = CommandHandler::Reply;

class SnapshotCommandsTest : public testing::Test {
 protected:
  Reply Run(Opcode opcode, uint8_t arg1 = 0, uint8_t arg2 = 0, uint32_t data = 0, uint32_t extended_data = 0) {
    return commands_.Execute({.opcode = opcode, .arg1 = arg1, .arg2 = arg2}, data, extended_data);
  }
  Reply Acknowledge(uint32_t snapshot_id) {
    return Run(Opcode::kAck, MarkOf(snapshot_id) & 0xFF, MarkOf(snapshot_id) >> 8, snapshot_id);
  }
  Reply Latch(uint32_t base_id = 0) { return Run(Opcode::kLatch, base_id == 0 ? 0 : LatchMarkOf(base_id), 0, base_id); }
  uint8_t LatchMarkOf(uint32_t base_id) const { return mailbox::LatchMark(device_.identity().boot_id, base_id); }
  uint16_t MarkOf(uint32_t snapshot_id) const { return mailbox::SnapshotMark(device_.identity().boot_id, snapshot_id); }
  Bytes ReadWindows(size_t size) {
    Bytes bytes;
    for (uint8_t i = 0; i < mailbox::kWindowCount && bytes.size() < size; ++i) {
      const ByteSpan window = commands_.Window(i);
      bytes.insert(bytes.end(), window.begin(), window.end());
    }
    return bytes;
  }

  FakeDevice device_;
  SnapshotCommands commands_{device_, mailbox::ExtensionVersion::kOne};
};

TEST_F(SnapshotCommandsTest, DiscoverTellsTheLimits) {
  EXPECT_EQ(Run(Opcode::kDiscover, 0).data, 0x0010FF01u);
  EXPECT_EQ(Run(Opcode::kDiscover, 0).extended_data, 0x1Fu);
  EXPECT_EQ(Run(Opcode::kDiscover, 1).data, 2u) << "the hypervisor's block and one VM's";
  EXPECT_EQ(Run(Opcode::kDiscover, 1).extended_data, 1u);
  EXPECT_EQ(Run(Opcode::kDiscover, 2).data, 0x55667788u);
  EXPECT_EQ(Run(Opcode::kDiscover, 2).extended_data, 0x11223344u);
  EXPECT_EQ(Run(Opcode::kDiscover, 4).status, MailboxStatus::kErrArg1);
}

TEST_F(SnapshotCommandsTest, TheCatalogueIsReadThroughTheWindows) {
  const Reply reply = Run(Opcode::kCatalog);
  ASSERT_EQ(reply.status, MailboxStatus::kSuccess);
  const Bytes bytes = ReadWindows(reply.data);
  const auto stream = mailbox::DecodeStream(bytes);
  ASSERT_TRUE(stream.ok()) << stream.status();
  EXPECT_EQ(stream->header.boot_id, 0x1122334455667788u);
  EXPECT_EQ(*mailbox::DecodeCatalog(stream->payload), device_.catalog());
  EXPECT_EQ(reply.extended_data, mailbox::CatalogHash(stream->payload));
}

TEST_F(SnapshotCommandsTest, ALatchOpensItsStream) {
  const Reply latch = Latch();
  EXPECT_EQ(mailbox::DecodeSnapshotStream(ReadWindows(latch.extended_data), nullptr)->counters,
            (mailbox::CounterValues{1}));
}

TEST_F(SnapshotCommandsTest, ALatchedSnapshotIsReadFromAnyOffset) {
  const Reply latch = Latch();
  const Bytes whole = ReadWindows(latch.extended_data);
  ASSERT_EQ(Run(Opcode::kRead, 0, 0, 10, latch.data).data, latch.extended_data);
  EXPECT_EQ(ReadWindows(latch.extended_data), Bytes(whole.begin() + 10, whole.end()));
  EXPECT_EQ(Run(Opcode::kRead, 0, 0, latch.extended_data, latch.data).status, MailboxStatus::kErrData)
      << "nothing from there on";
  EXPECT_EQ(Run(Opcode::kRead, 4, 0, 0, latch.data).status, MailboxStatus::kErrArg1);
  EXPECT_EQ(Run(Opcode::kCatalog, 1).status, MailboxStatus::kErrArg1);
}

TEST_F(SnapshotCommandsTest, WindowsAreAsWideAsTheControllerSays) {
  const Reply latch = Latch();
  const Bytes whole = ReadWindows(latch.extended_data);
  Run(Opcode::kRead, 0, 32, 0, latch.data);
  EXPECT_EQ(commands_.Window(0).size(), 32u);
  EXPECT_EQ(commands_.Window(1)[0], whole[32]);
  EXPECT_EQ(ReadWindows(latch.extended_data), whole);
}

TEST_F(SnapshotCommandsTest, WhatIsAcknowledgedIsLeftOut) {
  const Reply first = Latch();
  const auto base = mailbox::DecodeSnapshotStream(ReadWindows(first.extended_data), nullptr);
  EXPECT_EQ(Acknowledge(first.data).data, first.data);
  const Reply second = Latch(first.data);
  const Bytes stream = ReadWindows(second.extended_data);
  EXPECT_LT(stream.size(), first.extended_data);
  EXPECT_EQ(mailbox::DecodeSnapshotStream(stream, &*base)->counters, (mailbox::CounterValues{2}));
  EXPECT_FALSE(mailbox::DecodeSnapshotStream(stream, nullptr).ok()) << "it is relative";
  const Reply third = Latch(first.data);
  EXPECT_TRUE(mailbox::DecodeSnapshotStream(ReadWindows(third.extended_data), &*base).ok()) << "the second got lost";
  const Reply fourth = Latch(second.data);
  EXPECT_TRUE(mailbox::DecodeSnapshotStream(ReadWindows(fourth.extended_data), nullptr).ok())
      << "the second was not acknowledged";
}

TEST_F(SnapshotCommandsTest, ALatchAcknowledgesWhatItNames) {
  const Reply first = Latch();
  const auto base = mailbox::DecodeSnapshotStream(ReadWindows(first.extended_data), nullptr);
  const Reply second = Latch(first.data);
  EXPECT_EQ(device_.acknowledged, 1u);
  EXPECT_EQ(mailbox::DecodeSnapshotStream(ReadWindows(second.extended_data), &*base)->counters,
            (mailbox::CounterValues{2}));
}

TEST_F(SnapshotCommandsTest, TheSameSnapshotIsReadWhole) {
  Acknowledge(Latch().data);
  const Reply latch = Latch(1);
  const Reply read = Run(Opcode::kRead, 1, 0, 0, latch.data);
  EXPECT_EQ(mailbox::DecodeSnapshotStream(ReadWindows(read.data), nullptr)->counters, (mailbox::CounterValues{2}));
}

TEST_F(SnapshotCommandsTest, OneScopeIsReadByItself) {
  device_.blocks = {{}, {.vm = 1}, {.vm = 1, .context = 0}, {.vm = 1, .context = 2}, {.vm = 2}};
  Latch();
  const auto scopes = [&](uint8_t selector, uint32_t scope) {
    const Reply read = Run(Opcode::kRead, selector, 0, 0, scope);
    const auto part = mailbox::DecodeSnapshotStream(ReadWindows(read.data), nullptr);
    EXPECT_TRUE(part.ok()) << part.status();
    EXPECT_EQ(part->snapshot_id, 1u);
    return part->blocks;
  };
  EXPECT_EQ(scopes(2, 1).size(), 3u);
  EXPECT_EQ(scopes(2, 0).size(), 1u) << "the device's own";
  ASSERT_EQ(scopes(3, 0x00020001).size(), 1u);
  EXPECT_EQ(scopes(3, 0x00020001)[0].context, 2u);
  EXPECT_EQ(Run(Opcode::kRead, 2, 0, 0, 7).status, MailboxStatus::kErrData) << "no such VM";
  EXPECT_TRUE(commands_.Window(0).empty());
}

TEST_F(SnapshotCommandsTest, AChangedCatalogueComesWithTheNextLatch) {
  const uint32_t before = Run(Opcode::kCatalog).extended_data;
  const uint32_t first = Latch().data;
  EXPECT_EQ(Acknowledge(first + 1).status, MailboxStatus::kErrAgain);
  EXPECT_EQ(device_.acknowledged, 0u) << "of another snapshot";
  Acknowledge(first);
  Acknowledge(first);
  EXPECT_EQ(device_.acknowledged, 1u) << "said twice, done once";
  EXPECT_EQ(Run(Opcode::kCatalog).extended_data, before) << "still the one of the newest snapshot";
  const Reply latch = Latch();
  const uint32_t after = Run(Opcode::kCatalog).extended_data;
  EXPECT_NE(after, before);
  Run(Opcode::kRead, 0, 0, 0, latch.data);
  EXPECT_EQ(mailbox::DecodeSnapshotStream(ReadWindows(latch.extended_data), nullptr)->catalog_hash, after);
}

TEST_F(SnapshotCommandsTest, OnlyTheSnapshotThatTheCommandMeansIsAcknowledged) {
  const uint32_t read = Latch().data;
  const uint32_t unread = Latch().data;  // another controller's, whose reply is in 5D
  EXPECT_EQ(Run(Opcode::kAck, MarkOf(read) & 0xFF, MarkOf(read) >> 8, unread).status, MailboxStatus::kErrAgain);
  EXPECT_EQ(device_.acknowledged, 0u);
  EXPECT_EQ(Acknowledge(unread).status, MailboxStatus::kSuccess);
}

TEST_F(SnapshotCommandsTest, OnlyTheSnapshotThatALatchMeansIsAcknowledged) {
  const uint32_t read = Latch().data;
  const uint32_t unread = Latch(read).data;
  EXPECT_EQ(device_.acknowledged, 1u);
  // The controller did not receive the result of its LATCH and repeats it; 5D holds the reply of the first.
  const Reply again = Run(Opcode::kLatch, LatchMarkOf(read), 0, unread);
  EXPECT_EQ(device_.acknowledged, 1u);
  EXPECT_TRUE(mailbox::DecodeSnapshotStream(ReadWindows(again.extended_data), nullptr).ok()) << "a whole one";
}

TEST_F(SnapshotCommandsTest, ASnapshotOfAnotherBootIsNotAcknowledged) {
  const uint32_t id = Latch().data;
  const uint64_t other_boot = device_.identity().boot_id + 1;
  const uint16_t mark = mailbox::SnapshotMark(other_boot, id);
  EXPECT_EQ(Run(Opcode::kAck, mark & 0xFF, mark >> 8, id).status, MailboxStatus::kErrAgain);
  EXPECT_EQ(Run(Opcode::kLatch, mailbox::LatchMark(other_boot, id), 0, id).status, MailboxStatus::kSuccess);
  EXPECT_EQ(device_.acknowledged, 0u);
}

TEST_F(SnapshotCommandsTest, ALatchWithoutABaseAcknowledgesNothing) {
  for (int i = 0; i < 600; ++i) {
    // With any data that the previous latch has left in 5D.
    Run(Opcode::kLatch, 0, 0, Latch().data);
  }
  EXPECT_EQ(device_.acknowledged, 0u);
}

TEST_F(SnapshotCommandsTest, ASupersededSnapshotIsSaidToBe) {
  EXPECT_EQ(Run(Opcode::kRead).status, MailboxStatus::kErrNotAvailable) << "nothing was latched yet";
  EXPECT_EQ(Run(Opcode::kAck).status, MailboxStatus::kErrNotAvailable);
  const uint32_t first = Latch().data;
  Run(Opcode::kRead, 0, 0, 0, first);
  const uint32_t second = Latch().data;
  EXPECT_EQ(second, first + 1);
  EXPECT_EQ(Run(Opcode::kRead, 0, 0, 0, first).status, MailboxStatus::kErrAgain);
  EXPECT_EQ(Acknowledge(first).status, MailboxStatus::kErrAgain);
  EXPECT_EQ(Acknowledge(second).status, MailboxStatus::kSuccess);
}

}  // namespace
}  // namespace sideband::mcu
