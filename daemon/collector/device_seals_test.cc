// SPDX-License-Identifier: Apache-2.0
#include "daemon/collector/device_seals.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "daemon/collector/seal_router.h"
#include "daemon/mailbox/fake_mailbox.h"
#include "daemon/mailbox/register_port.h"
#include "proto/mailbox/extension.h"
#include "proto/mailbox/features.h"

namespace sideband::daemon {
namespace {

using mailbox::MailboxStatus;
using mailbox::Opcode;
using mailbox::SealStep;

// A device that seals, and has the epoch 7 of each VM.
class DeviceSealsTest : public testing::Test {
 protected:
  DeviceSealsTest() : store_({}) {
    device_.version = mailbox::ExtensionVersion::kTwo;
    device_.features = mailbox::kSealingFeature;
    device_.answer = [this](const FakeMailbox::Command& command) -> std::optional<FakeMailbox::Reply> {
      if (command.word.opcode != Opcode::kSeal) return std::nullopt;
      return FakeMailbox::Reply{.status = status_, .data = 7, .extended_data = command.data};
    };
    EXPECT_TRUE(session_.CheckExtension().ok());
    id_ = store_.NewId();
    store_.SetDevices({{id_, std::make_shared<const DeviceInfo>(DeviceInfo{.name = "gpu0"})}});
    auto snapshot = std::make_shared<DeviceSnapshot>();
    snapshot->topology = std::make_shared<const Topology>(SomeCatalog(true), 77);
    snapshot->data = SomeSnapshot();
    snapshot->sealed_by_device = {kSecretVm};
    store_.Publish(id_, snapshot);
    router_.Add(id_, seals_);
  }
  ~DeviceSealsTest() override {
    seals_.Close();
    router_.Remove(id_);
  }

  SealedVm Vm() const {
    const mailbox::VmInfo vm = SomeCatalog(true).vms[1];
    return {.device = id_, .boot_id = SomeSnapshot().boot_id, .vm = vm.uuid, .vm_id = vm.id};
  }
  absl::Status Rotate(const SealedVm& vm) {
    return router_.Rotate(vm, [this](const absl::StatusOr<uint64_t>& epoch) {
      answers_.push_back(epoch.ok() ? absl::StrCat(*epoch) : absl::StatusCodeToString(epoch.status().code()));
    });
  }

  Store store_;
  size_t id_ = 0;
  FakeClock clock_{absl::FromUnixSeconds(1700000000)};
  FakeMailbox device_;
  RegisterPort port_{device_, FakeMailbox::kAddress, [](absl::string_view) {}};
  MailboxSession session_{port_, [](absl::Duration) {}};
  int wakes_ = 0;
  DeviceSeals seals_{session_, clock_, [this] { ++wakes_; }};
  SealRouter router_{store_};
  MailboxStatus status_ = MailboxStatus::kSuccess;
  std::vector<std::string> answers_;
};

TEST_F(DeviceSealsTest, WorkIsTheCollectors) {
  EXPECT_FALSE(seals_.RunNext(true));
  ASSERT_TRUE(Rotate(Vm()).ok());
  EXPECT_EQ(wakes_, 1);
  EXPECT_TRUE(answers_.empty()) << "the bus is the collector's";
  EXPECT_TRUE(seals_.RunNext(true));
  EXPECT_EQ(answers_, std::vector<std::string>{"7"});
  const auto commands = device_.CommandsOf(Opcode::kSeal);
  ASSERT_EQ(commands.size(), 1u);
  EXPECT_EQ(commands[0].word.arg1, static_cast<uint8_t>(SealStep::kEpoch));
  EXPECT_EQ(commands[0].data, kSecretVm);
}

TEST_F(DeviceSealsTest, WhatTheDeviceLacksIsNotFound) {
  status_ = MailboxStatus::kErrData;
  ASSERT_TRUE(Rotate(Vm()).ok());
  seals_.RunNext(true);
  EXPECT_EQ(answers_, std::vector<std::string>{"NOT_FOUND"});
}

TEST_F(DeviceSealsTest, ADeviceThatDoesNotAnswerIsUnavailable) {
  ASSERT_TRUE(Rotate(Vm()).ok());
  seals_.RunNext(false);
  ASSERT_TRUE(Rotate(Vm()).ok());
  seals_.Close();
  EXPECT_TRUE(absl::IsUnavailable(Rotate(Vm())));
  EXPECT_EQ(answers_, (std::vector<std::string>{"UNAVAILABLE", "UNAVAILABLE"}));
  EXPECT_TRUE(device_.CommandsOf(Opcode::kSeal).empty());
}

TEST_F(DeviceSealsTest, AnotherVmOfThatNumberIsNotMeant) {
  SealedVm of_last_boot = Vm();
  ++of_last_boot.boot_id;
  SealedVm another = Vm();
  another.vm = Uuid{};
  for (const SealedVm& vm : {of_last_boot, another}) {
    ASSERT_TRUE(Rotate(vm).ok());
    seals_.RunNext(true);
  }
  EXPECT_EQ(answers_, (std::vector<std::string>{"UNAVAILABLE", "UNAVAILABLE"}));
  EXPECT_TRUE(device_.CommandsOf(Opcode::kSeal).empty());
  SealedVm elsewhere = Vm();
  elsewhere.device = id_ + 1;
  EXPECT_TRUE(absl::IsUnavailable(Rotate(elsewhere))) << "a device that is no longer read";
}

TEST_F(DeviceSealsTest, OneVmCannotKeepOthersWaiting) {
  for (size_t i = 0; i < DeviceSeals::kWaitingOfVmMax; ++i) ASSERT_TRUE(Rotate(Vm()).ok()) << i;
  EXPECT_TRUE(absl::IsResourceExhausted(Rotate(Vm())));
  SealedVm other = Vm();
  other.vm_id = kOpenVm;
  EXPECT_TRUE(Rotate(other).ok());
}

TEST_F(DeviceSealsTest, TheBussTimeIsShared) {
  device_.answer = [this](const FakeMailbox::Command& command) -> std::optional<FakeMailbox::Reply> {
    if (command.word.opcode != Opcode::kSeal) return std::nullopt;
    clock_.Advance(absl::Milliseconds(400));
    return FakeMailbox::Reply{.data = 7, .extended_data = command.data};
  };
  ASSERT_TRUE(Rotate(Vm()).ok());
  seals_.RunNext(true);
  EXPECT_TRUE(absl::IsResourceExhausted(Rotate(Vm()))) << "it has used the bus for longer than its share";
  clock_.Advance(absl::Seconds(8));
  EXPECT_TRUE(Rotate(Vm()).ok());
}

}  // namespace
}  // namespace sideband::daemon
