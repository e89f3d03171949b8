// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/firmware/seal_commands.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "proto/mailbox/extension.h"
#include "proto/mailbox/features.h"
#include "proto/mailbox/stream.h"
#include "secure_mcu/firmware/fake_device.h"
#include "secure_mcu/firmware/snapshot_commands.h"

namespace sideband::mcu {
namespace {

using mailbox::ExtensionVersion;
using mailbox::MailboxStatus;
using mailbox::Opcode;
using mailbox::SealStep;

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

}  // namespace
}  // namespace sideband::mcu
