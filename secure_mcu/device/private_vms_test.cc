// SPDX-License-Identifier: Apache-2.0
//
// V15 of virtual-counters.md on a device as its bus shows it: whatever a private VM does, the device's block, the live
// counts, the sensors and the metrics of the device are those of the other VMs.
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "secure_mcu/chip_file/chip_file.h"
#include "secure_mcu/device/live_device.h"
#include "secure_mcu/firmware/board_unit.h"
#include "secure_mcu/firmware/extension_commands.h"
#include "secure_mcu/firmware/performance_monitor.h"
#include "secure_mcu/firmware/sensors.h"

namespace sideband::mcu {
namespace {

// The secret VM has turns on both slices, beside the open one.
constexpr char kPrivateVmsChip[] = R"(
device: {uuid: 6f1c0a52-3d0e-4a53-9a51-0d4c2a7e9b10, clock_hz: 1000000}
slices: 2
units: [{name: sm, count: 3, events: [sm_active_cycles]}]
device_units: [{name: pcie, events: [pcie_tx_cycles]}]
device_workload: {phases: [{kind: copy, time: 1ms}]}
vms:
  - name: open
    uuid: 11111111-0000-4000-8000-000000000001
    contexts:
      - {name: a, slice: 0, seed: 1, phases: [{kind: gemm, time: 2ms}]}
      - {name: b, slice: 1, seed: 2, phases: [{kind: attention, time: 1ms}]}
  - name: secret
    uuid: 22222222-0000-4000-8000-000000000002
    confidential: true
    COUNTING
    contexts:
      - {name: a, slice: 0, seed: SEED, phases: [{kind: WORK, time: 1ms}]}
      - {name: b, slice: 1, seed: SEED, phases: [{kind: WORK, time: 1ms}]}
quantum: 1ms
gap: 100us
power: {event_pj: {sm_active_cycles: 90000}}
KEYS
)";

struct Secret {
  std::string seed, work;
  std::string counting = "counting: {}";
  std::string keys;
};

struct Rig {
  explicit Rig(const Secret& secret) {
    const std::string path = absl::StrCat(testing::TempDir(), "private_vms.yaml");
    std::ofstream(path) << absl::StrReplaceAll(
        kPrivateVmsChip,
        {{"SEED", secret.seed}, {"WORK", secret.work}, {"COUNTING", secret.counting}, {"KEYS", secret.keys}});
    device = *LiveDevice::Create(*LoadChipFile(path), 42, [this] { return elapsed; });
    monitor.emplace(*device);
    board.emplace(*device, PowerModel(device->power()));
    sensors.emplace(*device, *board);
  }

  // Everything that the bus tells of the device as a whole.
  std::vector<uint64_t> Told() {
    std::vector<uint64_t> told = {sensors->GetPower(0).data, monitor->Execute(0x01, mailbox::kWholeDevice, 0).data};
    if (const auto live = device->PeekBlock(0, mailbox::kNoContext)) {
      told.insert(told.end(), live->counters.begin(), live->counters.end());
      told.push_back(live->flags);
    }
    const mailbox::Snapshot snapshot = device->Latch();
    latched.push_back(snapshot);
    told.insert(told.end(), snapshot.Counters(0).begin(), snapshot.Counters(0).end());
    told.push_back(snapshot.trigger_id);
    const auto counters = device->DeviceCounters();
    told.insert(told.end(), counters.begin(), counters.end());
    told.push_back(*sensors->EnergyMj());
    return told;
  }
  uint64_t SmCycles(size_t block) const { return latched.back().Counters(block)[0]; }

  absl::Duration elapsed;
  std::unique_ptr<LiveDevice> device;
  std::optional<PerformanceMonitor> monitor;
  std::optional<BoardUnit> board;
  std::optional<Sensors> sensors;
  std::vector<mailbox::Snapshot> latched;
};

constexpr size_t kOpenBlock = 1, kSecretBlock = 4;

TEST(PrivateVmsTest, NothingOfTheDeviceDependsOnAPrivateVm) {
  for (const std::string keys :
       {"", "pipeline: {trigger_period: 1000, commit_period: 4000, out_of_band_commit_period: 4000}"}) {
    Rig busy({.seed = "3", .work = "gemm", .keys = keys}), idle({.seed = "77", .work = "idle", .keys = keys});
    for (const int us : {1, 999, 1'500, 4'000, 77'777, 200'000, 333'333}) {
      busy.elapsed = idle.elapsed = absl::Microseconds(us);
      EXPECT_EQ(busy.Told(), idle.Told()) << us;
      EXPECT_EQ(busy.latched.back().blocks[0], idle.latched.back().blocks[0]) << "the header, flags and sequence";
    }
    EXPECT_GT(busy.SmCycles(kSecretBlock), 2 * idle.SmCycles(kSecretBlock) + 1000) << "it did something else";
    EXPECT_EQ(busy.SmCycles(0), busy.SmCycles(kOpenBlock));
    EXPECT_GT(busy.SmCycles(0), 0u);
  }
}

TEST(PrivateVmsTest, OneThatIsNotPrivateIsInTheDevicesBlock) {
  for (const Secret& secret : {Secret{"3", "gemm", "counting: {private: false}", ""},
                               Secret{"3", "gemm", "counting: {}", "private_vms: false"},
                               Secret{"3", "gemm", "counting: {}", "extension: 1"}}) {
    Rig rig(secret);
    rig.elapsed = absl::Milliseconds(200);
    rig.Told();
    EXPECT_EQ(rig.SmCycles(0), rig.SmCycles(kOpenBlock) + rig.SmCycles(kSecretBlock));
    EXPECT_GT(rig.SmCycles(kSecretBlock), 0u);
    EXPECT_FALSE(rig.device->catalog().vms[1].is_private);
    EXPECT_TRUE(rig.device->catalog().has_had_confidential_vm);
    EXPECT_FALSE(rig.device->catalog().confidential_vms_were_private);
  }
}

TEST(PrivateVmsTest, TheCatalogueAndTheFeaturesTellOfThem) {
  const auto features = [](LiveDevice& device) {
    SnapshotCommands commands(device, mailbox::ExtensionVersion::kTwo);
    return commands.Execute({.opcode = mailbox::Opcode::kDiscover, .arg1 = 4}, 0, 0).data;
  };
  Rig with({.seed = "3", .work = "gemm", .keys = {}});
  EXPECT_TRUE(with.device->catalog().vms[1].is_private);
  EXPECT_FALSE(with.device->catalog().vms[0].is_private);
  EXPECT_TRUE(with.device->catalog().confidential_vms_were_private);
  EXPECT_EQ(features(*with.device), 0b1010001u);
  Rig without({.seed = "3", .work = "gemm", .keys = "private_vms: false"});
  EXPECT_EQ(features(*without.device), 0b1000001u);
}

}  // namespace
}  // namespace sideband::mcu
