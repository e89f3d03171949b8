// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/firmware/rotate_commands.h"

#include <gtest/gtest.h>

#include <vector>

#include "proto/mailbox/extension.h"
#include "proto/mailbox/features.h"
#include "proto/mailbox/registers.h"
#include "proto/mailbox/rotation_stream.h"
#include "proto/smbus/pec.h"
#include "proto/smbus/transfer.h"
#include "secure_mcu/bus/mailbox_target.h"
#include "secure_mcu/bus/virtual_bus.h"
#include "secure_mcu/firmware/fake_device.h"
#include "secure_mcu/firmware/firmware_pair.h"
#include "secure_mcu/firmware/snapshot_commands.h"
#include "secure_mcu/firmware/upload_buffer.h"

namespace sideband::mcu {
namespace {

using mailbox::ExtensionVersion;
using mailbox::MailboxStatus;
using mailbox::Opcode;
using mailbox::RotateStep;

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

}  // namespace
}  // namespace sideband::mcu
