// SPDX-License-Identifier: Apache-2.0
#include "daemon/collector/device_rotations.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "daemon/base/clock.h"
#include "daemon/base/retry_after.h"
#include "daemon/collector/rotation_router.h"
#include "daemon/mailbox/fake_mailbox.h"
#include "daemon/mailbox/register_port.h"
#include "daemon/snapshot/fake_topology.h"
#include "proto/mailbox/features.h"
#include "proto/mailbox/registers.h"

namespace sideband::daemon {
namespace {

using mailbox::MailboxStatus;
using mailbox::Opcode;

class DeviceRotationsTest : public testing::Test {
 protected:
  DeviceRotationsTest() {
    device_.version = mailbox::ExtensionVersion::kTwo;
    device_.features |= mailbox::kRotationFeature;
    device_.answer = [this](const FakeMailbox::Command& command) -> std::optional<FakeMailbox::Reply> {
      const bool is_version = command.word.opcode == Opcode::kDiscover && command.word.arg1 == 0;
      if (is_version)
        return FakeMailbox::Reply{.data = 2 | mailbox::kWindowBytes << 8 | 16u << 16, .extended_data = 0x69F};
      if (command.word.opcode != Opcode::kRotate) return std::nullopt;
      return FakeMailbox::Reply{.status = status_, .data = command.data, .extended_data = command.extended_data};
    };
    EXPECT_TRUE(session_.CheckExtension().ok());
    Publish(kBoot, Changed([](mailbox::Catalog&) {}));
    topology_ = store_.Newest(kDevice)->topology;
  }

  void Publish(uint64_t boot_id, std::shared_ptr<const Topology> topology) {
    auto snapshot = std::make_shared<DeviceSnapshot>();
    snapshot->data.boot_id = boot_id;
    snapshot->topology = std::move(topology);
    store_.Publish(kDevice, std::move(snapshot));
  }
  static std::shared_ptr<const Topology> Changed(const std::function<void(mailbox::Catalog& catalog)>& change) {
    mailbox::Catalog catalog = SomeCatalog(/*with_secret=*/false);
    change(catalog);
    return std::make_shared<Topology>(catalog, /*hash=*/5);
  }

  RotationOrder OfVm(size_t asker = 0) const { return {kBoot, topology_, LearnRequest{.vm = 1}, asker}; }
  RotationOrder OfContext() const { return {kBoot, topology_, LearnRequest{.vm = 1, .context = 0}}; }
  RotationSink::Done Note() {
    return [this](const absl::Status& status) { answers_.push_back(absl::StatusCodeToString(status.code())); };
  }
  std::string Answer(const RotationOrder& order, bool is_readable = true) {
    EXPECT_TRUE(rotations_.Ask(order, Note()).ok());
    EXPECT_TRUE(rotations_.RunNext(is_readable));
    return answers_.empty() ? "none" : answers_.back();
  }

  static constexpr size_t kDevice = 0;
  static constexpr uint64_t kBoot = 7;
  FakeMailbox device_;
  RegisterPort port_{device_, FakeMailbox::kAddress, [](absl::string_view) {}};
  MailboxSession session_{port_, [](absl::Duration) {}};
  Store store_{{DeviceInfo{.name = "gpu0"}}};
  int wakes_ = 0;
  FakeClock clock_{absl::FromUnixSeconds(1)};
  DeviceRotations rotations_{kDevice, session_, {store_, clock_, [this] { ++wakes_; }}};
  std::shared_ptr<const Topology> topology_;
  MailboxStatus status_ = MailboxStatus::kSuccess;
  std::vector<std::string> answers_;
};

TEST_F(DeviceRotationsTest, AnOrderIsACommandOfTheCollector) {
  EXPECT_FALSE(rotations_.RunNext(true));
  ASSERT_TRUE(rotations_.Ask(OfVm(), Note()).ok());
  ASSERT_TRUE(rotations_.Ask(OfContext(), Note()).ok());
  EXPECT_EQ(wakes_, 2);
  EXPECT_TRUE(answers_.empty()) << "the bus is the collector's";
  EXPECT_TRUE(rotations_.RunNext(true));
  EXPECT_TRUE(rotations_.RunNext(true));
  EXPECT_EQ(answers_, (std::vector<std::string>{"OK", "OK"}));
  const auto commands = device_.CommandsOf(Opcode::kRotate);
  ASSERT_EQ(commands.size(), 2u);
  EXPECT_EQ(commands[0].data, uint32_t{mailbox::kNoContext} << 16 | 1);
  EXPECT_EQ(commands[1].word.arg1, static_cast<uint8_t>(mailbox::RotateStep::kLearn));
  EXPECT_EQ(commands[1].data, 1u);
}

TEST_F(DeviceRotationsTest, WhatTheDeviceRefusesIsAnError) {
  status_ = MailboxStatus::kErrData;
  EXPECT_EQ(Answer(OfContext()), "NOT_FOUND");
}

TEST_F(DeviceRotationsTest, AnotherVmOfTheNumberKeepsItsTurns) {
  Publish(kBoot + 1, topology_);
  EXPECT_EQ(Answer(OfVm()), "UNAVAILABLE") << "another boot";
  Publish(kBoot, Changed([](mailbox::Catalog& catalog) { catalog.vms[0].generation += 1; }));
  EXPECT_EQ(Answer(OfVm()), "UNAVAILABLE") << "another VM";
  Publish(kBoot, Changed([](mailbox::Catalog& catalog) { catalog.contexts[0].name = "other"; }));
  EXPECT_EQ(Answer(OfContext()), "UNAVAILABLE") << "another context";
  EXPECT_TRUE(device_.CommandsOf(Opcode::kRotate).empty());
  Publish(kBoot, Changed([](mailbox::Catalog& catalog) { catalog.vms[1].generation += 1; }));
  EXPECT_EQ(Answer(OfVm()), "OK") << "somebody else's";
}

TEST_F(DeviceRotationsTest, AnUnreadableDeviceIsNotAsked) {
  EXPECT_EQ(Answer(OfVm(), /*is_readable=*/false), "UNAVAILABLE");
  EXPECT_TRUE(device_.CommandsOf(Opcode::kRotate).empty());
}

TEST_F(DeviceRotationsTest, FewWaitAndNoneAfterTheEnd) {
  clock_.Advance(absl::Seconds(1));
  for (size_t i = 0; i < DeviceRotations::kWaitingMax; ++i) {
    ASSERT_TRUE(rotations_.Ask(OfVm(/*asker=*/i), Note()).ok()) << i;
    clock_.Advance(absl::Seconds(1));
  }
  EXPECT_TRUE(absl::IsResourceExhausted(rotations_.Ask(OfVm(99), Note())));
  rotations_.Close();
  EXPECT_EQ(answers_, std::vector<std::string>(DeviceRotations::kWaitingMax, "UNAVAILABLE"));
  EXPECT_TRUE(absl::IsUnavailable(rotations_.Ask(OfVm(), Note())));
}

TEST_F(DeviceRotationsTest, AnAskerHasItsPartOfTheBus) {
  constexpr size_t kBusy = 1, kOther = 2;
  ASSERT_TRUE(rotations_.Ask(OfVm(kOther), Note()).ok());
  ASSERT_TRUE(rotations_.Ask(OfVm(kBusy), Note()).ok());
  absl::Status refused;
  for (int i = 0; i < 4 && refused.ok(); ++i) refused = rotations_.Ask(OfVm(kBusy), Note());
  EXPECT_TRUE(absl::StartsWith(refused.message(), "the bus time for changes of the device is used up")) << refused;
  EXPECT_EQ(RetryAfter(refused), absl::Seconds(1)) << "whole seconds";
  clock_.Advance(absl::Seconds(1));
  EXPECT_TRUE(rotations_.Ask(OfVm(kOther), Note()).ok());
  EXPECT_TRUE(rotations_.Ask(OfVm(kBusy), Note()).ok());
}

TEST_F(DeviceRotationsTest, AnOrderIsChargedAsItWas) {
  for (int i = 0; i < 100; ++i) ASSERT_EQ(Answer(OfVm()), "OK") << "it took no time";
}

TEST_F(DeviceRotationsTest, FewOrdersOfAnAskerWait) {
  for (size_t i = 0; i < DeviceRotations::kWaitingOfAskerMax; ++i) {
    ASSERT_TRUE(rotations_.Ask(OfVm(), Note()).ok());
    clock_.Advance(absl::Seconds(1));
  }
  EXPECT_TRUE(absl::IsResourceExhausted(rotations_.Ask(OfVm(), Note())));
  EXPECT_TRUE(rotations_.Ask(OfVm(/*asker=*/5), Note()).ok());
}

TEST_F(DeviceRotationsTest, TheRouterLeadsToTheDevicesThatAreRead) {
  RotationRouter router;
  EXPECT_TRUE(absl::IsUnavailable(router.Ask(3, OfVm(), Note())));
  router.Add(3, rotations_);
  EXPECT_TRUE(router.Ask(3, OfVm(), Note()).ok());
  EXPECT_TRUE(rotations_.RunNext(true));
  EXPECT_EQ(answers_, std::vector<std::string>{"OK"});
  router.Remove(3);
  EXPECT_TRUE(absl::IsUnavailable(router.Ask(3, OfVm(), Note())));
}

}  // namespace
}  // namespace sideband::daemon
