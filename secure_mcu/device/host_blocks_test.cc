// SPDX-License-Identifier: Apache-2.0
//
// Where the hypervisor's work goes while no context is resident on a slice (virtual-counters.md, "Host blocks", laws
// V3, V4, V7, V12). The truth is the plan of turns and exits, and a slice that never has a resident. Private VMs, too:
// V15 of virtual-counters.md on a device as its bus shows it: whatever a private VM does, the device's block, the live
// counts, the sensors and the metrics of the device are those of the other VMs.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "secure_mcu/chip_file/chip_file.h"
#include "secure_mcu/device/live_device.h"
#include "secure_mcu/firmware/board_unit.h"
#include "secure_mcu/firmware/extension_commands.h"
#include "secure_mcu/firmware/performance_monitor.h"

namespace sideband::mcu {
namespace {

using mailbox::kHypervisorVm;
using mailbox::kNoContext;

// A cycle a microsecond. vm1 has turns of 3 ms on slice 0, a millisecond apart; slice 1 has no resident.
constexpr char kHostBlocksChip[] = R"(
device: {uuid: 6f1c0a52-3d0e-4a53-9a51-0d4c2a7e9b10, clock_hz: 1000000}
extension: VERSION
slices: 2
units:
  - name: sm
    count: 3
    events: [sm_active_cycles, {name: host_sm_active_cycles, of: sm_active_cycles}, {name: any_sm_active_cycles, of: sm_active_cycles}]
device_units: [{name: pcie, events: [pcie_tx_cycles]}]
device_workload: {phases: [{kind: copy, time: 1ms}]}
GATES
HOST
vms:
  - name: vm1
    uuid: 11111111-0000-4000-8000-000000000001
    contexts: [{name: a, slice: 0, seed: 1, phases: [{kind: gemm, time: 2ms}, {kind: copy, time: 700us}]}]
quantum: 3ms
gap: GAP
)";
constexpr char kGates[] = R"(
gate_groups:
  - {name: guest, events: [sm_active_cycles]}
  - {name: host, events: [host_sm_active_cycles], guest: false, host: true}
)";
constexpr char kHost[] = R"(
host: {exit_every: 1ms, exit_time: 100us, seed: 9, phases: [{kind: attention, time: 333us}]}
)";

using Scope = std::pair<uint16_t, uint16_t>;
using Counts = std::map<std::string, uint64_t>;  // by event

constexpr Scope kDeviceBlock = {kHypervisorVm, kNoContext}, kHost0Block = {kHypervisorVm, 0},
                kHost1Block = {kHypervisorVm, 1}, kVm1Block = {1, kNoContext};

struct ChipKeys {
  std::string gates = kGates;
  std::string host = kHost;
  std::string gap = "1ms";
  std::string version = "2";
};

class HostBlocksTest : public testing::Test {
 protected:
  void Start(const ChipKeys& chip) {
    const std::string path = testing::TempDir() + "host_blocks.yaml";
    std::ofstream(path) << absl::StrReplaceAll(
        kHostBlocksChip, {{"GATES", chip.gates}, {"HOST", chip.host}, {"GAP", chip.gap}, {"VERSION", chip.version}});
    elapsed_ = absl::ZeroDuration();
    device_ = *LiveDevice::Create(*LoadChipFile(path), 42, [this] { return elapsed_; });
  }
  std::map<Scope, Counts> CountsAt(uint64_t cycle) {
    elapsed_ = absl::Microseconds(static_cast<int64_t>(cycle));
    const mailbox::Snapshot snapshot = device_->Latch();
    std::map<Scope, Counts> blocks;
    for (size_t block = 0; block < snapshot.blocks.size(); ++block) {
      Counts& counts = blocks[{snapshot.blocks[block].vm, snapshot.blocks[block].context}];
      const auto counters = snapshot.Counters(block);
      for (size_t i = 0; i < counters.size(); ++i) counts[device_->catalog().events[i].name] = counters[i];
    }
    return blocks;
  }

  absl::Duration elapsed_;
  std::unique_ptr<LiveDevice> device_;
};

// The cycles of slice 0 below `cycle`: those without a resident, and those of exits, in the first 100 of each 1000 from
// 1000 on while vm1 is resident. A turn that begins in the cycle of an exit makes it.
uint64_t IdleCycles(uint64_t cycle) { return cycle / 4000 * 1000 + (cycle % 4000 > 3000 ? cycle % 4000 - 3000 : 0); }
uint64_t ExitCycles(uint64_t cycle) {
  uint64_t cycles = 0;
  for (uint64_t at = 1000; at < cycle; ++at) cycles += at % 4000 < 3000 && at % 1000 < 100 ? 1 : 0;
  return cycles;
}

TEST_F(HostBlocksTest, TimeIsThatWithoutAResident) {
  Start({});
  for (const uint64_t cycle : {0, 500, 3000, 3100, 4000, 54'321}) {
    auto blocks = CountsAt(cycle);
    EXPECT_EQ(blocks[kHost0Block]["resident_cycles"], IdleCycles(cycle)) << cycle;
    EXPECT_EQ(blocks[kHost0Block]["group_host_running_cycles"], IdleCycles(cycle)) << cycle;
    EXPECT_EQ(blocks[kHost0Block]["group_guest_running_cycles"], 0u) << cycle;
    EXPECT_EQ(blocks[kHost1Block]["resident_cycles"], cycle);
    EXPECT_EQ(blocks[kVm1Block]["resident_cycles"], cycle - IdleCycles(cycle)) << cycle;
    EXPECT_EQ(blocks[kVm1Block]["group_host_running_cycles"], ExitCycles(cycle)) << cycle;
  }
}

// V7; and V4 of each block.
TEST_F(HostBlocksTest, TheDeviceIsTheSumOfItsVmsAndHosts) {
  Start({});
  for (const uint64_t cycle : {1, 999, 3050, 7777, 100'000}) {
    auto blocks = CountsAt(cycle);
    for (const auto& [event, count] : blocks[kDeviceBlock]) {
      if (event == "pcie_tx_cycles") continue;
      EXPECT_EQ(count, blocks[kVm1Block][event] + blocks[kHost0Block][event] + blocks[kHost1Block][event])
          << event << " at " << cycle;
    }
    EXPECT_EQ(blocks[kHost1Block]["pcie_tx_cycles"], 0u) << "device scope is nobody's";
    for (const auto& [scope, counts] : blocks) {
      EXPECT_EQ(counts.at("sm_active_cycles") + counts.at("host_sm_active_cycles"), counts.at("any_sm_active_cycles"));
    }
    EXPECT_EQ(blocks[kHost0Block]["host_sm_active_cycles"], blocks[kHost0Block]["any_sm_active_cycles"]);
  }
}

// The hypervisor's work goes on in exits and gaps, and stands still while a guest runs.
TEST_F(HostBlocksTest, TheWorkIsOneWhereverItIsCounted) {
  Start({});
  for (const uint64_t cycle : {3500, 12'345, 87'654}) {
    auto blocks = CountsAt(cycle);
    const uint64_t of_slice0 =
        blocks[kHost0Block]["host_sm_active_cycles"] + blocks[kVm1Block]["host_sm_active_cycles"];
    Start({});
    EXPECT_EQ(of_slice0, CountsAt(IdleCycles(cycle) + ExitCycles(cycle))[kHost1Block]["host_sm_active_cycles"])
        << cycle;
    EXPECT_GT(blocks[kHost0Block]["host_sm_active_cycles"], 0u);
    Start({});
  }
}

// V3
TEST_F(HostBlocksTest, TheHostsWorkIsHiddenFromTheGuest) {
  for (const uint64_t cycle : {1'234, 40'099, 123'456}) {
    Start({});
    auto disturbed = CountsAt(cycle);
    Start({.host = "", .gap = "0s"});
    auto alone = CountsAt(cycle - IdleCycles(cycle) - ExitCycles(cycle));
    EXPECT_EQ(disturbed[kVm1Block]["sm_active_cycles"], alone[kVm1Block]["sm_active_cycles"]) << cycle;
  }
}

TEST_F(HostBlocksTest, WithoutGroupsAllIsCounted) {
  Start({.gates = ""});
  auto blocks = CountsAt(54'321);
  EXPECT_EQ(blocks[kHost0Block]["resident_cycles"], IdleCycles(54'321));
  EXPECT_GT(blocks[kHost0Block]["sm_active_cycles"], 0u);
  EXPECT_EQ(blocks[kHost0Block]["sm_active_cycles"], blocks[kHost0Block]["host_sm_active_cycles"]);
}

TEST_F(HostBlocksTest, APeekIsWhatALatchWouldBe) {
  Start({});
  for (const int us : {3500, 3600, 60'001}) {
    elapsed_ = absl::Microseconds(us);
    for (const uint16_t slice : {0, 1}) {
      const auto peeked = device_->PeekBlock(kHypervisorVm, slice);
      ASSERT_TRUE(peeked.has_value());
      auto latched = CountsAt(peeked->reference_cycle)[{kHypervisorVm, slice}];
      for (size_t i = 0; i < peeked->counters.size(); ++i) {
        EXPECT_EQ(peeked->counters[i], latched[device_->catalog().events[i].name]) << us;
      }
    }
  }
  EXPECT_FALSE(device_->PeekBlock(kHypervisorVm, 2).has_value());
  const auto block = device_->BlockCounters(kHypervisorVm, 1);
  ASSERT_TRUE(block.has_value());
  EXPECT_EQ(block->slices, SliceSet{2});
}

TEST_F(HostBlocksTest, TheStateTellsWhetherTheHostHasTheSlice) {
  Start({});
  const auto state = [&](uint64_t cycle) {
    elapsed_ = absl::Microseconds(static_cast<int64_t>(cycle));
    const mailbox::Snapshot snapshot = device_->Latch();
    EXPECT_EQ(snapshot.blocks[3].vm, kHypervisorVm);
    EXPECT_EQ(snapshot.blocks[3].context, 0);
    return snapshot.blocks[3].state;
  };
  EXPECT_EQ(state(3500), mailbox::BlockState::kActive);
  EXPECT_EQ(state(4050), mailbox::BlockState::kIdle) << "an exit is the resident's";
}

TEST_F(HostBlocksTest, TheCatalogueNamesThem) {
  Start({});
  const auto& catalog = device_->catalog();
  EXPECT_EQ(catalog.host_blocks, (std::vector<mailbox::HostBlockInfo>{{0, 1}, {1, 1}}));
  EXPECT_EQ(mailbox::DecodeCatalogSections(mailbox::EncodeCatalogSections(catalog))->host_blocks, catalog.host_blocks);
}

// V13
TEST_F(HostBlocksTest, WithoutAHostAndInVersionOneThereAreNone) {
  for (const ChipKeys& chip : {ChipKeys{.host = ""}, ChipKeys{.version = "1"}}) {
    Start(chip);
    EXPECT_TRUE(device_->catalog().host_blocks.empty());
    auto blocks = CountsAt(3500);
    EXPECT_EQ(blocks.size(), 3u);
    EXPECT_EQ(blocks[kDeviceBlock]["any_sm_active_cycles"], blocks[kVm1Block]["any_sm_active_cycles"]);
    EXPECT_FALSE(device_->PeekBlock(kHypervisorVm, 0).has_value());
    EXPECT_FALSE(device_->BlockCounters(kHypervisorVm, 0).has_value());
  }
}

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
