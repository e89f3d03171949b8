// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/device/viewed_device.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "secure_mcu/chip_file/chip_file.h"
#include "secure_mcu/guest_view/reader.h"

namespace sideband::mcu {
namespace {

constexpr char kViewedChip[] = R"(
device: {uuid: 6f1c0a52-3d0e-4a53-9a51-0d4c2a7e9b10, clock_hz: 1000000}
units: [{name: sm, events: [sm_active_cycles]}]
gate_groups: [{name: sm, events: [sm_active_cycles]}]
vms:
  - name: vm1
    uuid: 11111111-0000-4000-8000-000000000001
    contexts:
      - {name: job, lifetime: 100ms, seed: 1, phases: [{kind: gemm, time: 2ms}]}
      - {name: service, seed: 3, phases: [{kind: gemm, time: 2ms}]}
quantum: 1ms
gap: 0s
)";

class ViewedDeviceTest : public testing::Test {
 protected:
  void SetUp() override {
    const std::string path = testing::TempDir() + "viewed.yaml";
    std::ofstream(path) << kViewedChip;
    folder_ = testing::TempDir() + "views";
    std::filesystem::create_directories(folder_);
    device_ = *LiveDevice::Create(*LoadChipFile(path), 42, [this] { return elapsed_; });
    views_ = *GuestViews::Create(folder_, 42);
    viewed_ = std::make_unique<ViewedDevice>(*device_, views_.get());
  }
  GuestViewSample View() {
    const auto reader = GuestViewReader::Open(folder_ + "/vm1.sbv");
    EXPECT_TRUE(reader.ok()) << reader.status();
    const auto sample = (*reader)->Read();
    EXPECT_TRUE(sample.ok()) << sample.status();
    return *sample;
  }

  absl::Duration elapsed_;
  std::string folder_;
  std::unique_ptr<LiveDevice> device_;
  std::unique_ptr<GuestViews> views_;
  std::unique_ptr<ViewedDevice> viewed_;
};

TEST_F(ViewedDeviceTest, AViewAndASnapshotOfOneTriggerAgree) {
  for (const int ms : {10, 20, 70}) {
    elapsed_ = absl::Milliseconds(ms);
    viewed_->Tick();
    const GuestViewSample between = View();
    const mailbox::Snapshot snapshot = viewed_->Latch();
    const GuestViewSample view = View();
    EXPECT_EQ(view.trigger_id, snapshot.trigger_id);
    EXPECT_EQ(view.reference_time_ns, snapshot.reference_time_ns);
    ASSERT_EQ(view.blocks.size(), 3u) << "the VM's own and two contexts'";
    for (size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(view.blocks[i], snapshot.blocks[i + 1]);
      EXPECT_EQ(view.Counters(i)[0], snapshot.Counters(i + 1)[0]);
      EXPECT_EQ(view.Counters(i)[0], between.Counters(i)[0]) << "no time has passed";
    }
    EXPECT_NE(between.trigger_id, view.trigger_id);
  }
}

TEST_F(ViewedDeviceTest, IsConfiguredAsTheDeviceItself) {
  ASSERT_NE(viewed_->counting(), nullptr);
  mailbox::CountingConfig config = viewed_->counting()->GetConfig();
  config.vms[1].pinned = 1;
  ASSERT_TRUE(viewed_->counting()->CheckConfig(config).ok());
  viewed_->counting()->ApplyConfig(config);
  EXPECT_EQ(device_->GetConfig().vms[1].pinned, 1u);
  config.vms[1].selection = 9;
  EXPECT_FALSE(viewed_->counting()->CheckConfig(config).ok());
  EXPECT_EQ(viewed_->HasPrivateVms(), device_->HasPrivateVms());
}

TEST_F(ViewedDeviceTest, IsMarkedAsTheDeviceItself) {
  DeviceClocks* const clocks = viewed_->clocks();
  ASSERT_NE(clocks, nullptr);
  EXPECT_TRUE(absl::IsFailedPrecondition(clocks->SetBookmark(1, 0, 17).status()));
  ASSERT_TRUE(viewed_->triggers()->SetTriggerGrid(1000).ok());
  elapsed_ = absl::Milliseconds(3);
  EXPECT_TRUE(clocks->SetBookmark(1, 0, 17).ok());
  EXPECT_FALSE(clocks->SelectClocks(1).ok()) << "it has no domains";
  EXPECT_EQ(clocks->GetTimeline(5), device_->GetTimeline(5));
  EXPECT_EQ(clocks->GetHulls(5), device_->GetHulls(5));
  elapsed_ = absl::Milliseconds(6);
  EXPECT_EQ(viewed_->Latch().bookmarks.size(), 1u);
}

// R10 of registers.md
TEST_F(ViewedDeviceTest, RegistersAndAViewOfOneCycleAgree) {
  constexpr uint64_t kStart = 10'500;  // a cycle is a microsecond
  Chip& chip = device_->chip();
  const auto advance_to = [&](uint64_t cycle) {
    elapsed_ = absl::Microseconds(static_cast<int64_t>(cycle));
    device_->CatchUp();
  };
  const auto write = [&](HpcRegister which, uint64_t value) {
    chip.live().hpc().Write(0, which, value, HpcPrivilege::kSupervisor, chip.now());
  };
  const auto read = [&] { return chip.live().hpc().Read(0, HpcRegister::kHpcr, chip.now()); };

  advance_to(kStart);
  write(HpcRegister::kHpcm, 0b11);
  write(HpcRegister::kHpcc,
        uint64_t{hpc::kModuleVm} << hpc::kHpccModuleLsb | hpc::kHpccUseren | hpc::kHpccStamp | hpc::kHpccTrigger);
  advance_to(kStart + hpc::kHopCycles);  // the cycle of the grant
  const mailbox::Snapshot snapshot = viewed_->Latch();
  const GuestViewSample view = View();
  advance_to(kStart + 20);
  EXPECT_EQ(read() * 1000, snapshot.reference_time_ns);
  for (size_t event = 0; event < 2; ++event) {
    const uint64_t count = read();
    EXPECT_EQ(count, view.Counters(0)[event]);
    EXPECT_EQ(count, snapshot.Counters(1)[event]);
  }
  EXPECT_EQ(view.reference_time_ns, snapshot.reference_time_ns);
}

TEST_F(ViewedDeviceTest, TheViewFollowsGenerations) {
  elapsed_ = absl::Milliseconds(120);
  viewed_->Latch();
  EXPECT_EQ(View().blocks[1].state, mailbox::BlockState::kRetired);
  viewed_->Acknowledge();
  elapsed_ += absl::Milliseconds(10);
  viewed_->Tick();
  EXPECT_EQ(View().blocks[1].generation, 2u);
}

TEST_F(ViewedDeviceTest, WhatWasLatchedStandsForAWhile) {
  elapsed_ = absl::Milliseconds(1);
  viewed_->Tick();
  EXPECT_EQ(View().trigger_id, 1u) << "the first shows at once";
  elapsed_ = absl::Milliseconds(2);
  const uint32_t latched = viewed_->Latch().trigger_id;
  elapsed_ = absl::Milliseconds(11);
  viewed_->Tick();
  EXPECT_EQ(View().trigger_id, latched);
  EXPECT_EQ(viewed_->ReferenceTimeNs(), 11'000'000u) << "it counts all the same";
  elapsed_ = absl::Milliseconds(12);
  viewed_->Tick();
  EXPECT_EQ(View().trigger_id, latched + 1);
}

TEST_F(ViewedDeviceTest, APeekLeavesTheView) {
  elapsed_ = absl::Milliseconds(1);
  viewed_->Tick();
  const GuestViewSample before = View();
  elapsed_ = absl::Milliseconds(2);
  EXPECT_GE(viewed_->PeekBlock(1, 0)->reference_time_ns, 2'000'000u);
  EXPECT_EQ(View().trigger_id, before.trigger_id);
}

TEST_F(ViewedDeviceTest, WithoutViewsItOnlyCounts) {
  ViewedDevice plain(*device_, nullptr);
  elapsed_ = absl::Milliseconds(5);
  plain.Tick();
  EXPECT_EQ(plain.ReferenceTimeNs(), 5'000'000u);
  EXPECT_EQ(plain.Latch().trigger_id, 1u);
}

}  // namespace
}  // namespace sideband::mcu
