// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/firmware/config_commands.h"

#include <gtest/gtest.h>

#include <vector>

#include "proto/mailbox/counting.h"
#include "proto/mailbox/extension.h"
#include "proto/mailbox/features.h"
#include "proto/mailbox/snapshot_stream.h"
#include "proto/mailbox/stream.h"
#include "secure_mcu/firmware/fake_device.h"
#include "secure_mcu/firmware/snapshot_commands.h"

namespace sideband::mcu {
namespace {

using mailbox::ConfigAddress;
using mailbox::ConfigKind;
using mailbox::ConfigStep;
using mailbox::ConfigWrite;
using mailbox::MailboxStatus;
using mailbox::Opcode;

constexpr ConfigAddress kAllowed{.kind = ConfigKind::kVm, .index = 6, .vm = 1};
constexpr ConfigAddress kPinned{.kind = ConfigKind::kVm, .index = 7, .vm = 1};
constexpr uint8_t kTag = 9, kOther = 10;

// The commands as controllers run them.
class ConfigCommandsTest : public testing::Test {
 protected:
  ConfigCommandsTest() {
    gpu_.config = mailbox::CountingConfig{.revision = 4, .groups = {{{}, {}}}, .hosts = {{}}};
    gpu_.config->vms[1];
  }

  Reply Run(Opcode opcode, uint8_t arg1, uint8_t arg2, uint32_t data, uint32_t extended_data = 0) {
    return commands_.Execute({.opcode = opcode, .arg1 = arg1, .arg2 = arg2}, data, extended_data);
  }
  Reply Step(ConfigStep step, uint32_t data = 0, uint32_t extended_data = 0, uint8_t tag = kTag) {
    return Run(Opcode::kConfig, static_cast<uint8_t>(step), tag, data, extended_data);
  }
  MailboxStatus Begin(uint8_t tag = kTag) { return Step(ConfigStep::kBegin, gpu_.config->revision, 0, tag).status; }
  MailboxStatus Write(const ConfigWrite& write, uint8_t tag = kTag) {
    const Reply address = Step(ConfigStep::kAddress, PackAddress(write.address), PackScope(write.address), tag);
    if (address.status != MailboxStatus::kSuccess) return address.status;
    return Step(ConfigStep::kWrite, static_cast<uint32_t>(write.word), static_cast<uint32_t>(write.word >> 32), tag)
        .status;
  }
  Reply Commit(const std::vector<ConfigWrite>& writes, uint32_t revision, uint8_t tag = kTag) {
    return Step(ConfigStep::kCommit, mailbox::ConfigCrc(writes), revision, tag);
  }
  // The whole transaction.
  Reply Change(const std::vector<ConfigWrite>& writes) {
    const uint32_t revision = gpu_.config->revision;
    EXPECT_EQ(Begin(), MailboxStatus::kSuccess);
    for (const ConfigWrite& write : writes) EXPECT_EQ(Write(write), MailboxStatus::kSuccess);
    return Commit(writes, revision);
  }
  // Reads what the windows show, and holds the latched snapshot.
  void Acknowledge(uint32_t snapshot_id) {
    const uint16_t mark = mailbox::SnapshotMark(gpu_.identity().boot_id, snapshot_id);
    EXPECT_EQ(Run(Opcode::kAck, mark & 0xFF, mark >> 8, snapshot_id).status, MailboxStatus::kSuccess);
  }
  Bytes Shown() {
    Bytes bytes;
    for (uint8_t i = 0; i < mailbox::kWindowCount; ++i) {
      const ByteSpan window = commands_.Window(i);
      bytes.insert(bytes.end(), window.begin(), window.end());
    }
    return bytes;
  }

  FakeDevice gpu_;
  SnapshotCommands commands_{gpu_, mailbox::ExtensionVersion::kTwo};
};

TEST_F(ConfigCommandsTest, ACommitAppliesEveryWriteAndLatchesBefore) {
  const Reply reply = Change({{kAllowed, 0b01}, {kPinned, 0b10}});
  ASSERT_EQ(reply.status, MailboxStatus::kSuccess);
  EXPECT_EQ(reply.data, 5u) << "the revision in force";
  EXPECT_EQ(reply.extended_data, 1u) << "the closing snapshot";
  EXPECT_EQ(gpu_.latches, 1u);
  EXPECT_EQ(gpu_.config->vms[1], (mailbox::VmControl{.allowed = 0b01, .pinned = 0b10}));
  EXPECT_EQ(gpu_.config->revision, 5u);
}

TEST_F(ConfigCommandsTest, TheClosingSnapshotIsReadAndIsRelativeToTheAcknowledgedOne) {
  Run(Opcode::kLatch, 0, 0, 0);
  const auto base = mailbox::DecodeSnapshotStream(Shown(), nullptr);
  ASSERT_TRUE(base.ok());
  Acknowledge(1);
  const Reply reply = Change({{kAllowed, 0}});
  ASSERT_EQ(reply.extended_data, 2u);
  EXPECT_TRUE(Shown().empty()) << "no stream is open";
  ASSERT_EQ(Run(Opcode::kRead, 0, 0, 0, reply.extended_data).status, MailboxStatus::kSuccess);
  EXPECT_EQ(mailbox::DecodeStream(Shown())->header.base_id, 1u);
  EXPECT_EQ(mailbox::DecodeSnapshotStream(Shown(), &*base)->snapshot_id, 2u);
}

TEST_F(ConfigCommandsTest, TheNextCommitWaitsForTheAcknowledgement) {
  Change({{kAllowed, 0}});
  EXPECT_EQ(Change({{kAllowed, 1}}).status, MailboxStatus::kErrAgain);
  EXPECT_EQ(gpu_.config->vms[1].allowed, 0u);
  Acknowledge(1);
  EXPECT_EQ(Commit({{kAllowed, 1}}, 5).status, MailboxStatus::kSuccess) << "the transaction is still open";
  EXPECT_EQ(gpu_.config->vms[1].allowed, 1u);
}

// A snapshot that has taken its place may be acknowledged instead.
TEST_F(ConfigCommandsTest, ALaterAcknowledgementWillDo) {
  Change({{kAllowed, 0}});
  Run(Opcode::kLatch, 0, 0, 0);
  Acknowledge(2);
  EXPECT_EQ(Change({{kAllowed, 1}}).status, MailboxStatus::kSuccess);
}

// Each boot begins at revision 1, with VMs of its own.
TEST_F(ConfigCommandsTest, ATransactionOfAnotherBootIsRefused) {
  const Reply other = Step(ConfigStep::kBegin, 4, 0x5566'7789);
  EXPECT_EQ(other.status, MailboxStatus::kErrAgain);
  EXPECT_EQ(Write({kAllowed, 0}), MailboxStatus::kErrAgain) << "nothing has begun";
  for (const uint32_t boot : {0x5566'7788u, 0u}) {
    const Reply begin = Step(ConfigStep::kBegin, 4, boot);
    EXPECT_EQ(begin.status, MailboxStatus::kSuccess) << boot;
    EXPECT_EQ(begin.extended_data, 0x5566'7788u);
  }
}

TEST_F(ConfigCommandsTest, ARepeatedCommandHasTheEffectOfOne) {
  EXPECT_EQ(Begin(), MailboxStatus::kSuccess);
  EXPECT_EQ(Begin(), MailboxStatus::kSuccess);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(Write({kAllowed, 3}), MailboxStatus::kSuccess);
  const Reply first = Commit({{kAllowed, 3}}, 4);
  const Reply second = Commit({{kAllowed, 3}}, 4);
  EXPECT_EQ(first.status, MailboxStatus::kSuccess);
  EXPECT_EQ(second.data, first.data);
  EXPECT_EQ(second.extended_data, first.extended_data);
  EXPECT_EQ(gpu_.latches, 1u);
}

TEST_F(ConfigCommandsTest, ConsecutiveWordsNeedOneAddress) {
  EXPECT_EQ(Begin(), MailboxStatus::kSuccess);
  EXPECT_EQ(Write({kAllowed, 3}), MailboxStatus::kSuccess);
  EXPECT_EQ(Step(ConfigStep::kWrite, 2).status, MailboxStatus::kSuccess);
  EXPECT_EQ(Step(ConfigStep::kWrite, 2).status, MailboxStatus::kErrData) << "the control block has ended";
  EXPECT_EQ(Commit({{kAllowed, 3}, {kPinned, 2}}, 4).status, MailboxStatus::kSuccess);
  EXPECT_EQ(gpu_.config->vms[1].pinned, 2u);
}

TEST_F(ConfigCommandsTest, WhatAControllerDidNotWriteIsNotCommitted) {
  Begin();
  Write({kAllowed, 3});
  EXPECT_EQ(Commit({{kAllowed, 2}}, 4).status, MailboxStatus::kErrAgain);
  EXPECT_EQ(Commit({}, 4).status, MailboxStatus::kErrAgain);
  EXPECT_EQ(Commit({{kAllowed, 3}}, 5).status, MailboxStatus::kErrAgain) << "another revision";
  EXPECT_EQ(gpu_.config->revision, 4u);
  EXPECT_EQ(gpu_.latches, 0u);
}

TEST_F(ConfigCommandsTest, OneOfTwoControllersCommits) {
  EXPECT_EQ(Begin(), MailboxStatus::kSuccess);
  EXPECT_EQ(Begin(kOther), MailboxStatus::kErrAgain);
  EXPECT_EQ(Write({kAllowed, 0}, kOther), MailboxStatus::kErrAgain);
  EXPECT_EQ(Step(ConfigStep::kAbort, 0, 0, kOther).status, MailboxStatus::kErrAgain);
  EXPECT_EQ(Commit({}, 4, kOther).status, MailboxStatus::kErrAgain);
  EXPECT_EQ(Write({kAllowed, 3}), MailboxStatus::kSuccess);
  EXPECT_EQ(Commit({{kAllowed, 3}}, 4).status, MailboxStatus::kSuccess);
  EXPECT_EQ(Step(ConfigStep::kBegin, 4, 0, kOther).status, MailboxStatus::kErrAgain) << "of an old revision";
}

TEST_F(ConfigCommandsTest, WhatAGuestChangesMeanwhileBesideTheWrittenFieldsStays) {
  constexpr ConfigAddress kFlags{.kind = ConfigKind::kVm, .index = 4, .vm = 1};
  constexpr uint64_t kGuestAccess = 1 << 5;
  EXPECT_EQ(Begin(), MailboxStatus::kSuccess);
  gpu_.config->vms[1].selection = 1;  // by its page
  gpu_.config->vms[1].guest_load = true;
  EXPECT_EQ(Step(ConfigStep::kAddress, PackAddress(kFlags), PackScope(kFlags)).status, MailboxStatus::kSuccess);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(Step(ConfigStep::kRead).data, 0u) << "as at BEGIN, and again";
  EXPECT_EQ(Write({kFlags, kGuestAccess}), MailboxStatus::kSuccess);
  EXPECT_EQ(Commit({{kFlags, kGuestAccess}}, 4).status, MailboxStatus::kSuccess);
  EXPECT_EQ(gpu_.config->vms[1], (mailbox::VmControl{.guest_load = true, .guest_access = true, .selection = 1}));
}

TEST_F(ConfigCommandsTest, AnIdleTransactionEnds) {
  Begin();
  Write({kAllowed, 3});
  gpu_.time_ns = kTransactionIdleNs - 1;
  EXPECT_EQ(Begin(kOther), MailboxStatus::kErrAgain);
  EXPECT_EQ(Write({kAllowed, 3}), MailboxStatus::kSuccess) << "prolongs it";
  gpu_.time_ns += kTransactionIdleNs;
  EXPECT_EQ(Write({kAllowed, 3}), MailboxStatus::kErrAgain);
  EXPECT_EQ(Commit({{kAllowed, 3}}, 4).status, MailboxStatus::kErrAgain);
  EXPECT_EQ(Begin(kOther), MailboxStatus::kSuccess);
}

TEST_F(ConfigCommandsTest, AnAbortEndsTheTransaction) {
  Begin();
  Write({kAllowed, 3});
  EXPECT_EQ(Step(ConfigStep::kAbort).status, MailboxStatus::kSuccess);
  EXPECT_EQ(Step(ConfigStep::kAbort).status, MailboxStatus::kSuccess);
  EXPECT_EQ(Commit({{kAllowed, 3}}, 4).status, MailboxStatus::kErrAgain);
  EXPECT_EQ(gpu_.config->vms[1], mailbox::VmControl());
}

TEST_F(ConfigCommandsTest, ARefusalChangesNothing) {
  EXPECT_EQ(Step(ConfigStep::kBegin, 4, 0, 0).status, MailboxStatus::kErrArg2);
  EXPECT_EQ(Step(ConfigStep::kBegin, 3).status, MailboxStatus::kErrAgain);
  EXPECT_EQ(Run(Opcode::kConfig, 7, kTag, 0).status, MailboxStatus::kErrArg1);
  EXPECT_EQ(Write({kAllowed, 3}), MailboxStatus::kErrAgain) << "no transaction";
  Begin();
  EXPECT_EQ(Write({{.kind = ConfigKind::kVm, .vm = 2}, 0}), MailboxStatus::kErrData);
  EXPECT_EQ(Write({{.kind = ConfigKind::kVm, .index = 4, .vm = 1}, ~uint64_t{0}}), MailboxStatus::kErrData);
  EXPECT_EQ(Write({kAllowed, 3}), MailboxStatus::kSuccess);
  gpu_.check = [](const mailbox::CountingConfig&) { return absl::InvalidArgumentError("no"); };
  EXPECT_EQ(Commit({{kAllowed, 3}}, 4).status, MailboxStatus::kErrData);
  EXPECT_EQ(gpu_.latches, 0u);
  EXPECT_EQ(gpu_.config->revision, 4u);
}

TEST_F(ConfigCommandsTest, WordsAreReadWithoutATransaction) {
  gpu_.config->vms[1] = {.allowed = 0x1122334455667788, .pinned = 1};
  EXPECT_EQ(Step(ConfigStep::kAddress, PackAddress(kAllowed), PackScope(kAllowed), 0).status, MailboxStatus::kSuccess);
  const Reply allowed = Step(ConfigStep::kRead, 0, 0, 0);
  EXPECT_EQ(allowed.data, 0x55667788u);
  EXPECT_EQ(allowed.extended_data, 0x11223344u);
  EXPECT_EQ(Step(ConfigStep::kRead, 0, 0, 0).data, 1u) << "the next word";
  EXPECT_EQ(Step(ConfigStep::kRead, 0, 0, 0).status, MailboxStatus::kErrData);
}

TEST_F(ConfigCommandsTest, ADumpIsTheWholeConfiguration) {
  const Reply reply = Step(ConfigStep::kDump, 0, 0, 64);
  ASSERT_EQ(reply.status, MailboxStatus::kSuccess);
  EXPECT_EQ(reply.extended_data, 4u);
  EXPECT_EQ(Shown().size(), reply.data);
  EXPECT_EQ(*mailbox::DecodeConfigStream(Shown()), *gpu_.config);
  EXPECT_EQ(commands_.Window(0).size(), 64u) << "arg2 is the windows' size";
  const Bytes whole = Shown();
  gpu_.config->vms[1].allowed = 0;
  ASSERT_EQ(Step(ConfigStep::kDump, 10, 0, 64).status, MailboxStatus::kSuccess);
  EXPECT_EQ(Shown(), Bytes(whole.begin() + 10, whole.end())) << "the stream that was begun";
  EXPECT_EQ(Step(ConfigStep::kDump, reply.data, 0, 64).status, MailboxStatus::kErrData);
}

TEST_F(ConfigCommandsTest, WithoutGroupsTheOpcodeIsNotServed) {
  constexpr uint32_t kBit = 1 << 8;
  const auto discover = [this](mailbox::DiscoverItem item) {
    return Run(Opcode::kDiscover, static_cast<uint8_t>(item), 0, 0);
  };
  EXPECT_EQ(discover(mailbox::DiscoverItem::kVersion).extended_data & kBit, kBit);
  EXPECT_EQ(discover(mailbox::DiscoverItem::kFeatures).data, mailbox::kPeekFeature | mailbox::kGateGroupsFeature);
  gpu_.config.reset();
  EXPECT_EQ(discover(mailbox::DiscoverItem::kVersion).extended_data & kBit, 0u);
  EXPECT_EQ(discover(mailbox::DiscoverItem::kFeatures).data, mailbox::kPeekFeature);
  EXPECT_EQ(Step(ConfigStep::kDump).status, MailboxStatus::kErrOpcode);
}

}  // namespace
}  // namespace sideband::mcu
