// SPDX-License-Identifier: Apache-2.0
//
// The daemon's plans of counter rotation on the microcontroller's firmware: a plan is applied as it was asked for, or
// not at all, whatever the wire and other controllers do. The operator's turns: each VM has them once, and none keeps
// another from them.
#include "proto/mailbox/rotation.h"

#include <gtest/gtest.h>

#include <random>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "daemon/audit/fake_audit_sink.h"
#include "daemon/counting/followers.h"
#include "daemon/mailbox/device_commands.h"
#include "daemon/mailbox/mailbox_session.h"
#include "daemon/mailbox/register_port.h"
#include "proto/base/wait_until.h"
#include "proto/mailbox/catalog.h"
#include "proto/mailbox/extension.h"
#include "proto/smbus/bus_name.h"
#include "secure_mcu/firmware/fake_device.h"
#include "secure_mcu/firmware/firmware.h"
#include "secure_mcu/firmware/mailbox_target.h"
#include "sim/bus/faulty_bus.h"
#include "tests/conformance/in_process_bus.h"

namespace sideband::tests {
namespace {

using mailbox::RotationPlan;
using mailbox::RotationRequest;

constexpr size_t kEvents = 1;  // of the fake device

struct RotationController {
  explicit RotationController(smbus::Bus& bus, size_t block_bytes = smbus::kBlockBytesMax) : wire(bus, block_bytes) {}

  InProcessTransport wire;
  daemon::RegisterPort port{wire, smbus::kMailboxAddress, [](absl::string_view) {}};
  daemon::MailboxSession session{port, [](absl::Duration) {}};
  daemon::RotationWriter writer{session};
};

RotationRequest RequestOf(uint16_t contexts) {
  RotationRequest request{.vm = 1, .contexts = {}, .settings = {}, .events = {1}, .always = {}};
  for (uint16_t context = 0; context < contexts; ++context) request.contexts.push_back(context);
  return request;
}

RotationPlan PlanOf(uint16_t number) {
  RotationPlan plan{.number = number, .sets = {}, .derived = {}, .settings = {}};
  plan.sets.assign(60, {1});
  return plan;
}

class RotationTest : public testing::Test {
 protected:
  RotationTest() {
    gpu_.has_rotation = true;
    bus_.Connect(smbus::kMailboxAddress, target_);
  }

  mcu::FakeDevice gpu_;
  mcu::FirmwarePair firmware_{gpu_, mcu::PowerModel({}), mcu::Persona::kSideband, mailbox::ExtensionVersion::kTwo};
  mcu::MailboxTarget target_{
      smbus::kMailboxAddress, firmware_.shared(), {.registers = {}, .own_handler = firmware_.own()}};
  mcu::VirtualBus bus_;
  absl::Duration elapsed_;
};

TEST_F(RotationTest, APlanIsAppliedThroughWindowsOfAnyWidth) {
  for (const size_t width : {1, 31, 32, 255}) {
    RotationController controller(bus_, width);
    ASSERT_TRUE(controller.session.CheckExtension().ok());
    EXPECT_TRUE(controller.session.Has(mailbox::kRotationFeature));
    EXPECT_EQ(controller.writer.Apply(RequestOf(3000)), absl::OkStatus()) << width;
    EXPECT_EQ(gpu_.requests, std::vector{RequestOf(3000)}) << width;
    gpu_.requests.clear();
  }
}

TEST_F(RotationTest, PlansAreReadInSpans) {
  gpu_.plans[{1, mailbox::kNoContext}] = PlanOf(0);
  gpu_.plans[{1, 2}] = PlanOf(5);
  RotationController controller(bus_, 32);
  ASSERT_TRUE(controller.session.CheckExtension().ok());
  EXPECT_EQ(*controller.writer.Read(1, mailbox::kNoContext, kEvents), PlanOf(0));
  EXPECT_EQ(*controller.writer.Read(1, 2, kEvents), PlanOf(5));
  EXPECT_TRUE(absl::IsNotFound(controller.writer.Read(2, 0, kEvents).status()));
}

TEST_F(RotationTest, LearnAndPass) {
  RotationController controller(bus_);
  ASSERT_TRUE(controller.session.CheckExtension().ok());
  EXPECT_EQ(controller.writer.Learn(1, 7), absl::OkStatus());
  EXPECT_EQ(controller.writer.SetPass(1, mailbox::kNoContext, 12), absl::OkStatus());
  EXPECT_EQ(gpu_.learned, (std::vector<mcu::FakeDevice::Scope>{{1, 7}}));
  EXPECT_EQ((gpu_.passes[{1, mailbox::kNoContext}]), 12u);
  EXPECT_TRUE(absl::IsNotFound(controller.writer.Learn(3, 7)));
}

TEST_F(RotationTest, RefusalsAreNamed) {
  BusyBus bus(bus_, elapsed_);
  RotationController controller(bus);
  ASSERT_TRUE(controller.session.CheckExtension().ok());
  RotationRequest other = RequestOf(0);
  other.vm = 2;
  size_t transactions = 0;
  bus.meanwhile = [&] { ++transactions; };
  ASSERT_TRUE(controller.writer.Apply(RequestOf(0)).ok());
  const size_t of_one = std::exchange(transactions, 0);
  EXPECT_TRUE(absl::IsInvalidArgument(controller.writer.Apply(other)));
  EXPECT_LE(transactions, of_one) << "it is not uploaded again";
  EXPECT_TRUE(absl::IsInvalidArgument(controller.writer.Apply(RequestOf(10'000)))) << "more than the buffer holds";
  EXPECT_EQ(gpu_.requests, std::vector{RequestOf(0)});
}

TEST_F(RotationTest, ADeviceWithoutRotationIsNotAsked) {
  gpu_.has_rotation = false;
  RotationController controller(bus_);
  ASSERT_TRUE(controller.session.CheckExtension().ok());
  EXPECT_FALSE(controller.session.Has(mailbox::kRotationFeature));
  EXPECT_TRUE(absl::IsUnimplemented(controller.writer.Apply(RequestOf(1))));
  EXPECT_TRUE(absl::IsUnimplemented(controller.writer.Read(1, 0, kEvents).status()));
}

TEST_F(RotationTest, ABadWireDelaysAPlanButDoesNotChangeIt) {
  sim::FaultPlan plan{.seed = 7};
  for (const sim::FaultKind kind : {sim::FaultKind::kAddressNack, sim::FaultKind::kDataNack,
                                    sim::FaultKind::kArbitrationLost, sim::FaultKind::kBitFlip, sim::FaultKind::kBadPec,
                                    sim::FaultKind::kShortBlock, sim::FaultKind::kLongBlock, sim::FaultKind::kStatus}) {
    plan.rules.push_back({.kind = kind, .probability = 0.004});
  }
  sim::FaultyBus faulty(bus_, plan);
  RotationController controller(faulty, 32);
  WaitUntil([&] { return controller.session.CheckExtension().ok(); }, "the extension on a bad wire");
  gpu_.plans[{1, 2}] = PlanOf(5);
  int applied = 0, read = 0;
  for (uint16_t i = 0; i < 200; ++i) {
    gpu_.requests.clear();
    const bool is_applied = controller.writer.Apply(RequestOf(i)).ok();
    applied += is_applied ? 1 : 0;
    EXPECT_TRUE(!is_applied || !gpu_.requests.empty());
    for (const RotationRequest& request : gpu_.requests) EXPECT_EQ(request, RequestOf(i));
    const auto there = controller.writer.Read(1, 2, kEvents);
    read += there.ok() ? 1 : 0;
    EXPECT_TRUE(!there.ok() || *there == PlanOf(5)) << there.status();
  }
  EXPECT_GT(applied, 100);
  EXPECT_GT(read, 100);
  EXPECT_GT(faulty.count(sim::FaultKind::kBitFlip), 20u);
}

// Two controllers, of which one acts before transactions of the other at random.
TEST_F(RotationTest, TwoControllersDoNotMixTheirPlans) {
  std::mt19937_64 random(1);
  int applied = 0;
  for (int i = 0; i < 300; ++i) {
    BusyBus bus(bus_, elapsed_);
    RotationController one(bus, 32), two(bus_, 32);
    ASSERT_TRUE(one.session.CheckExtension().ok() && two.session.CheckExtension().ok());
    gpu_.requests.clear();
    bus.meanwhile = [&] {
      if (random() % 40 == 0) two.writer.Apply(RequestOf(200)).IgnoreError();
    };
    const bool is_applied = one.writer.Apply(RequestOf(150)).ok();
    applied += is_applied ? 1 : 0;
    bool is_there = false;
    for (const RotationRequest& request : gpu_.requests) {
      is_there |= request == RequestOf(150);
      EXPECT_TRUE(request == RequestOf(150) || request == RequestOf(200));
    }
    EXPECT_TRUE(is_there || !is_applied);
  }
  EXPECT_GT(applied, 150);
}

using mailbox::kNoContext;

constexpr uint64_t kBoot = 7;

RotationFile FileOf(absl::Duration slot) {
  RotationFile file;
  file.path = "r.yaml";
  file.terms.stable_slot = file.terms.fluctuating_slot = slot;
  file.terms.interval = absl::Milliseconds(1);
  return file;
}

mailbox::VmInfo Vm(uint16_t id) {
  Uuid uuid;
  uuid.bytes[15] = static_cast<uint8_t>(id);
  return {.id = id, .uuid = uuid};
}

class RotationFollowerTest : public testing::Test {
 protected:
  RotationFollowerTest() {
    gpu_.has_rotation = true;
    bus_.Connect(smbus::kMailboxAddress, target_);
    catalog_.reference_clock_hz = 1'000'000'000;
    catalog_.events = {{.name = "busy_cycles", .unit = "cycles", .details = {.counting = mailbox::Counting::kRotated}}};
    catalog_.vms = {Vm(1), Vm(2), Vm(3)};
    catalog_.contexts = {{.vm = 3, .id = 5, .name = "c"}};
    gpu_.more_vms = {2, 3};
    EXPECT_TRUE(session_.CheckExtension().ok());
  }

  // The VMs that got turns by it.
  std::vector<uint16_t> Follow(daemon::RotationFollower& follower, const std::optional<RotationFile>& file,
                               uint64_t boot_id = kBoot) {
    gpu_.requests.clear();
    follower.Follow("gpu0", file, daemon::Topology(catalog_, /*hash=*/5), boot_id);
    std::vector<uint16_t> vms;
    for (const mailbox::RotationRequest& request : gpu_.requests) vms.push_back(request.vm);
    return vms;
  }
  static mailbox::RotationPlan PlanOf(uint16_t number) {
    return {.number = number, .sets = {{1}}, .derived = {}, .settings = {}};
  }

  mcu::FakeDevice gpu_;
  mcu::FirmwarePair firmware_{gpu_, mcu::PowerModel({}), mcu::Persona::kSideband, mailbox::ExtensionVersion::kTwo};
  mcu::MailboxTarget target_{
      smbus::kMailboxAddress, firmware_.shared(), {.registers = {}, .own_handler = firmware_.own()}};
  mcu::VirtualBus bus_;
  InProcessTransport wire_{bus_};
  daemon::RegisterPort port_{wire_, smbus::kMailboxAddress, [](absl::string_view) {}};
  daemon::MailboxSession session_{port_, [](absl::Duration) {}};
  daemon::FakeAuditSink audit_;
  mailbox::Catalog catalog_;
  daemon::RotationFollower follower_{session_, audit_};
  using Vms = std::vector<uint16_t>;
};

TEST_F(RotationFollowerTest, EachVmHasTheTurnsOnce) {
  const RotationFile file = FileOf(absl::Microseconds(50));
  EXPECT_EQ(Follow(follower_, file), (Vms{1, 2, 3}));
  EXPECT_EQ(Follow(follower_, file), Vms{});
  catalog_.vms.push_back(Vm(4));
  catalog_.vms[0].generation = 1;
  gpu_.more_vms.insert(4);
  EXPECT_EQ(Follow(follower_, file), (Vms{1, 4})) << "new ones";
  EXPECT_EQ(Follow(follower_, file, kBoot + 1), (Vms{1, 2, 3, 4}));
}

TEST_F(RotationFollowerTest, ARefusalIsOfOneVm) {
  gpu_.more_vms = {3};
  const RotationFile file = FileOf(absl::Microseconds(50));
  EXPECT_EQ(Follow(follower_, file), (Vms{1, 3}));
  gpu_.more_vms = {2, 3};
  EXPECT_EQ(Follow(follower_, file), Vms{}) << "not asked again";
  EXPECT_EQ(Follow(follower_, FileOf(absl::Microseconds(60))), (Vms{1, 2, 3})) << "other turns";
}

// docs/rotation.md: nothing changes where the daemon starts again.
TEST_F(RotationFollowerTest, ARestartedDaemonLeavesWhatWasChosen) {
  gpu_.plans[{1, kNoContext}] = PlanOf(0);
  gpu_.plans[{2, kNoContext}] = PlanOf(4);
  gpu_.plans[{3, kNoContext}] = PlanOf(0);
  gpu_.plans[{3, 5}] = PlanOf(6);
  const RotationFile file = FileOf(absl::Microseconds(50));
  EXPECT_EQ(Follow(follower_, file), Vms{1});
  EXPECT_EQ(Follow(follower_, file), Vms{});
  EXPECT_EQ(Follow(follower_, FileOf(absl::Microseconds(60))), (Vms{1, 2, 3})) << "a reload replaces it";
}

TEST_F(RotationFollowerTest, OtherLinesAreNoOtherTurns) {
  RotationFile file = FileOf(absl::Microseconds(50));
  file.events = {{.name = "busy_cycles", .line = 3}};
  EXPECT_EQ(Follow(follower_, file), (Vms{1, 2, 3}));
  file.path = "moved.yaml";
  file.line = 2;
  file.events[0].line = 4;
  EXPECT_EQ(Follow(follower_, file), Vms{});
  file.terms.step = 5;
  EXPECT_EQ(Follow(follower_, file), (Vms{1, 2, 3}));
}

TEST_F(RotationFollowerTest, AFileThatDoesNotFitAsksForNothing) {
  RotationFile file = FileOf(absl::Microseconds(50));
  file.events = {{.name = "no_cycles", .line = 3}};
  EXPECT_EQ(Follow(follower_, file), Vms{});
  EXPECT_EQ(Follow(follower_, std::nullopt), Vms{});
}

}  // namespace
}  // namespace sideband::tests
