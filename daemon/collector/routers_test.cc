// SPDX-License-Identifier: Apache-2.0
#include "daemon/collector/routers.h"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "daemon/base/clock.h"
#include "daemon/base/retry_after.h"
#include "daemon/mailbox/fake_mailbox.h"
#include "daemon/mailbox/register_port.h"
#include "daemon/metrics/expect_metric.h"
#include "daemon/metrics/self_metrics.h"
#include "daemon/snapshot/fake_topology.h"
#include "proto/base/wait_until.h"
#include "proto/mailbox/extension.h"
#include "proto/mailbox/word.h"

namespace sideband::daemon {
namespace {

using mailbox::MailboxStatus;
using mailbox::Opcode;
using mailbox::TriggerStep;

struct Served {
  std::function<void()> call;
};

TEST(DeviceDirectoryTest, LeadsToTheDevicesThatAreServed) {
  DeviceDirectory<Served> devices;
  Served served;
  EXPECT_FALSE(devices.Use(3));
  devices.Add(3, served);
  EXPECT_EQ(devices.Use(3).operator->(), &served);
  EXPECT_FALSE(devices.Use(4));
  devices.Remove(3);
  devices.Remove(3);
  EXPECT_FALSE(devices.Use(3));
}

// A function that is called may use the directory itself.
TEST(DeviceDirectoryTest, HoldsNoLockWhileADeviceIsUsed) {
  DeviceDirectory<Served> devices;
  Served other, served{[&] {
    devices.Add(4, other);
    devices.Remove(4);
  }};
  devices.Add(3, served);
  devices.Use(3)->call();
}

TEST(DeviceDirectoryTest, ADeviceStaysWhileItIsUsed) {
  DeviceDirectory<Served> devices;
  absl::Notification used, goes_on;
  std::atomic<bool> has_ended = false;
  Served served{[&] {
    used.Notify();
    WaitUntil(goes_on, "the removal to begin");
    has_ended = true;
  }};
  devices.Add(3, served);
  std::thread user([&] { devices.Use(3)->call(); });
  WaitUntil(used, "the device to be used");
  std::thread remover([&] {
    devices.Remove(3);
    EXPECT_TRUE(has_ended);
  });
  WaitUntil([&] { return !devices.Use(3); }, "the removal to begin");
  EXPECT_FALSE(has_ended);
  goes_on.Notify();
  const TimeLimit limit("the end of the use and of the removal");
  user.join();
  remover.join();
}

// A device with one feature, and what answers are as text.
class RouterTest : public testing::Test {
 protected:
  static constexpr size_t kDevice = 0;

  RouterTest(BusJobKind kind, uint32_t features) : kind_(kind) {
    device_.version = mailbox::ExtensionVersion::kTwo;
    device_.features |= features;
    buses_.Add(kDevice, jobs_);
  }
  ~RouterTest() override {
    jobs_.Close();
    buses_.Remove(kDevice);
  }

  void Publish(uint64_t boot_id, std::shared_ptr<const Topology> topology, mailbox::Snapshot data = {}) {
    auto snapshot = std::make_shared<DeviceSnapshot>();
    snapshot->data = std::move(data);
    snapshot->data.boot_id = boot_id;
    snapshot->topology = std::move(topology);
    store_.Publish(kDevice, std::move(snapshot));
  }
  static std::shared_ptr<const Topology> Changed(const std::function<void(mailbox::Catalog& catalog)>& change,
                                                 bool with_secret = false) {
    mailbox::Catalog catalog = SomeCatalog(with_secret);
    change(catalog);
    return std::make_shared<Topology>(catalog, /*hash=*/5);
  }
  static std::shared_ptr<const Topology> Same() {
    return Changed([](mailbox::Catalog&) {});
  }
  // Notes an answer: the value, if there is one, or the code.
  auto Note() {
    return [this](const auto& answer) {
      if constexpr (std::is_same_v<decltype(answer), const absl::Status&>) {
        answers_.push_back(absl::StatusCodeToString(answer.code()));
      } else {
        answers_.push_back(answer.ok() ? absl::StrCat(*answer) : absl::StatusCodeToString(answer.status().code()));
      }
    };
  }
  bool RunNext(bool is_readable = true) { return jobs_.RunNext(kind_, is_readable, absl::InfiniteDuration()); }

  const BusJobKind kind_;
  MailboxStatus status_ = MailboxStatus::kSuccess;  // of the device's answers
  FakeMailbox device_;
  RegisterPort port_{device_, FakeMailbox::kAddress, [](absl::string_view) {}};
  MailboxSession session_{port_, [](absl::Duration) {}};
  Store store_{{DeviceInfo{.name = "gpu0"}}};
  std::unique_ptr<SelfMetrics> metrics_ = *SelfMetrics::Create({.version = "test"});
  int wakes_ = 0;
  FakeClock clock_{absl::FromUnixSeconds(1'700'000'000)};
  BusJobs jobs_{session_, clock_, [this] { ++wakes_; }};
  BusDirectory buses_;
  std::vector<std::string> answers_;
};

class PeekRouterTest : public RouterTest {
 protected:
  PeekRouterTest() : RouterTest(BusJobKind::kPeek, mailbox::kPeekFeature) {}

  PeekRouter router_{buses_, store_, *metrics_, clock_};
};

TEST_F(PeekRouterTest, PeeksCanBeSwitchedOff) {
  store_.SetDevices({{kDevice, std::make_shared<DeviceInfo>(DeviceInfo{.name = "gpu0", .peek_bus_share = 0})}});
  const auto ticket = router_.Peek(kDevice, {.events = {1}}, [](const absl::StatusOr<PeekedBlock>&) {});
  EXPECT_EQ(ticket.status(), absl::FailedPreconditionError("peeks are switched off"));
  ExpectMetric(*metrics_, "sideband_peeks_total{code=\"FAILED_PRECONDITION\",device=\"gpu0\"} 1");
}

class TriggerRouterTest : public RouterTest {
 protected:
  TriggerRouterTest() : RouterTest(BusJobKind::kTrigger, 0) {
    device_.answer = [this](const FakeMailbox::Command& command) -> std::optional<FakeMailbox::Reply> {
      if (command.word.opcode != Opcode::kTrigger) return std::nullopt;
      if (command.word.arg1 != static_cast<uint8_t>(TriggerStep::kStart)) {
        return FakeMailbox::Reply{.status = status_, .data = ++number_};
      }
      return FakeMailbox::Reply{.status = status_, .data = command.data, .extended_data = command.extended_data};
    };
    EXPECT_TRUE(session_.CheckExtension().ok());
  }

  const size_t kWaitingMax = LimitsOf(BusJobKind::kTrigger).waiting_max;
  uint32_t number_ = 6;
  TriggerRouter router_{buses_};
};

TEST_F(TriggerRouterTest, ARequestIsACommandOfTheCollector) {
  EXPECT_FALSE(RunNext());
  ASSERT_TRUE(router_.Trigger(kDevice, TriggerStep::kOnce, 0, Note()).ok());
  ASSERT_TRUE(router_.Trigger(kDevice, TriggerStep::kStart, uint64_t{2} << 32 | 5, Note()).ok());
  EXPECT_EQ(wakes_, 2);
  EXPECT_TRUE(answers_.empty()) << "the bus is the collector's";
  EXPECT_TRUE(RunNext());
  EXPECT_TRUE(RunNext());
  EXPECT_FALSE(RunNext());
  EXPECT_EQ(answers_, (std::vector<std::string>{"7", "5"}));
  const auto commands = device_.CommandsOf(Opcode::kTrigger);
  ASSERT_EQ(commands.size(), 2u);
  EXPECT_EQ(commands[0].word.arg1, 0);
  EXPECT_EQ(commands[1].word.arg1, 1);
  EXPECT_EQ(commands[1].data, 5u);
  EXPECT_EQ(commands[1].extended_data, 2u);
}

TEST_F(TriggerRouterTest, WhatTheDeviceRefusesIsAnError) {
  for (const MailboxStatus status : {MailboxStatus::kErrData, MailboxStatus::kErrOpcode}) {
    status_ = status;
    ASSERT_TRUE(router_.Trigger(kDevice, TriggerStep::kStart, 1, Note()).ok());
    RunNext();
  }
  EXPECT_EQ(answers_, (std::vector<std::string>{"INVALID_ARGUMENT", "UNIMPLEMENTED"}));
}

TEST_F(TriggerRouterTest, APeriodWithAWordOfAnotherControllerIsNotAccepted) {
  for (const uint8_t code : {mailbox::kOwnRegisters.data, mailbox::kOwnRegisters.extended_data}) {
    device_.before = [this, code](const smbus::Transfer& transfer) {
      if (!IsWriteOf(transfer, mailbox::kOwnRegisters.command)) return;
      EXPECT_TRUE(port_.Write(code, 9).ok());
    };
    ASSERT_TRUE(router_.Trigger(kDevice, TriggerStep::kStart, uint64_t{2} << 32 | 5, Note()).ok());
    RunNext();
  }
  EXPECT_EQ(answers_, (std::vector<std::string>{"ABORTED", "ABORTED"}));
}

TEST_F(TriggerRouterTest, AnUnreadableDeviceIsNotTriggered) {
  ASSERT_TRUE(router_.Trigger(kDevice, TriggerStep::kOnce, 0, Note()).ok());
  EXPECT_TRUE(RunNext(/*is_readable=*/false));
  EXPECT_EQ(answers_, std::vector<std::string>{"UNAVAILABLE"});
  EXPECT_TRUE(device_.CommandsOf(Opcode::kTrigger).empty());
}

TEST_F(TriggerRouterTest, FewWaitAndNoneAfterTheEnd) {
  for (size_t i = 0; i < kWaitingMax; ++i) {
    ASSERT_TRUE(router_.Trigger(kDevice, TriggerStep::kOnce, 0, Note()).ok());
  }
  EXPECT_TRUE(absl::IsResourceExhausted(router_.Trigger(kDevice, TriggerStep::kOnce, 0, Note())));
  jobs_.Close();
  EXPECT_EQ(answers_, std::vector<std::string>(kWaitingMax, "UNAVAILABLE"));
  EXPECT_TRUE(absl::IsUnavailable(router_.Trigger(kDevice, TriggerStep::kOnce, 0, Note())));
}

TEST_F(TriggerRouterTest, TheRouterLeadsToTheDevicesThatAreRead) {
  EXPECT_TRUE(absl::IsUnavailable(router_.Trigger(3, TriggerStep::kOnce, 0, Note())));
  EXPECT_TRUE(router_.Trigger(kDevice, TriggerStep::kOnce, 0, Note()).ok());
  EXPECT_TRUE(RunNext());
  EXPECT_EQ(answers_, std::vector<std::string>{"7"});
  buses_.Remove(kDevice);
  EXPECT_TRUE(absl::IsUnavailable(router_.Trigger(kDevice, TriggerStep::kOnce, 0, Note())));
}

class RotationRouterTest : public RouterTest {
 protected:
  RotationRouterTest() : RouterTest(BusJobKind::kRotation, mailbox::kRotationFeature) {
    device_.answer = [this](const FakeMailbox::Command& command) -> std::optional<FakeMailbox::Reply> {
      const bool is_version = command.word.opcode == Opcode::kDiscover && command.word.arg1 == 0;
      if (is_version)
        return FakeMailbox::Reply{.data = 2 | mailbox::kWindowBytes << 8 | 16u << 16, .extended_data = 0x69F};
      if (command.word.opcode != Opcode::kRotate) return std::nullopt;
      return FakeMailbox::Reply{.status = status_, .data = command.data, .extended_data = command.extended_data};
    };
    EXPECT_TRUE(session_.CheckExtension().ok());
    Publish(kBoot, Same());
    topology_ = store_.Newest(kDevice)->topology;
  }

  RotationOrder OfVm(size_t asker = 0) const { return {kBoot, topology_, LearnRequest{.vm = 1}, asker}; }
  RotationOrder OfContext() const { return {kBoot, topology_, LearnRequest{.vm = 1, .context = 0}}; }
  std::string Answer(const RotationOrder& order, bool is_readable = true) {
    EXPECT_TRUE(router_.Ask(kDevice, order, Note()).ok());
    EXPECT_TRUE(RunNext(is_readable));
    return answers_.empty() ? "none" : answers_.back();
  }

  static constexpr uint64_t kBoot = 7;
  const size_t kWaitingMax = LimitsOf(BusJobKind::kRotation).waiting_max;
  const size_t kWaitingOfAskerMax = LimitsOf(BusJobKind::kRotation).waiting_of_asker_max;
  RotationRouter router_{buses_, store_};
  std::shared_ptr<const Topology> topology_;
};

TEST_F(RotationRouterTest, AnOrderIsACommandOfTheCollector) {
  EXPECT_FALSE(RunNext());
  ASSERT_TRUE(router_.Ask(kDevice, OfVm(), Note()).ok());
  ASSERT_TRUE(router_.Ask(kDevice, OfContext(), Note()).ok());
  EXPECT_EQ(wakes_, 2);
  EXPECT_TRUE(answers_.empty()) << "the bus is the collector's";
  EXPECT_TRUE(RunNext());
  EXPECT_TRUE(RunNext());
  EXPECT_EQ(answers_, (std::vector<std::string>{"OK", "OK"}));
  const auto commands = device_.CommandsOf(Opcode::kRotate);
  ASSERT_EQ(commands.size(), 2u);
  EXPECT_EQ(commands[0].data, uint32_t{mailbox::kNoContext} << 16 | 1);
  EXPECT_EQ(commands[1].word.arg1, static_cast<uint8_t>(mailbox::RotateStep::kLearn));
  EXPECT_EQ(commands[1].data, 1u);
}

TEST_F(RotationRouterTest, WhatTheDeviceRefusesIsAnError) {
  status_ = MailboxStatus::kErrData;
  EXPECT_EQ(Answer(OfContext()), "NOT_FOUND");
}

TEST_F(RotationRouterTest, AnotherVmOfTheNumberKeepsItsTurns) {
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

TEST_F(RotationRouterTest, AnUnreadableDeviceIsNotAsked) {
  EXPECT_EQ(Answer(OfVm(), /*is_readable=*/false), "UNAVAILABLE");
  EXPECT_TRUE(device_.CommandsOf(Opcode::kRotate).empty());
}

TEST_F(RotationRouterTest, FewWaitAndNoneAfterTheEnd) {
  clock_.Advance(absl::Seconds(1));
  for (size_t i = 0; i < kWaitingMax; ++i) {
    ASSERT_TRUE(router_.Ask(kDevice, OfVm(/*asker=*/i), Note()).ok()) << i;
    clock_.Advance(absl::Seconds(1));
  }
  EXPECT_TRUE(absl::IsResourceExhausted(router_.Ask(kDevice, OfVm(99), Note())));
  jobs_.Close();
  EXPECT_EQ(answers_, std::vector<std::string>(kWaitingMax, "UNAVAILABLE"));
  EXPECT_TRUE(absl::IsUnavailable(router_.Ask(kDevice, OfVm(), Note())));
}

TEST_F(RotationRouterTest, AnAskerHasItsPartOfTheBus) {
  constexpr size_t kBusy = 1, kOther = 2;
  ASSERT_TRUE(router_.Ask(kDevice, OfVm(kOther), Note()).ok());
  ASSERT_TRUE(router_.Ask(kDevice, OfVm(kBusy), Note()).ok());
  absl::Status refused;
  for (int i = 0; i < 4 && refused.ok(); ++i) refused = router_.Ask(kDevice, OfVm(kBusy), Note());
  EXPECT_TRUE(absl::StartsWith(refused.message(), "the bus time for changes of the device is used up")) << refused;
  EXPECT_EQ(RetryAfter(refused), absl::Seconds(1)) << "whole seconds";
  clock_.Advance(absl::Seconds(1));
  EXPECT_TRUE(router_.Ask(kDevice, OfVm(kOther), Note()).ok());
  EXPECT_TRUE(router_.Ask(kDevice, OfVm(kBusy), Note()).ok());
}

TEST_F(RotationRouterTest, AnOrderIsChargedAsItWas) {
  for (int i = 0; i < 100; ++i) ASSERT_EQ(Answer(OfVm()), "OK") << "it took no time";
}

TEST_F(RotationRouterTest, FewOrdersOfAnAskerWait) {
  for (size_t i = 0; i < kWaitingOfAskerMax; ++i) {
    ASSERT_TRUE(router_.Ask(kDevice, OfVm(), Note()).ok());
    clock_.Advance(absl::Seconds(1));
  }
  EXPECT_TRUE(absl::IsResourceExhausted(router_.Ask(kDevice, OfVm(), Note())));
  EXPECT_TRUE(router_.Ask(kDevice, OfVm(/*asker=*/5), Note()).ok());
}

TEST_F(RotationRouterTest, TheRouterLeadsToTheDevicesThatAreRead) {
  EXPECT_TRUE(absl::IsUnavailable(router_.Ask(3, OfVm(), Note())));
  EXPECT_TRUE(router_.Ask(kDevice, OfVm(), Note()).ok());
  EXPECT_TRUE(RunNext());
  EXPECT_EQ(answers_, std::vector<std::string>{"OK"});
  buses_.Remove(kDevice);
  EXPECT_TRUE(absl::IsUnavailable(router_.Ask(kDevice, OfVm(), Note())));
}

// A device that seals, and has the epoch 7 of each VM.
class SealRouterTest : public RouterTest {
 protected:
  SealRouterTest() : RouterTest(BusJobKind::kSeal, mailbox::kSealingFeature) {
    device_.answer = [this](const FakeMailbox::Command& command) -> std::optional<FakeMailbox::Reply> {
      if (command.word.opcode != Opcode::kSeal) return std::nullopt;
      return FakeMailbox::Reply{.status = status_, .data = 7, .extended_data = command.data};
    };
    EXPECT_TRUE(session_.CheckExtension().ok());
    auto snapshot = std::make_shared<DeviceSnapshot>();
    snapshot->topology = std::make_shared<const Topology>(SomeCatalog(true), 77);
    snapshot->data = SomeSnapshot();
    snapshot->sealed_by_device = {kSecretVm};
    store_.Publish(kDevice, snapshot);
  }

  SealedVm Vm() const {
    const mailbox::VmInfo vm = SomeCatalog(true).vms[1];
    return {.device = kDevice, .boot_id = SomeSnapshot().boot_id, .vm = vm.uuid, .vm_id = vm.id};
  }
  absl::Status Rotate(const SealedVm& vm) { return router_.Rotate(vm, Note()); }

  SealRouter router_{buses_, store_};
};

TEST_F(SealRouterTest, WorkIsTheCollectors) {
  EXPECT_FALSE(RunNext());
  ASSERT_TRUE(Rotate(Vm()).ok());
  EXPECT_EQ(wakes_, 1);
  EXPECT_TRUE(answers_.empty()) << "the bus is the collector's";
  EXPECT_TRUE(RunNext());
  EXPECT_EQ(answers_, std::vector<std::string>{"7"});
  const auto commands = device_.CommandsOf(Opcode::kSeal);
  ASSERT_EQ(commands.size(), 1u);
  EXPECT_EQ(commands[0].word.arg1, static_cast<uint8_t>(mailbox::SealStep::kEpoch));
  EXPECT_EQ(commands[0].data, kSecretVm);
}

TEST_F(SealRouterTest, WhatTheDeviceLacksIsNotFound) {
  status_ = MailboxStatus::kErrData;
  ASSERT_TRUE(Rotate(Vm()).ok());
  RunNext();
  EXPECT_EQ(answers_, std::vector<std::string>{"NOT_FOUND"});
}

TEST_F(SealRouterTest, ADeviceThatDoesNotAnswerIsUnavailable) {
  ASSERT_TRUE(Rotate(Vm()).ok());
  RunNext(/*is_readable=*/false);
  ASSERT_TRUE(Rotate(Vm()).ok());
  jobs_.Close();
  EXPECT_TRUE(absl::IsUnavailable(Rotate(Vm())));
  EXPECT_EQ(answers_, (std::vector<std::string>{"UNAVAILABLE", "UNAVAILABLE"}));
  EXPECT_TRUE(device_.CommandsOf(Opcode::kSeal).empty());
}

TEST_F(SealRouterTest, AnotherVmOfThatNumberIsNotMeant) {
  SealedVm of_last_boot = Vm();
  ++of_last_boot.boot_id;
  SealedVm another = Vm();
  another.vm = Uuid{};
  for (const SealedVm& vm : {of_last_boot, another}) {
    ASSERT_TRUE(Rotate(vm).ok());
    RunNext();
  }
  EXPECT_EQ(answers_, (std::vector<std::string>{"UNAVAILABLE", "UNAVAILABLE"}));
  EXPECT_TRUE(device_.CommandsOf(Opcode::kSeal).empty());
  SealedVm elsewhere = Vm();
  elsewhere.device = kDevice + 1;
  EXPECT_TRUE(absl::IsUnavailable(Rotate(elsewhere))) << "a device that is no longer read";
}

TEST_F(SealRouterTest, OneVmCannotKeepOthersWaiting) {
  for (size_t i = 0; i < LimitsOf(kind_).waiting_of_asker_max; ++i) ASSERT_TRUE(Rotate(Vm()).ok()) << i;
  EXPECT_TRUE(absl::IsResourceExhausted(Rotate(Vm())));
  SealedVm other = Vm();
  other.vm_id = kOpenVm;
  EXPECT_TRUE(Rotate(other).ok());
}

TEST_F(SealRouterTest, TheBussTimeIsShared) {
  device_.answer = [this](const FakeMailbox::Command& command) -> std::optional<FakeMailbox::Reply> {
    if (command.word.opcode != Opcode::kSeal) return std::nullopt;
    clock_.Advance(absl::Milliseconds(400));
    return FakeMailbox::Reply{.data = 7, .extended_data = command.data};
  };
  ASSERT_TRUE(Rotate(Vm()).ok());
  RunNext();
  EXPECT_TRUE(absl::IsResourceExhausted(Rotate(Vm()))) << "it has used the bus for longer than its share";
  clock_.Advance(absl::Seconds(8));
  EXPECT_TRUE(Rotate(Vm()).ok());
}

constexpr MarkScope kScope{.boot_id = 7, .vm = 1, .context = 2, .generation = 9};
constexpr uint64_t kRequestedNs = uint64_t{3} << 32 | 5;

class MarkRouterTest : public RouterTest {
 protected:
  MarkRouterTest() : RouterTest(BusJobKind::kMark, mailbox::kClocksFeature) {
    EXPECT_TRUE(session_.CheckExtension().ok());
    device_.commands.clear();
    device_.answer = [this](const FakeMailbox::Command&) {
      return FakeMailbox::Reply{
          .status = status_, .data = static_cast<uint32_t>(kRequestedNs), .extended_data = kRequestedNs >> 32};
    };
    PublishScope(kScope);
  }

  void PublishScope(const MarkScope& scope) {
    mailbox::Snapshot data;
    data.blocks = {{.vm = scope.vm, .context = scope.context, .generation = scope.generation}};
    Publish(scope.boot_id, Same(), std::move(data));
  }
  std::string Answer(const BookmarkOrder& order, bool is_readable = true) {
    EXPECT_TRUE(router_.Ask(kDevice, order, Note()).ok());
    EXPECT_TRUE(RunNext(is_readable));
    return answers_.empty() ? "none" : answers_.back();
  }

  MarkRouter router_{buses_, store_, *metrics_};
};

TEST_F(MarkRouterTest, AMarkIsABookmarkOfItsScope) {
  EXPECT_EQ(Answer({.scope = kScope, .bookmark = 17}), absl::StrCat(kRequestedNs));
  EXPECT_EQ(wakes_, 1);
  EXPECT_FALSE(RunNext());
  const auto commands = device_.CommandsOf(Opcode::kTrigger);
  ASSERT_EQ(commands.size(), 1u);
  EXPECT_EQ(commands[0].data, uint32_t{kScope.context} << 16 | kScope.vm);
  EXPECT_EQ(commands[0].extended_data, 17u);
  ExpectMetric(*metrics_, "sideband_marks_total{code=\"OK\",device=\"gpu0\"} 1");
}

TEST_F(MarkRouterTest, NothingIsAskedOfANumberThatIsOfAnotherByNow) {
  for (auto change : {+[](MarkScope& scope) { ++scope.boot_id; }, +[](MarkScope& scope) { ++scope.generation; },
                      +[](MarkScope& scope) { ++scope.context; }}) {
    BookmarkOrder order{.scope = kScope, .bookmark = 17};
    change(order.scope);
    EXPECT_EQ(Answer(order), "UNAVAILABLE");
  }
  EXPECT_EQ(Answer({.scope = kScope, .bookmark = 17}, /*is_readable=*/false), "UNAVAILABLE");
  EXPECT_TRUE(device_.CommandsOf(Opcode::kTrigger).empty());
}

TEST_F(MarkRouterTest, WhatTheDeviceRefusesIsAnError) {
  status_ = MailboxStatus::kErrAgain;
  EXPECT_EQ(Answer({.scope = kScope, .bookmark = 17}), "RESOURCE_EXHAUSTED");
  status_ = MailboxStatus::kErrNotSupported;
  EXPECT_EQ(Answer({.scope = kScope, .bookmark = 17}), "FAILED_PRECONDITION");
}

TEST_F(MarkRouterTest, MarksOfOthersAreNotFelt) {
  for (size_t i = 0; i < LimitsOf(kind_).waiting_of_asker_max; ++i)
    EXPECT_TRUE(router_.Ask(kDevice, {.scope = kScope}, Note()).ok());
  EXPECT_TRUE(absl::IsResourceExhausted(router_.Ask(kDevice, {.scope = kScope}, Note())));
  MarkScope other = kScope;
  other.vm = 2;
  EXPECT_TRUE(router_.Ask(kDevice, {.scope = other}, Note()).ok());
}

TEST_F(MarkRouterTest, VmsTakeTurns) {
  std::vector<uint32_t> ran;
  device_.answer = [&](const FakeMailbox::Command& command) {
    ran.push_back(command.extended_data);
    return FakeMailbox::Reply{.data = command.data, .extended_data = 0};
  };
  MarkScope other = kScope;
  other.vm = 2;
  for (uint32_t bookmark = 1; bookmark <= 3; ++bookmark) {
    ASSERT_TRUE(router_.Ask(kDevice, {.scope = kScope, .bookmark = bookmark}, Note()).ok());
  }
  ASSERT_TRUE(router_.Ask(kDevice, {.scope = other, .bookmark = 9}, Note()).ok());
  while (RunNext()) continue;
  EXPECT_EQ(ran, (std::vector<uint32_t>{1, 2, 3})) << "the other VM is not in the snapshot";
  EXPECT_EQ(answers_[1], "UNAVAILABLE") << "its turn was the second";
}

TEST_F(MarkRouterTest, AVmHasItsPartOfTheBus) {
  store_.SetDevices({{kDevice, std::make_shared<DeviceInfo>(DeviceInfo{.name = "gpu0", .bus_hz = 100'000})}});
  PublishScope(kScope);
  absl::Status asked;
  int marks = 0;
  while (marks < 1000 && (asked = router_.Ask(kDevice, {.scope = kScope, .bookmark = 1}, Note())).ok()) {
    ++marks;
    RunNext();
  }
  ASSERT_TRUE(absl::IsResourceExhausted(asked)) << marks;
  clock_.Advance(*RetryAfter(asked));
  EXPECT_TRUE(router_.Ask(kDevice, {.scope = kScope, .bookmark = 1}, Note()).ok());
  MarkScope other = kScope;
  other.vm = 2;
  EXPECT_TRUE(router_.Ask(kDevice, {.scope = other, .bookmark = 1}, Note()).ok()) << "its part is its own";
}

TEST_F(MarkRouterTest, AllThatWaitAreAnsweredAtTheEnd) {
  EXPECT_TRUE(router_.Ask(kDevice, {.scope = kScope}, Note()).ok());
  jobs_.Close();
  EXPECT_EQ(answers_, std::vector<std::string>{"UNAVAILABLE"});
  EXPECT_TRUE(absl::IsUnavailable(router_.Ask(kDevice, {.scope = kScope}, Note())));
  buses_.Remove(kDevice);
  EXPECT_TRUE(absl::IsUnavailable(router_.Ask(kDevice, {.scope = kScope}, Note())));
}

}  // namespace

}  // namespace sideband::daemon
