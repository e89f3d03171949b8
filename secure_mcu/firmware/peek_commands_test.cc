// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/firmware/peek_commands.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "proto/mailbox/extension.h"
#include "proto/mailbox/features.h"
#include "proto/mailbox/peek.h"
#include "proto/mailbox/snapshot_stream.h"
#include "proto/mailbox/stream.h"
#include "secure_mcu/firmware/fake_gpu.h"
#include "secure_mcu/firmware/snapshot_commands.h"

namespace sideband::mcu {
namespace {

using mailbox::kNoContext;
using mailbox::kPeekSameLatch;
using mailbox::MailboxStatus;
using mailbox::Opcode;

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

// The hypervisor's own work is nobody's secret, whoever else is on the device.
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

}  // namespace
}  // namespace sideband::mcu
