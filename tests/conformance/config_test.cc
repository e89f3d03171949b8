// SPDX-License-Identifier: Apache-2.0
//
// The daemon's changes of who is counted, on the microcontroller's firmware and chip: the old configuration is in force
// or the new one, whatever the wire, resets and other controllers do (virtual-counters.md, law V9).
#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <utility>

#include "absl/time/time.h"
#include "daemon/base/clock.h"
#include "daemon/mailbox/device_commands.h"
#include "daemon/mailbox/mailbox_session.h"
#include "daemon/mailbox/register_port.h"
#include "daemon/mailbox/snapshot_reader.h"
#include "proto/mailbox/counting.h"
#include "proto/smbus/bus_name.h"
#include "secure_mcu/chip_file/chip_file.h"
#include "secure_mcu/device/live_device.h"
#include "secure_mcu/firmware/firmware.h"
#include "secure_mcu/firmware/mailbox_target.h"
#include "sim/bus/faulty_bus.h"
#include "tests/conformance/in_process_bus.h"

namespace sideband::tests {
namespace {

using daemon::CommittedConfig;
using daemon::ConfigChange;
using mailbox::CountingConfig;

constexpr char kConfigChip[] = R"(
device: {uuid: 6f1c0a52-3d0e-4a53-9a51-0d4c2a7e9b10, clock_hz: 1000000}
slices: 2
units: [{name: sm, events: [sm_active_cycles, tensor_active_cycles]}]
gate_groups:
  - {name: sm, events: [sm_active_cycles]}
  - {name: tensor, events: [tensor_active_cycles]}
vms:
  - name: vm1
    uuid: 11111111-0000-4000-8000-000000000001
    contexts: [{name: a, slice: 0, seed: 1, phases: [{kind: gemm, time: 2ms}]}]
  - name: vm2
    uuid: 22222222-0000-4000-8000-000000000002
    contexts: [{name: a, slice: 1, seed: 3, phases: [{kind: gemm, time: 1ms}]}]
quantum: 1ms
gap: 100us
)";

// A controller of its own.
struct ConfigController {
  ConfigController(smbus::Bus& bus, const daemon::Clock& clock, uint8_t tag)
      : wire(bus), reader(session, clock), writer(session, tag) {}

  // Changes the configuration that it reads first. Returns whether it knows that the change is in force.
  bool Change(const std::function<void(CountingConfig&)>& change) {
    const auto actual = ReadConfig(session);
    if (!actual.ok()) return false;
    CountingConfig desired = *actual;
    change(desired);
    std::optional<CommittedConfig> committed;
    closing = reader.TakeClosing(writer, ChangeTo(*actual, desired), committed);
    if (closing.ok()) reader.Acknowledge().IgnoreError();
    return committed.has_value();
  }
  // For the device as of the last snapshot.
  ConfigChange ChangeTo(const CountingConfig& actual, const CountingConfig& desired) const {
    return {boot_id, catalog_hash, actual.revision, mailbox::Difference(actual, desired), mailbox::WordsOf(actual)};
  }
  bool Take() {
    const auto taken = reader.Take();
    if (!taken.ok()) return false;
    boot_id = taken->raw.boot_id;
    catalog_hash = taken->raw.catalog_hash;
    return reader.Acknowledge().ok();
  }

  InProcessTransport wire;
  daemon::RegisterPort port{wire, smbus::kMailboxAddress, [](absl::string_view) {}};
  daemon::MailboxSession session{port, [](absl::Duration) {}};
  daemon::SnapshotReader reader;
  daemon::ConfigWriter writer;
  absl::StatusOr<daemon::TakenSnapshot> closing;
  uint64_t boot_id = 0;
  uint32_t catalog_hash = 0;
};

// One value in three places: a configuration that is neither old nor new has two.
void SetAll(uint64_t value, CountingConfig& config) {
  config.vms.at(1).allowed = value;
  config.vms.at(2).pinned = value;
  config.groups[1][1].identifier = static_cast<uint16_t>(value);
}

uint64_t ValueOf(const CountingConfig& config) {
  const uint64_t value = config.vms.at(2).pinned;
  EXPECT_EQ(config.groups[1][1].identifier, value);
  EXPECT_EQ(config.vms.at(1).allowed, value == 0 ? ~uint64_t{0} : value);
  return value;
}

class ConfigTest : public testing::Test {
 protected:
  ConfigTest() {
    const std::string path = testing::TempDir() + "config.yaml";
    std::ofstream(path) << kConfigChip;
    file_ = *mcu::LoadChipFile(path);
    PowerOn();
  }

  void PowerOn() {
    target_.reset();
    firmware_.reset();
    device_ = *mcu::LiveDevice::Create(*file_, ++boot_id_, [this, start = elapsed_] { return elapsed_ - start; });
    firmware_.emplace(*device_, mcu::PowerModel(device_->power()), mcu::Persona::kSideband, file_->extension);
    target_.emplace(smbus::kMailboxAddress, firmware_->shared(),
                    mcu::MailboxTarget::Options{.registers = {}, .own_handler = firmware_->own()});
    bus_ = std::make_unique<mcu::VirtualBus>();
    bus_->Connect(smbus::kMailboxAddress, *target_);
  }

  // To the bus that there is after resets.
  struct Wire final : smbus::Bus {
    explicit Wire(std::unique_ptr<mcu::VirtualBus>& bus) : bus(bus) {}
    smbus::TransferResult Execute(const smbus::Transfer& transfer) override { return bus->Execute(transfer); }
    std::unique_ptr<mcu::VirtualBus>& bus;
  };

  CountingConfig Actual() { return device_->GetConfig(); }

  std::optional<mcu::ChipFile> file_;
  uint64_t boot_id_ = 0;
  absl::Duration elapsed_;
  std::unique_ptr<mcu::LiveDevice> device_;
  std::optional<mcu::FirmwarePair> firmware_;
  std::optional<mcu::MailboxTarget> target_;
  std::unique_ptr<mcu::VirtualBus> bus_;
  Wire wire_{bus_};
  BusyBus busy_{wire_, elapsed_};
  daemon::FakeClock clock_{absl::UnixEpoch()};
  std::minstd_rand random_{1};
};

TEST_F(ConfigTest, AChangeIsInForceFromItsClosingSnapshotOn) {
  ConfigController controller(busy_, clock_, 1);
  ASSERT_TRUE(controller.Take());
  for (uint64_t value = 1; value < 4; ++value) {
    ASSERT_TRUE(controller.Change([&](CountingConfig& config) { SetAll(value, config); }));
    ASSERT_TRUE(controller.closing.ok()) << controller.closing.status();
    EXPECT_EQ(controller.closing->raw.config_revision, value);
    EXPECT_EQ(ValueOf(Actual()), value);
    ASSERT_TRUE(controller.Take());
  }
}

TEST_F(ConfigTest, AChangeLeavesWhatAGuestHasSetSince) {
  ConfigController controller(busy_, clock_, 1);
  ASSERT_TRUE(controller.Take());
  ASSERT_TRUE(controller.Change([&](CountingConfig& config) {
    device_->chip().guests().vm_control(device_->tenants()[0].binding.vm).guest_load = true;  // as by its page
    config.vms[1].guest_access = true;
  }));
  EXPECT_TRUE(Actual().vms[1].guest_access);
  EXPECT_TRUE(Actual().vms[1].guest_load);
}

TEST_F(ConfigTest, ASpoiledWireLeavesTheOldConfigurationOrTheNew) {
  sim::FaultPlan plan{.seed = 7};
  for (const sim::FaultKind kind :
       {sim::FaultKind::kAddressNack, sim::FaultKind::kDataNack, sim::FaultKind::kArbitrationLost,
        sim::FaultKind::kStuckClock, sim::FaultKind::kBitFlip, sim::FaultKind::kBadPec, sim::FaultKind::kShortBlock,
        sim::FaultKind::kLongBlock, sim::FaultKind::kBusyForever, sim::FaultKind::kStatus}) {
    plan.rules.push_back({.kind = kind, .probability = 0.004});
  }
  sim::FaultyBus faulty(busy_, plan);
  ConfigController controller(faulty, clock_, 1);
  int known = 0, unknown = 0;
  for (uint64_t value = 1; value <= 300; ++value) {
    if (!controller.Take()) continue;
    const CountingConfig old = Actual();
    if (controller.Change([&](CountingConfig& config) { SetAll(value, config); })) {
      ++known;
      EXPECT_EQ(ValueOf(Actual()), value);
      EXPECT_EQ(Actual().revision, old.revision + 1);
    } else if (ValueOf(Actual()) == value) {
      ++unknown;
      EXPECT_EQ(Actual().revision, old.revision + 1);
    } else {
      EXPECT_EQ(Actual(), old);
    }
  }
  EXPECT_GT(known, 150);
  EXPECT_LT(unknown, 10) << "the bus failed in COMMIT itself";
}

TEST_F(ConfigTest, AResetLeavesTheInitialConfigurationOrTheNew) {
  ConfigController controller(busy_, clock_, 1);
  for (int at = 0; at < 120; ++at) {
    PowerOn();
    controller.Take();
    controller.Take();
    int left = at;
    busy_.meanwhile = [&] {
      if (left-- == 0) PowerOn();
    };
    const bool is_known = controller.Change([&](CountingConfig& config) { SetAll(7, config); });
    busy_.meanwhile = nullptr;
    const uint64_t value = ValueOf(Actual());
    EXPECT_EQ(Actual().revision, value == 7 ? 2u : 1u);
    EXPECT_TRUE(is_known || left < 0) << "there was no reset";
    EXPECT_TRUE(controller.Take() || controller.Take()) << at;
  }
}

// Each boot begins at revision 1, and the VM of the same number may be another one.
TEST_F(ConfigTest, AChangeMadeForAnotherBootIsNotCommitted) {
  ConfigController controller(busy_, clock_, 1);
  ASSERT_TRUE(controller.Take());
  const CountingConfig actual = Actual();
  CountingConfig desired = actual;
  SetAll(7, desired);
  const ConfigChange change = controller.ChangeTo(actual, desired);
  std::optional<CommittedConfig> committed;
  PowerOn();
  controller.reader.TakeClosing(controller.writer, change, committed).status().IgnoreError();
  EXPECT_FALSE(committed.has_value()) << "the restart is not known yet";
  ASSERT_TRUE(controller.Take());
  EXPECT_FALSE(controller.reader.IsOfBase(change));
  EXPECT_EQ(controller.reader.TakeClosing(controller.writer, change, committed).status().code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(ValueOf(Actual()), 0u);
  EXPECT_TRUE(controller.Change([&](CountingConfig& config) { SetAll(8, config); })) << "made anew";
}

// Even if the restart comes after the acknowledgement, at any later transaction.
TEST_F(ConfigTest, ARestartDuringAChangeForAnotherBootCommitsNothing) {
  for (int at = 0; at < 60; ++at) {
    PowerOn();
    ConfigController controller(busy_, clock_, 1);
    ASSERT_TRUE(controller.Take());
    const CountingConfig actual = Actual();
    CountingConfig desired = actual;
    SetAll(7, desired);
    int left = at;
    bool has_restarted = false, was_changed = false;
    busy_.meanwhile = [&] {
      if (left-- != 0) return;
      was_changed = Actual().revision == 2;
      has_restarted = true;
      PowerOn();
    };
    std::optional<CommittedConfig> committed;
    controller.reader.TakeClosing(controller.writer, controller.ChangeTo(actual, desired), committed)
        .status()
        .IgnoreError();
    busy_.meanwhile = nullptr;
    EXPECT_EQ(ValueOf(Actual()), has_restarted ? 0u : 7u) << at;
    EXPECT_TRUE(!committed || !has_restarted || was_changed) << at;
  }
}

// Another one has always latched since, so that no acknowledgement succeeds.
TEST_F(ConfigTest, ChangesAreCommittedBesideAControllerThatLatchesAfterEachSnapshot) {
  ConfigController first(busy_, clock_, 1), second(wire_, clock_, 2);
  for (uint64_t value = 1; value < 4; ++value) {
    ASSERT_TRUE(first.Take());
    ASSERT_TRUE(second.Take());
    EXPECT_TRUE(first.Change([&](CountingConfig& config) { SetAll(value, config); }));
    EXPECT_EQ(ValueOf(Actual()), value);
  }
}

// The second one within the first one's transactions.
TEST_F(ConfigTest, OfTwoControllersEachChangesAllOrNothing) {
  ConfigController first(busy_, clock_, 1), second(wire_, clock_, 2);
  ASSERT_TRUE(first.Take());
  ASSERT_TRUE(second.Take());
  int of_first = 0, of_second = 0;
  uint64_t next = 0;
  busy_.meanwhile = [&] {
    if (random_() % 40 != 0) return;
    const uint64_t value = ++next;
    if (!second.Change([&](CountingConfig& config) { SetAll(value, config); })) return;
    ++of_second;
    EXPECT_EQ(ValueOf(Actual()), value);
  };
  for (int i = 0; i < 300; ++i) {
    const uint64_t value = ++next;
    const uint32_t before = Actual().revision;
    const bool is_known = first.Change([&](CountingConfig& config) { SetAll(value, config); });
    of_first += is_known ? 1 : 0;
    const bool is_last = is_known && Actual().revision == before + 1;
    EXPECT_TRUE(!is_last || ValueOf(Actual()) == value);
    ValueOf(Actual());
    first.Take();
  }
  EXPECT_GT(of_first, 30);
  EXPECT_GT(of_second, 30);
}

// The bus time of a change of one VM is that of a latch and of 20 commands at most.
TEST_F(ConfigTest, AChangeCostsALatchAndAFewCommands) {
  ConfigController controller(busy_, clock_, 1);
  ASSERT_TRUE(controller.Take());
  const auto cost = [&](const std::function<void()>& what) {
    busy_.bit_times.clear();
    what();
    return std::accumulate(busy_.bit_times.begin(), busy_.bit_times.end(), uint64_t{0});
  };
  const uint64_t latch = cost([&] { ASSERT_TRUE(controller.Take()); });
  const auto actual = ReadConfig(controller.session);
  ASSERT_TRUE(actual.ok());
  const uint64_t command =
      cost([&] { EXPECT_TRUE(RunConfig(controller.session, mailbox::ConfigStep::kAddress, 0, 0, 0).ok()); });
  CountingConfig desired = *actual;
  desired.vms[1] = {.guest_value = {.vector_enable = true, .vector = 1}, .guest_load = true, .allowed = 1, .pinned = 2};
  std::optional<CommittedConfig> committed;
  const uint64_t change = cost([&] {
    ASSERT_TRUE(
        controller.reader.TakeClosing(controller.writer, controller.ChangeTo(*actual, desired), committed).ok());
  });
  EXPECT_LE(change, latch + 20 * command);
}

}  // namespace
}  // namespace sideband::tests
