// SPDX-License-Identifier: Apache-2.0
//
// The operator's turns on the microcontroller's firmware: each VM has them once, and none keeps another from them.
#include "daemon/counting/rotation_follower.h"

#include <gtest/gtest.h>

#include <vector>

#include "absl/time/time.h"
#include "daemon/audit/fake_audit_sink.h"
#include "daemon/mailbox/mailbox_session.h"
#include "daemon/mailbox/register_port.h"
#include "proto/smbus/bus_name.h"
#include "secure_mcu/firmware/fake_device.h"
#include "secure_mcu/firmware/firmware.h"
#include "secure_mcu/firmware/mailbox_target.h"
#include "secure_mcu/firmware/virtual_bus.h"
#include "tests/conformance/in_process_bus.h"

namespace sideband::tests {
namespace {

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
