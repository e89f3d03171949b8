// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/firmware/extension_commands.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "proto/mailbox/clocks.h"
#include "proto/mailbox/counting.h"
#include "proto/mailbox/extension.h"
#include "proto/mailbox/peek.h"
#include "proto/mailbox/rotation.h"
#include "proto/mailbox/snapshot.h"
#include "proto/mailbox/stream.h"
#include "proto/mailbox/word.h"
#include "proto/smbus/transfer.h"
#include "secure_mcu/firmware/fake_device.h"
#include "secure_mcu/firmware/fake_gpu.h"
#include "secure_mcu/firmware/firmware.h"
#include "secure_mcu/firmware/mailbox_target.h"

namespace sideband::mcu {
namespace {

using mailbox::ConfigAddress;
using mailbox::ConfigKind;
using mailbox::ConfigStep;
using mailbox::ConfigWrite;
using mailbox::ExtensionVersion;
using mailbox::kNoContext;
using mailbox::kPeekSameLatch;
using mailbox::MailboxStatus;
using mailbox::Opcode;
using mailbox::RotateStep;
using mailbox::SealStep;
using mailbox::TriggerStep;

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

constexpr uint32_t Scope(uint16_t vm, uint16_t context) { return uint32_t{context} << 16 | vm; }

constexpr uint32_t kTrain = Scope(1, 0);
constexpr uint32_t kDevice = Scope(mailbox::kHypervisorVm, kNoContext);
// Events of the fake device.
constexpr uint32_t kSmBit = 1 << 0, kTensorBit = 1 << 3, kPcieBit = 1 << 4;

// The commands as a controller runs them, with the windows.
class PeekCommandsTest : public testing::Test {
 protected:
  Reply Run(Opcode opcode, uint8_t arg1, uint8_t arg2, uint32_t data, uint32_t extended_data = 0) {
    return commands_.Execute({.opcode = opcode, .arg1 = arg1, .arg2 = arg2}, data, extended_data);
  }
  MailboxStatus SetScope(uint32_t manager, uint32_t scope) { return Run(Opcode::kPeek, 0, 0, manager, scope).status; }
  Reply Go(uint64_t bitmap, uint8_t window_bytes = 0) {
    return Run(Opcode::kPeek, 1, window_bytes, static_cast<uint32_t>(bitmap), static_cast<uint32_t>(bitmap >> 32));
  }
  Bytes Shown() {
    Bytes bytes;
    for (uint8_t i = 0; i < mailbox::kWindowCount; ++i) {
      const ByteSpan window = commands_.Window(i);
      bytes.insert(bytes.end(), window.begin(), window.end());
    }
    return bytes;
  }
  mailbox::PeekAnswer Answer() {
    const auto answer = mailbox::DecodePeekStream(Shown());
    EXPECT_TRUE(answer.ok()) << answer.status();
    return answer.value_or(mailbox::PeekAnswer());
  }
  std::vector<uint64_t> Peek(uint32_t manager, uint32_t scope, uint64_t bitmap) {
    EXPECT_EQ(SetScope(manager, scope), MailboxStatus::kSuccess);
    EXPECT_EQ(Go(bitmap).status, MailboxStatus::kSuccess);
    return Answer().counters;
  }
  // A second extend with one event.
  void AddExtend() {
    while (gpu_.catalog().events.size() <= mailbox::kPeekCountersMax) {
      gpu_.catalog().events.push_back({"e" + std::to_string(gpu_.catalog().events.size()), "cycles"});
    }
    for (auto& [scope, block] : gpu_.blocks) block.counters.resize(gpu_.catalog().events.size());
  }

  FakeGpu gpu_;
  SnapshotCommands commands_{gpu_, mailbox::ExtensionVersion::kTwo};
};

TEST_F(PeekCommandsTest, AnAnswerRepeatsTheQuestion) {
  gpu_.Count(1, 0, "sm_active_cycles", 7);
  gpu_.Count(1, 0, "tensor_active_cycles", 9);
  gpu_.time_ns = 1000;
  const uint32_t manager = 0x1FFC0;  // the module is ignored
  ASSERT_EQ(SetScope(manager, kTrain), MailboxStatus::kSuccess);
  const Reply reply = Go(kSmBit | kTensorBit);
  ASSERT_EQ(reply.status, MailboxStatus::kSuccess);
  EXPECT_EQ(reply.data, mailbox::PeekStreamBytes(2));
  EXPECT_EQ(Answer(),
            (mailbox::PeekAnswer{.boot_id = 1,
                                 .tag = reply.extended_data,
                                 .question = {.manager = manager, .vm = 1, .context = 0, .bitmap = kSmBit | kTensorBit},
                                 .generation = 1,
                                 .reference_cycle = 1000,
                                 .reference_time_ns = 1000,
                                 .counters = {7, 9}}));
  EXPECT_NE(Go(kSmBit).extended_data, reply.extended_data) << "each answer has its own tag";
}

TEST_F(PeekCommandsTest, EveryScopeHasItsBlock) {
  gpu_.Count(1, 0, "sm_active_cycles", 1);
  gpu_.Count(1, 1, "sm_active_cycles", 2);
  gpu_.Count(2, 0, "sm_active_cycles", 4);
  gpu_.Count(0, kNoContext, "pcie_tx_cycles", 8);
  EXPECT_EQ(Peek(0, kTrain, kSmBit), (std::vector<uint64_t>{1}));
  EXPECT_EQ(Peek(0, Scope(1, kNoContext), kSmBit), (std::vector<uint64_t>{3}));
  EXPECT_EQ(Peek(0, kDevice, kSmBit | kPcieBit), (std::vector<uint64_t>{7, 8}));
}

TEST_F(PeekCommandsTest, WindowsAreAsWideAsTheControllerSays) {
  SetScope(0, kTrain);
  Go(kSmBit, 32);
  EXPECT_EQ(commands_.Window(0).size(), 32u);
  EXPECT_EQ(Shown().size(), mailbox::PeekStreamBytes(1));
}

TEST_F(PeekCommandsTest, ErrorsAreInTheOrderOfTheArguments) {
  EXPECT_EQ(Go(kSmBit).status, MailboxStatus::kErrNotAvailable) << "without a scope";
  EXPECT_EQ(Run(Opcode::kPeek, 2, 0, 0).status, MailboxStatus::kErrArg1);
  EXPECT_EQ(Run(Opcode::kPeek, 0, 1, 0, kTrain).status, MailboxStatus::kErrArg2);
  EXPECT_EQ(SetScope(1, kTrain), MailboxStatus::kErrData) << "no such extend";
  for (int bit = 17; bit < 31; ++bit) EXPECT_EQ(SetScope(1u << bit, kTrain), MailboxStatus::kErrData) << bit;
  ASSERT_EQ(SetScope(0, kTrain), MailboxStatus::kSuccess);
  EXPECT_EQ(Go(0).status, MailboxStatus::kErrData) << "of no event";
  EXPECT_EQ(Go(kSmBit | 1 << 5).status, MailboxStatus::kErrData) << "no such event";
  EXPECT_EQ(Go(kPcieBit).status, MailboxStatus::kErrData) << "an event of the device";
  EXPECT_EQ(Go(kSmBit).status, MailboxStatus::kSuccess) << "the scope is still there";
}

// One answer, and as little work, for what is denied and what does not exist.
TEST_F(PeekCommandsTest, DeniedIsAbsent) {
  gpu_.catalog().vms[1].confidential = true;
  gpu_.catalog().has_had_confidential_vm = true;
  gpu_.catalog().events[3].masked = true;
  for (const uint32_t scope : {Scope(2, kNoContext), Scope(2, 0), Scope(2, 7), Scope(1, 7), Scope(9, kNoContext),
                               Scope(9, 0), kDevice, Scope(0, 0), Scope(0, 7)}) {
    const Reply reply = Run(Opcode::kPeek, 0, 0, 0, scope);
    EXPECT_EQ(reply.status, MailboxStatus::kErrData) << scope;
    EXPECT_EQ(reply.data, 0u);
    EXPECT_EQ(reply.extended_data, 0u);
  }
  ASSERT_EQ(SetScope(0, kTrain), MailboxStatus::kSuccess);
  EXPECT_EQ(Go(kTensorBit).status, MailboxStatus::kErrData) << "masked";
  EXPECT_EQ(gpu_.peeks, 0) << "nothing was counted for it";
}

// The hypervisor's own work is not secret, whatever VMs are on the device.
TEST_F(PeekCommandsTest, AHostBlockIsAContextOfVmZero) {
  gpu_.AddHostBlock(1);
  gpu_.catalog().vms[1].confidential = gpu_.catalog().has_had_confidential_vm = true;
  gpu_.Count(0, 1, "sm_active_cycles", 6);
  gpu_.Count(2, 0, "sm_active_cycles", 4);
  EXPECT_EQ(Peek(0, Scope(0, 1), kSmBit | kTensorBit), (std::vector<uint64_t>{6, 0}));
  EXPECT_EQ(Go(kPcieBit).status, MailboxStatus::kErrData) << "an event of the device";
  EXPECT_EQ(SetScope(0, Scope(0, 0)), MailboxStatus::kErrData) << "slice 0 has none";
  EXPECT_EQ(SetScope(0, kDevice), MailboxStatus::kErrData) << "the device's block includes the confidential VM";
}

TEST_F(PeekCommandsTest, HostBlocksAreAFeature) {
  EXPECT_EQ(Run(Opcode::kDiscover, 4, 0, 0).data, mailbox::kPeekFeature);
  const uint32_t blocks = Run(Opcode::kDiscover, 1, 0, 0).data;
  gpu_.AddHostBlock(0);
  gpu_.AddHostBlock(1);
  EXPECT_EQ(Run(Opcode::kDiscover, 4, 0, 0).data, mailbox::kPeekFeature | mailbox::kHostBlocksFeature);
  EXPECT_EQ(Run(Opcode::kDiscover, 1, 0, 0).data, blocks + 2);
}

// Its counts are in no block of the device, but its traffic is in events of the device's scope.
TEST_F(PeekCommandsTest, BesidePrivateVmsTheDevicesBlockIsThereWithoutEventsOfTheDevice) {
  gpu_.catalog().vms[1].confidential = gpu_.catalog().vms[1].is_private = true;
  gpu_.catalog().has_had_confidential_vm = true;
  EXPECT_EQ(SetScope(0, kDevice), MailboxStatus::kErrData) << "another one may have been there that was not private";
  gpu_.catalog().confidential_vms_were_private = true;
  gpu_.Count(1, 0, "sm_active_cycles", 5);
  EXPECT_EQ(Peek(0, kDevice, kSmBit), (std::vector<uint64_t>{5}));
  EXPECT_EQ(Go(kPcieBit).status, MailboxStatus::kErrData);
  EXPECT_EQ(SetScope(0, Scope(2, kNoContext)), MailboxStatus::kErrData);
}

TEST_F(PeekCommandsTest, ABlockMayGoAfterScope) {
  ASSERT_EQ(SetScope(0, kTrain), MailboxStatus::kSuccess);
  gpu_.blocks.erase({1, 0});
  EXPECT_EQ(Go(kSmBit).status, MailboxStatus::kErrData) << "the device has no such block";
  gpu_.catalog().contexts.clear();
  EXPECT_EQ(Go(kSmBit).status, MailboxStatus::kErrData) << "neither has the catalogue";
}

TEST_F(PeekCommandsTest, ARefusalLeavesTheOpenStream) {
  SetScope(0, kTrain);
  Go(kSmBit);
  const Bytes shown = Shown();
  EXPECT_EQ(Go(kPcieBit, 16).status, MailboxStatus::kErrData);
  SetScope(1, kTrain);
  EXPECT_EQ(Shown(), shown);
  EXPECT_EQ(commands_.Window(0).size(), shown.size());
}

TEST_F(PeekCommandsTest, ASnapshotStaysReadable) {
  const Reply latched = Run(Opcode::kLatch, 0, 0, 0);
  const Bytes snapshot = Shown();
  Peek(0, kTrain, kSmBit);
  ASSERT_EQ(Run(Opcode::kRead, 0, 0, 0, latched.data).status, MailboxStatus::kSuccess);
  EXPECT_EQ(Shown(), snapshot);
}

TEST_F(PeekCommandsTest, EventsOfSeveralExtendsAreOfOneLatch) {
  AddExtend();
  gpu_.Count(1, 0, "sm_active_cycles", 5);
  gpu_.Count(1, 0, "e64", 6);
  EXPECT_EQ(Peek(0, kTrain, kSmBit), (std::vector<uint64_t>{5}));
  gpu_.Count(1, 0, "e64", 100);
  gpu_.time_ns += 10;
  EXPECT_EQ(Peek(kPeekSameLatch | 1, kTrain, 1), (std::vector<uint64_t>{6})) << "as it was then";
  EXPECT_EQ(Answer().reference_cycle, 0u);
  EXPECT_EQ(Peek(1, kTrain, 1), (std::vector<uint64_t>{106})) << "another latch";
  EXPECT_EQ(Answer().reference_cycle, 10u);
}

TEST_F(PeekCommandsTest, ALatchIsOfOneBlockAndOfTheLastGo) {
  EXPECT_EQ(SetScope(kPeekSameLatch, kTrain), MailboxStatus::kErrAgain) << "there is none";
  Peek(0, kTrain, kSmBit);
  EXPECT_EQ(SetScope(kPeekSameLatch, Scope(1, 1)), MailboxStatus::kErrAgain) << "of another block";
  EXPECT_EQ(SetScope(kPeekSameLatch, Scope(9, 0)), MailboxStatus::kErrData) << "absent first";
  EXPECT_EQ(SetScope(kPeekSameLatch, kTrain), MailboxStatus::kSuccess);
  SetScope(0, kTrain);
  EXPECT_EQ(SetScope(kPeekSameLatch, kTrain), MailboxStatus::kErrAgain) << "another scope ends it";
}

TEST_F(PeekCommandsTest, OtherCommandsEndALatch) {
  for (const Opcode opcode : {Opcode::kCatalog, Opcode::kLatch, Opcode::kRead, Opcode::kAck}) {
    Peek(0, kTrain, kSmBit);
    Run(opcode, 0, 0, 0);
    EXPECT_EQ(SetScope(kPeekSameLatch, kTrain), MailboxStatus::kErrAgain) << mailbox::OpcodeName(opcode);
    Peek(0, kTrain, kSmBit);
    ASSERT_EQ(SetScope(kPeekSameLatch, kTrain), MailboxStatus::kSuccess);
    Run(opcode, 0, 0, 0);
    EXPECT_EQ(Go(kSmBit).status, MailboxStatus::kErrAgain) << mailbox::OpcodeName(opcode);
  }
  for (const Opcode opcode : {Opcode::kConfig, Opcode{0x6F}}) {
    Peek(0, kTrain, kSmBit);
    EXPECT_EQ(Run(opcode, 0, 0, 0).status, MailboxStatus::kErrOpcode);
    EXPECT_EQ(SetScope(kPeekSameLatch, kTrain), MailboxStatus::kErrAgain) << "also one that is not served";
  }
  Peek(0, kTrain, kSmBit);
  Run(Opcode::kDiscover, 0, 0, 0);
  EXPECT_EQ(SetScope(kPeekSameLatch, kTrain), MailboxStatus::kSuccess) << "DISCOVER changes nothing";
}

TEST_F(PeekCommandsTest, VersionTwoAlone) {
  const auto discover = [](SnapshotCommands& commands, mailbox::DiscoverItem item) {
    return commands.Execute({.opcode = Opcode::kDiscover, .arg1 = static_cast<uint8_t>(item)}, 0, 0);
  };
  EXPECT_EQ(discover(commands_, mailbox::DiscoverItem::kVersion).extended_data, 0x49Fu) << "UPLOAD, too";
  EXPECT_EQ(discover(commands_, mailbox::DiscoverItem::kFeatures).data, 1u);
  SnapshotCommands one(gpu_, mailbox::ExtensionVersion::kOne);
  EXPECT_EQ(discover(one, mailbox::DiscoverItem::kVersion).extended_data, 0x1Fu);
  for (const uint8_t arg1 : {0, 1}) {
    EXPECT_EQ(one.Execute({.opcode = Opcode::kPeek, .arg1 = arg1}, 0, kTrain).status, MailboxStatus::kErrOpcode);
  }
}

constexpr uint32_t kVm1 = 0xFFFF0001, kContext1 = 0x00020001;

class RotateCommandsTest : public testing::Test {
 protected:
  RotateCommandsTest() { gpu_.has_rotation = true; }

  Reply Run(Opcode opcode, uint8_t arg1, uint32_t data, uint32_t extended_data = 0, uint8_t arg2 = 0) {
    return commands_.Execute({.opcode = opcode, .arg1 = arg1, .arg2 = arg2}, data, extended_data);
  }
  Reply Step(RotateStep step, uint32_t data, uint32_t extended_data = 0, uint8_t arg2 = 0) {
    return Run(Opcode::kRotate, static_cast<uint8_t>(step), data, extended_data, arg2);
  }
  // In windows of 20 bytes.
  void Upload(ByteSpan bytes) {
    for (size_t at = 0; at < bytes.size(); at += 320) {
      ASSERT_EQ(Run(Opcode::kUpload, 0, static_cast<uint32_t>(at), 0, 20).status, MailboxStatus::kSuccess);
      for (size_t begin = at; begin < std::min(bytes.size(), at + 320); begin += 20) {
        ASSERT_TRUE(commands_.WriteWindow(static_cast<uint8_t>((begin - at) / 20),
                                          bytes.subspan(begin, std::min<size_t>(20, bytes.size() - begin))));
      }
    }
  }
  Reply Apply(ByteSpan bytes) { return Step(RotateStep::kApply, static_cast<uint32_t>(bytes.size()), Crc32c(bytes)); }

  FakeDevice gpu_;
  SnapshotCommands commands_{gpu_, ExtensionVersion::kTwo};
};

mailbox::RotationRequest Request() { return {.vm = 1, .contexts = {}, .settings = {}, .events = {1}, .always = {}}; }

TEST_F(RotateCommandsTest, WithoutTheFeatureOnlyUploadIsServed) {
  gpu_.has_rotation = false;
  EXPECT_EQ(Step(RotateStep::kPlan, kVm1).status, MailboxStatus::kErrOpcode);
  EXPECT_EQ(Run(Opcode::kUpload, 0, 0).status, MailboxStatus::kSuccess);
  EXPECT_EQ(Run(Opcode::kDiscover, 4, 0).data & mailbox::kRotationFeature, 0u);
  EXPECT_EQ(Run(Opcode::kDiscover, 0, 0).extended_data >> 9 & 3, 0b10u) << "6A, not 69";
  gpu_.has_rotation = true;
  EXPECT_NE(Run(Opcode::kDiscover, 4, 0).data & mailbox::kRotationFeature, 0u);
  EXPECT_EQ(Run(Opcode::kDiscover, 0, 0).extended_data >> 9 & 3, 0b11u);
}

TEST_F(RotateCommandsTest, VersionOneHasNeither) {
  SnapshotCommands old(gpu_, ExtensionVersion::kOne);
  EXPECT_EQ(old.Execute({.opcode = Opcode::kRotate}, 0, 0).status, MailboxStatus::kErrOpcode);
  EXPECT_EQ(old.Execute({.opcode = Opcode::kUpload}, 0, 0).status, MailboxStatus::kErrOpcode);
}

TEST_F(RotateCommandsTest, AnUploadedRequestIsApplied) {
  mailbox::RotationRequest request = Request();
  for (uint16_t context = 0; context < 400; ++context) request.contexts.push_back(context);
  const Bytes bytes = mailbox::EncodeRotationRequest(request);
  Upload(bytes);
  const Reply reply = Apply(bytes);
  EXPECT_EQ(reply.status, MailboxStatus::kSuccess);
  EXPECT_EQ(reply.data, bytes.size());
  EXPECT_EQ(reply.extended_data, Crc32c(bytes));
  EXPECT_EQ(gpu_.requests, std::vector{request});
}

TEST_F(RotateCommandsTest, ARepeatedApplyIsAnsweredAgain) {
  const Bytes bytes = mailbox::EncodeRotationRequest(Request());
  Upload(bytes);
  EXPECT_EQ(Apply(bytes).status, MailboxStatus::kSuccess);
  EXPECT_EQ(Apply(bytes).status, MailboxStatus::kSuccess);
  EXPECT_EQ(gpu_.requests.size(), 1u);
  Upload(bytes);
  EXPECT_EQ(Apply(bytes).status, MailboxStatus::kSuccess);
  EXPECT_EQ(gpu_.requests.size(), 2u) << "of another upload";
}

TEST_F(RotateCommandsTest, OtherBytesAreNotApplied) {
  const Bytes bytes = mailbox::EncodeRotationRequest(Request());
  EXPECT_EQ(Apply(bytes).status, MailboxStatus::kErrAgain) << "nothing was uploaded";
  Upload(bytes);
  EXPECT_EQ(Step(RotateStep::kApply, static_cast<uint32_t>(bytes.size()), Crc32c(bytes) + 1).status,
            MailboxStatus::kErrAgain);
  EXPECT_EQ(Step(RotateStep::kApply, 20'000, Crc32c(bytes)).status, MailboxStatus::kErrAgain);
  EXPECT_EQ(Apply(bytes).status, MailboxStatus::kSuccess) << "they are still there";
}

TEST_F(RotateCommandsTest, WhatTheDeviceRefusesIsErrData) {
  mailbox::RotationRequest other_vm = Request();
  other_vm.vm = 9;
  const Bytes bytes = mailbox::EncodeRotationRequest(other_vm);
  Upload(bytes);
  EXPECT_EQ(Apply(bytes).status, MailboxStatus::kErrData);
  EXPECT_EQ(Apply(bytes).status, MailboxStatus::kErrData) << "answered again";
  mailbox::RotationRequest event = Request();
  event.events = {2};
  const Bytes no_such_event = mailbox::EncodeRotationRequest(event);
  Upload(no_such_event);
  EXPECT_EQ(Apply(no_such_event).status, MailboxStatus::kErrData);
  EXPECT_TRUE(gpu_.requests.empty());
}

TEST_F(RotateCommandsTest, PlanStreamsThePlanOfAScope) {
  const mailbox::RotationPlan plan = {.number = 3, .sets = {{1}}, .derived = {}, .settings = {}};
  gpu_.plans[{1, 0xFFFF}] = plan;
  const Reply reply = Step(RotateStep::kPlan, kVm1);
  EXPECT_EQ(reply.status, MailboxStatus::kSuccess);
  EXPECT_EQ(reply.extended_data, 3u);
  EXPECT_EQ(reply.data, commands_.Window(0).size());
  EXPECT_EQ(*mailbox::DecodePlanStream(commands_.Window(0), kVm1, 1), plan);
  const Bytes whole(commands_.Window(0).begin(), commands_.Window(0).end());
  gpu_.plans.clear();
  EXPECT_EQ(Step(RotateStep::kPlan, kVm1, /*offset=*/5, /*window bytes=*/7).status, MailboxStatus::kSuccess);
  EXPECT_EQ(Bytes(commands_.Window(1).begin(), commands_.Window(1).end()),
            Bytes(whole.begin() + 12, whole.begin() + 19));
  EXPECT_EQ(Step(RotateStep::kPlan, kContext1, 5).status, MailboxStatus::kErrAgain) << "of another scope";
  EXPECT_EQ(Step(RotateStep::kPlan, kVm1, reply.data).status, MailboxStatus::kErrData);
  EXPECT_EQ(Step(RotateStep::kPlan, kVm1).status, MailboxStatus::kErrData) << "no plan";
}

TEST_F(RotateCommandsTest, LearnAndPassNameTheirScope) {
  EXPECT_EQ(Step(RotateStep::kLearn, kContext1).status, MailboxStatus::kSuccess);
  const Reply pass = Step(RotateStep::kPass, kVm1, 29);
  EXPECT_EQ(pass.status, MailboxStatus::kSuccess);
  EXPECT_EQ(pass.data, kVm1) << "as it was taken";
  EXPECT_EQ(pass.extended_data, 29u);
  EXPECT_EQ(gpu_.learned, (std::vector<FakeDevice::Scope>{{1, 2}}));
  EXPECT_EQ((gpu_.passes[{1, 0xFFFF}]), 29u);
  EXPECT_EQ(Step(RotateStep::kLearn, 2).status, MailboxStatus::kErrData);
  EXPECT_EQ(Step(RotateStep::kPass, 2, 1).status, MailboxStatus::kErrData);
}

TEST_F(RotateCommandsTest, UnknownArgumentsAreRefused) {
  EXPECT_EQ(Run(Opcode::kRotate, 4, 0).status, MailboxStatus::kErrArg1);
  EXPECT_EQ(Step(RotateStep::kLearn, kVm1, 0, /*arg2=*/1).status, MailboxStatus::kErrArg2);
  EXPECT_EQ(Run(Opcode::kUpload, 1, 0).status, MailboxStatus::kErrArg1);
}

TEST(UploadBufferTest, HoldsSixteenKibibytes) {
  UploadBuffer buffer;
  const Bytes window(255, 7);
  EXPECT_FALSE(buffer.Write(0, window)) << "not open";
  EXPECT_EQ(buffer.Open({.opcode = Opcode::kUpload}, 16'384).status, MailboxStatus::kErrData);
  const Reply reply = buffer.Open({.opcode = Opcode::kUpload}, 16'384 - 256);
  EXPECT_EQ(reply.data, 16'384u - 256);
  EXPECT_EQ(reply.extended_data, 16'384u);
  EXPECT_TRUE(buffer.Write(0, window));
  EXPECT_FALSE(buffer.Write(1, window)) << "beyond the end";
  EXPECT_TRUE(buffer.Write(1, ByteSpan(window).first(1)));
  EXPECT_EQ(buffer.Open({.opcode = Opcode::kUpload, .arg2 = 16}, 0).status, MailboxStatus::kSuccess);
  EXPECT_FALSE(buffer.Write(0, ByteSpan(window).first(17))) << "wider than a window";
  Bytes expected(16'384, 7);
  std::fill_n(expected.begin(), 16'384 - 256, 0);
  EXPECT_EQ(buffer.Take(16'384, Crc32c(expected)), expected);
  EXPECT_TRUE(buffer.IsEmpty());
}

// Byte by byte, at the registers of version 2.
class RotateExchangeTest : public testing::Test {
 protected:
  RotateExchangeTest() { gpu_.has_rotation = true, bus_.Connect(kAddress, target_); }

  smbus::Outcome Write(Bytes bytes, uint8_t spoil = 0) {
    const uint8_t address = smbus::AddressByte(kAddress, false);
    bytes.push_back(smbus::Pec(bytes, smbus::Pec({&address, 1})) ^ spoil);
    return bus_.Execute({{smbus::Message::Write(kAddress, bytes)}}).outcome;
  }
  Bytes Read(uint8_t code) {
    return bus_.Execute({{smbus::Message::Write(kAddress, {code}), smbus::Message::Read(kAddress, 5)}}).read.at(0);
  }

  static constexpr uint8_t kAddress = 0x4F;
  FakeDevice gpu_;
  FirmwarePair firmware_{gpu_, PowerModel({}), Persona::kSideband, ExtensionVersion::kTwo};
  MailboxTarget target_{kAddress, firmware_.shared(), {.registers = {}, .own_handler = firmware_.own()}};
  VirtualBus bus_;
};

TEST_F(RotateExchangeTest, ARequestIsWrittenToWindowsAndApplied) {
  const Bytes request = mailbox::EncodeRotationRequest(Request());
  ASSERT_EQ(request.size(), 56u);
  EXPECT_EQ(Write({0xC9, 4, 0, 0, 0, 0}), smbus::Outcome::kOk);
  EXPECT_EQ(Write({0xC8, 4, 0x6A, 0, 32, 0x80}), smbus::Outcome::kOk);
  EXPECT_EQ(Read(0xC8), (Bytes{4, 0x6A, 0, 32, 0x1F}));
  EXPECT_EQ(Read(0xCA), (Bytes{4, 0x00, 0x40, 0, 0}));
  for (size_t window = 0; window < 2; ++window) {
    const ByteSpan part = ByteSpan(request).subspan(32 * window, window == 0 ? 32 : 24);
    Bytes block = {static_cast<uint8_t>(0xD0 + window), static_cast<uint8_t>(part.size())};
    block.insert(block.end(), part.begin(), part.end());
    EXPECT_EQ(Write(block, /*spoil=*/1), smbus::Outcome::kDataNack) << "a wrong PEC";
    EXPECT_EQ(Write(block), smbus::Outcome::kOk);
  }
  ByteWriter crc;
  crc.U8(0xCA), crc.U8(4), crc.U32(Crc32c(request));
  EXPECT_EQ(Write({0xC9, 4, 56, 0, 0, 0}), smbus::Outcome::kOk);
  EXPECT_EQ(Write(Bytes(crc.written().begin(), crc.written().end())), smbus::Outcome::kOk);
  EXPECT_EQ(Write({0xC8, 4, 0x69, 1, 0, 0x80}), smbus::Outcome::kOk);
  EXPECT_EQ(Read(0xC8), (Bytes{4, 0x69, 1, 0, 0x1F}));
  EXPECT_EQ(gpu_.requests, std::vector{Request()});
}

TEST_F(RotateExchangeTest, WindowWritesWithoutAPlaceAreMalformed) {
  const Bytes boot = Read(0x5C);
  EXPECT_EQ(Write({0xD0, 2, 1, 2}), smbus::Outcome::kOk) << "before UPLOAD";
  EXPECT_EQ(Read(0xC8), (Bytes{4, 0, 0, 0, 0x01})) << "ERR_REQUEST";
  EXPECT_EQ(Write({0xC8, 4, 0x6A, 0, 1, 0x80}), smbus::Outcome::kOk);
  EXPECT_EQ(Read(0xC8), (Bytes{4, 0x6A, 0, 1, 0x1F}));
  EXPECT_EQ(bus_.Execute({{smbus::Message::Write(kAddress, {0xD0, 1, 9})}}).outcome, smbus::Outcome::kOk);
  EXPECT_EQ(Read(0xC8), (Bytes{4, 0, 0, 0, 0x01})) << "without PEC";
  EXPECT_EQ(Write({0xD0, 1, 9}), smbus::Outcome::kOk);
  EXPECT_EQ(Write({0xD0, 1, 9, 0}), smbus::Outcome::kDataNack) << "bytes after the count";
  EXPECT_EQ(Read(0x5C), boot) << "the shared registers are not affected";
}

constexpr uint32_t kWindow = 20;

// Knows VM 3 alone, and answers a request with three times its bytes.
class FakeSealer final : public BlockSealer {
 public:
  absl::StatusOr<Bytes> DrawChallenge(uint16_t vm) override {
    if (vm != 3) return absl::NotFoundError("no such VM");
    if (++draws > 2) return absl::ResourceExhaustedError("too many");
    return Bytes(32, static_cast<uint8_t>(draws));
  }
  absl::StatusOr<Bytes> Exchange(ByteSpan request) override {
    ++exchanges;
    if (request[0] == 0) return absl::PermissionDeniedError("for a reason that stays here");
    Bytes answer;
    for (int i = 0; i < 3; ++i) answer.insert(answer.end(), request.begin(), request.end());
    return answer;
  }
  absl::StatusOr<uint64_t> Rotate(uint16_t vm) override {
    if (vm != 3) return absl::NotFoundError("no such VM");
    return uint64_t{40'000};
  }
  std::optional<uint64_t> Records(uint16_t vm) const override {
    return vm == 3 ? std::optional<uint64_t>(0x7'0000'0009) : std::nullopt;
  }

  int draws = 0;
  int exchanges = 0;
};

class SealCommandsTest : public testing::Test {
 protected:
  SealCommandsTest() { device_.sealer = &sealer_; }

  Reply Run(Opcode opcode, uint8_t arg1, uint32_t data, uint32_t extended_data = 0, uint8_t arg2 = kWindow) {
    return commands_.Execute({.opcode = opcode, .arg1 = arg1, .arg2 = arg2}, data, extended_data);
  }
  Reply Step(SealStep step, uint32_t data, uint32_t extended_data = 0) {
    const bool has_stream = step == SealStep::kExchange || step == SealStep::kChallenge;
    return Run(Opcode::kSeal, static_cast<uint8_t>(step), data, extended_data, has_stream ? kWindow : 0);
  }
  void Upload(ByteSpan bytes) {
    ASSERT_EQ(Run(Opcode::kUpload, 0, 0).status, MailboxStatus::kSuccess);
    for (size_t at = 0; at < bytes.size(); at += kWindow) {
      ASSERT_TRUE(commands_.WriteWindow(static_cast<uint8_t>(at / kWindow),
                                        bytes.subspan(at, std::min<size_t>(kWindow, bytes.size() - at))));
    }
  }
  Reply Exchange(ByteSpan request) {
    return Step(SealStep::kExchange, static_cast<uint32_t>(request.size()), Crc32c(request));
  }
  // The windows that are open now.
  Bytes Windows() const {
    Bytes bytes;
    for (uint8_t window = 0; window < mailbox::kWindowCount; ++window) {
      const ByteSpan part = commands_.Window(window);
      bytes.insert(bytes.end(), part.begin(), part.end());
    }
    return bytes;
  }

  FakeDevice device_;
  FakeSealer sealer_;
  SnapshotCommands commands_{device_, ExtensionVersion::kTwo};
};

Bytes PayloadOf(ByteSpan stream) {
  const auto decoded = mailbox::DecodeStream(stream);
  EXPECT_TRUE(decoded.ok()) << decoded.status();
  if (!decoded.ok()) return {};
  EXPECT_EQ(decoded->header.kind, mailbox::StreamKind::kExchange);
  return Bytes(decoded->payload.begin(), decoded->payload.end());
}

TEST_F(SealCommandsTest, IsServedByADeviceThatSealsAlone) {
  const auto has_feature = [this] { return (Run(Opcode::kDiscover, 4, 0).data & mailbox::kSealingFeature) != 0; };
  EXPECT_TRUE(has_feature());
  EXPECT_EQ(Run(Opcode::kDiscover, 0, 0).extended_data >> 5 & 1, 1u);
  SnapshotCommands old(device_, ExtensionVersion::kOne);
  EXPECT_EQ(old.Execute({.opcode = Opcode::kSeal, .arg1 = 2}, 3, 0).status, MailboxStatus::kErrOpcode);
  device_.sealer = nullptr;
  EXPECT_FALSE(has_feature());
  EXPECT_EQ(Step(SealStep::kStatus, 3).status, MailboxStatus::kErrOpcode);
}

TEST_F(SealCommandsTest, AChallengeIsAStream) {
  const Reply reply = Step(SealStep::kChallenge, 3);
  ASSERT_EQ(reply.status, MailboxStatus::kSuccess);
  EXPECT_EQ(reply.extended_data, 3u);
  const Bytes stream = Windows();
  EXPECT_EQ(reply.data, stream.size());
  EXPECT_EQ(PayloadOf(stream), Bytes(32, 1));
}

TEST_F(SealCommandsTest, WhatThereIsNotIsOneError) {
  for (const uint32_t vm : {0u, 1u, 4u, 0xFFFFu, 0x10003u}) {
    EXPECT_EQ(Step(SealStep::kChallenge, vm).status, MailboxStatus::kErrData) << vm;
    EXPECT_EQ(Step(SealStep::kEpoch, vm).status, MailboxStatus::kErrData) << vm;
    EXPECT_EQ(Step(SealStep::kStatus, vm).status, MailboxStatus::kErrData) << vm;
  }
  EXPECT_EQ(Run(Opcode::kSeal, 4, 3).status, MailboxStatus::kErrArg1);
  EXPECT_EQ(Run(Opcode::kSeal, 1, 3, 0, 20).status, MailboxStatus::kErrArg2) << "it has no windows";
}

TEST_F(SealCommandsTest, TooManyChallengesAreToBeTriedAgain) {
  EXPECT_EQ(Step(SealStep::kChallenge, 3).status, MailboxStatus::kSuccess);
  EXPECT_EQ(Step(SealStep::kChallenge, 3).status, MailboxStatus::kSuccess);
  EXPECT_EQ(Step(SealStep::kChallenge, 3).status, MailboxStatus::kErrAgain);
}

TEST_F(SealCommandsTest, AnUploadedRequestHasItsAnswer) {
  const Bytes request(100, 9);
  Upload(request);
  const Reply reply = Exchange(request);
  ASSERT_EQ(reply.status, MailboxStatus::kSuccess);
  EXPECT_EQ(reply.extended_data, Crc32c(request));
  Bytes stream = Windows();
  ASSERT_LT(stream.size(), reply.data) << "more than the windows have";
  const Reply more = Step(SealStep::kExchange, 0, static_cast<uint32_t>(stream.size()));
  ASSERT_EQ(more.status, MailboxStatus::kSuccess);
  EXPECT_EQ(more.data, reply.data);
  EXPECT_EQ(more.extended_data, stream.size());
  const Bytes rest = Windows();
  stream.insert(stream.end(), rest.begin(), rest.end());
  EXPECT_EQ(PayloadOf(stream), Bytes(300, 9));
  EXPECT_EQ(Step(SealStep::kExchange, 0, reply.data).status, MailboxStatus::kErrData) << "beyond the answer";
}

TEST_F(SealCommandsTest, ARepeatedExchangeIsAnsweredAgain) {
  const Bytes request(40, 9);
  Upload(request);
  const Reply first = Exchange(request);
  EXPECT_EQ(Exchange(request).data, first.data);
  EXPECT_EQ(sealer_.exchanges, 1);
  Upload(request);
  EXPECT_EQ(Exchange(request).status, MailboxStatus::kSuccess);
  EXPECT_EQ(sealer_.exchanges, 2) << "it was uploaded again";
}

TEST_F(SealCommandsTest, OtherBytesInTheBufferAreNoRefusal) {
  const Bytes request(40, 9);
  EXPECT_EQ(Exchange(request).status, MailboxStatus::kErrAgain);
  Upload(Bytes(40, 8));
  EXPECT_EQ(Exchange(request).status, MailboxStatus::kErrAgain);
  EXPECT_EQ(sealer_.exchanges, 0);
}

TEST_F(SealCommandsTest, ARefusalTellsNothing) {
  const Bytes request(40, 0);
  Upload(request);
  EXPECT_EQ(Exchange(request).status, MailboxStatus::kErrData);
  EXPECT_EQ(Step(SealStep::kExchange, 0, 0).status, MailboxStatus::kErrAgain) << "there is no answer";
}

TEST_F(SealCommandsTest, ARefusedRequestThatIsRepeatedIsToBeUploadedAgain) {
  const Bytes request(40, 0);
  Upload(request);
  EXPECT_EQ(Exchange(request).status, MailboxStatus::kErrData);
  EXPECT_EQ(Exchange(request).status, MailboxStatus::kErrAgain);
  EXPECT_EQ(sealer_.exchanges, 1);
}

TEST_F(SealCommandsTest, AnotherControllersChallengeLeavesTheAnswer) {
  const Bytes request(40, 9);
  Upload(request);
  ASSERT_EQ(Exchange(request).status, MailboxStatus::kSuccess);
  ASSERT_EQ(Step(SealStep::kChallenge, 3).status, MailboxStatus::kSuccess);
  EXPECT_EQ(PayloadOf(Windows()), Bytes(32, 1));
  ASSERT_EQ(Step(SealStep::kExchange, 0, 0).status, MailboxStatus::kSuccess);
  EXPECT_EQ(PayloadOf(Windows()), Bytes(120, 9));
}

TEST_F(SealCommandsTest, AnEpochNamesItsVmAndRecordsHave64Bits) {
  const Reply epoch = Step(SealStep::kEpoch, 3), records = Step(SealStep::kStatus, 3);
  EXPECT_EQ(epoch.status, MailboxStatus::kSuccess);
  EXPECT_EQ(std::vector({epoch.data, epoch.extended_data}), (std::vector<uint32_t>{40'000, 3}));
  EXPECT_EQ(std::vector({records.data, records.extended_data}), (std::vector<uint32_t>{9, 7}));
}

class TriggerCommandsTest : public testing::Test {
 protected:
  Reply Run(TriggerStep step, uint64_t period = 0, uint8_t arg2 = 0) {
    return commands_.Execute({.opcode = Opcode::kTrigger, .arg1 = static_cast<uint8_t>(step), .arg2 = arg2},
                             static_cast<uint32_t>(period), static_cast<uint32_t>(period >> 32));
  }

  FakeDevice gpu_;
  SnapshotCommands commands_{gpu_, ExtensionVersion::kTwo};
};

TEST_F(TriggerCommandsTest, OnceAnswersTheTriggersNumber) {
  EXPECT_EQ(Run(TriggerStep::kOnce).data, 1u);
  EXPECT_EQ(Run(TriggerStep::kOnce).data, 2u);
  EXPECT_EQ(gpu_.latches, 0u) << "nothing is latched";
}

TEST_F(TriggerCommandsTest, StartSetsTheGridAndStopEndsIt) {
  const Reply started = Run(TriggerStep::kStart, uint64_t{3} << 32 | 7);
  EXPECT_EQ(started.status, MailboxStatus::kSuccess);
  EXPECT_EQ(started.data, 7u) << "the period that was taken";
  EXPECT_EQ(started.extended_data, 3u);
  EXPECT_EQ(gpu_.trigger_grid, uint64_t{3} << 32 | 7);
  EXPECT_EQ(Run(TriggerStep::kStop, 99).status, MailboxStatus::kSuccess) << "data-in has no meaning";
  EXPECT_EQ(gpu_.trigger_grid, 0u);
}

TEST_F(TriggerCommandsTest, RefusedCommandsChangeNothing) {
  ASSERT_EQ(Run(TriggerStep::kStart, 1000).status, MailboxStatus::kSuccess);
  EXPECT_EQ(Run(TriggerStep::kStart, 0).status, MailboxStatus::kErrData);
  EXPECT_EQ(Run(TriggerStep::kStart, FakeDevice::kTriggerPeriodMin - 1).status, MailboxStatus::kErrData);
  EXPECT_EQ(Run(TriggerStep::kStop, 0, /*arg2=*/1).status, MailboxStatus::kErrArg2);
  for (int step = 7; step < 256; ++step) {
    EXPECT_EQ(Run(static_cast<TriggerStep>(step)).status, MailboxStatus::kErrArg1) << step;
  }
  EXPECT_EQ(gpu_.trigger_grid, 1000u);
  EXPECT_EQ(gpu_.triggered, 0u);
}

TEST_F(TriggerCommandsTest, WithoutClockDomainsTheirStepsAreNotServed) {
  for (const TriggerStep step :
       {TriggerStep::kSelect, TriggerStep::kBookmark, TriggerStep::kTimeline, TriggerStep::kHulls}) {
    EXPECT_EQ(Run(step).status, MailboxStatus::kErrOpcode);
    EXPECT_EQ(Run(step, 0, /*arg2=*/255).status, MailboxStatus::kErrOpcode) << "windows";
  }
}

class ClockCommandsTest : public TriggerCommandsTest {
 protected:
  ClockCommandsTest() {
    gpu_.has_clocks = true;
    gpu_.timeline.entries = {
        {.trigger_id = 5, .reference_cycle = 1000, .domains = 0b10, .clocks = {{.local_clock = 9}}},
        {.trigger_id = 6, .reference_cycle = 2000}};
    gpu_.hulls.hulls = {{.domain = 1, .last_trigger_id = 6, .lower = {{1, 2}}, .upper = {{1, 3}}}};
  }
  Reply Open(TriggerStep step, uint32_t first, uint32_t offset, uint8_t width) {
    return commands_.Execute({.opcode = Opcode::kTrigger, .arg1 = static_cast<uint8_t>(step), .arg2 = width}, first,
                             offset);
  }
  // All windows of the open stream.
  Bytes Stream(TriggerStep step, uint32_t first) {
    Bytes bytes;
    for (uint32_t size = 1; bytes.size() < size;) {
      const Reply reply = Open(step, first, static_cast<uint32_t>(bytes.size()), 16);
      EXPECT_EQ(reply.status, MailboxStatus::kSuccess);
      size = reply.data;
      for (uint8_t i = 0; i < mailbox::kWindowCount && bytes.size() < size; ++i) {
        const ByteSpan window = commands_.Window(i);
        bytes.insert(bytes.end(), window.begin(), window.end());
      }
    }
    return bytes;
  }
};

TEST_F(ClockCommandsTest, TheyAreAFeature) {
  const auto features = [this] { return commands_.Execute({.opcode = Opcode::kDiscover, .arg1 = 4}, 0, 0).data; };
  EXPECT_NE(features() & mailbox::kClocksFeature, 0u);
  gpu_.can_trigger = false;
  EXPECT_EQ(features() & mailbox::kClocksFeature, 0u);
}

TEST_F(ClockCommandsTest, SelectAnswersTheDomainsThatItHasTaken) {
  const Reply selected = Run(TriggerStep::kSelect, 0b10);
  EXPECT_EQ(selected.status, MailboxStatus::kSuccess);
  EXPECT_EQ(selected.data, 0b10u);
  EXPECT_EQ(gpu_.selected_clocks, 0b10u);
  EXPECT_EQ(Run(TriggerStep::kSelect, uint64_t{1} << 33).status, MailboxStatus::kErrData);
  EXPECT_EQ(Run(TriggerStep::kSelect, 0b01, /*arg2=*/1).status, MailboxStatus::kErrArg2);
  EXPECT_EQ(gpu_.selected_clocks, 0b10u);
}

TEST_F(ClockCommandsTest, ABookmarkAnswersWhenItWasAskedFor) {
  gpu_.time_ns = uint64_t{3} << 32 | 5;
  const Reply marked = Run(TriggerStep::kBookmark, uint64_t{17} << 32 | 2u << 16 | 1);
  EXPECT_EQ(marked.data, 5u);
  EXPECT_EQ(marked.extended_data, 3u);
  EXPECT_EQ((gpu_.bookmarks[{1, 2}]), 17u);
}

// Another controller may have written to the operands before the command.
TEST_F(ClockCommandsTest, ABookmarkThatIsNotWhatWasMeantIsRefused) {
  const uint8_t check = mailbox::BookmarkCheck(2u << 16 | 1, 17);
  EXPECT_EQ(Run(TriggerStep::kBookmark, uint64_t{17} << 32 | 2u << 16 | 1, check).status, MailboxStatus::kSuccess);
  EXPECT_EQ(Run(TriggerStep::kBookmark, uint64_t{17} << 32 | 2u << 16 | 2, check).status, MailboxStatus::kErrArg2);
  EXPECT_EQ(Run(TriggerStep::kBookmark, uint64_t{18} << 32 | 2u << 16 | 1, check).status, MailboxStatus::kErrArg2);
  EXPECT_EQ(gpu_.bookmarks.size(), 1u);
}

TEST_F(ClockCommandsTest, RefusedBookmarksSayWhy) {
  const auto refused = [this](const absl::Status& status) {
    gpu_.refuse_bookmarks = status;
    return Run(TriggerStep::kBookmark, 1).status;
  };
  EXPECT_EQ(refused(absl::NotFoundError("")), MailboxStatus::kErrNotAvailable);
  EXPECT_EQ(refused(absl::UnavailableError("")), MailboxStatus::kErrAgain);
  EXPECT_EQ(refused(absl::FailedPreconditionError("")), MailboxStatus::kErrNotSupported);
}

TEST_F(ClockCommandsTest, TimelinesAndHullsAreStreams) {
  mailbox::Timeline timeline = *mailbox::DecodeTimelineStream(Stream(TriggerStep::kTimeline, 4), 4, 2);
  EXPECT_EQ(timeline.boot_id, gpu_.identity().boot_id);
  EXPECT_EQ(timeline.entries, gpu_.timeline.entries);
  EXPECT_EQ(mailbox::DecodeHullStream(Stream(TriggerStep::kHulls, 3), 3, 2)->hulls, gpu_.hulls.hulls);
}

TEST_F(ClockCommandsTest, AReaderGoesOnInWhatItHasBegun) {
  const Reply opened = Open(TriggerStep::kTimeline, 4, 0, 16);
  EXPECT_EQ(opened.extended_data, 6u) << "the newest trigger";
  gpu_.timeline.entries.clear();
  EXPECT_EQ(Open(TriggerStep::kTimeline, 4, 16, 16).data, opened.data);
  EXPECT_EQ(Open(TriggerStep::kTimeline, 5, 16, 16).status, MailboxStatus::kErrAgain) << "another trigger";
  EXPECT_EQ(Open(TriggerStep::kHulls, 4, 16, 16).status, MailboxStatus::kErrAgain) << "another stream";
  EXPECT_EQ(Open(TriggerStep::kTimeline, 4, opened.data, 16).status, MailboxStatus::kErrData);
}

TEST_F(TriggerCommandsTest, TheOpcodeIsServedByVersionTwoOfDevicesThatCanTrigger) {
  SnapshotCommands one{gpu_, ExtensionVersion::kOne};
  EXPECT_EQ(one.Execute({.opcode = Opcode::kTrigger}, 0, 0).status, MailboxStatus::kErrOpcode);
  const auto served = [this] { return commands_.Execute({.opcode = Opcode::kDiscover}, 0, 0).extended_data >> 6 & 1; };
  EXPECT_EQ(served(), 1u);
  gpu_.can_trigger = false;
  EXPECT_EQ(served(), 0u);
  EXPECT_EQ(Run(TriggerStep::kOnce).status, MailboxStatus::kErrOpcode);
}

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
