// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/firmware/performance_monitor.h"

#include <gtest/gtest.h>

#include <optional>

#include "secure_mcu/firmware/fake_gpu.h"

namespace sideband::mcu {
namespace {

using mailbox::MailboxStatus;

constexpr uint64_t kWindowNs = 100'000'000;
constexpr uint64_t kWindowCycles = 100'000'000;  // of the fake GPU's clock
constexpr uint8_t kSm = 0x01, kTensor = 0x03, kDram = 0x04, kPcieTx = 0x08;
constexpr uint8_t kSnapshot = 0x40, kCapture = 0x80, kMultiplier = 0xC0;
constexpr uint8_t kAll = 0xFF, kInstance = 0x80;
constexpr uint64_t kNoContext = mailbox::kNoContext;

class PerformanceMonitorTest : public testing::Test {
 protected:
  Reply Run(uint8_t arg1, uint8_t arg2 = kAll, uint32_t data = 0) { return monitor_.Execute(arg1, arg2, data); }
  // Counts `wires` wires that are 1 for a whole window.
  void Count(uint16_t vm, uint16_t context, const char* event, double wires) {
    gpu_.Count(vm, context, event, static_cast<uint64_t>(wires * kWindowCycles));
  }

  FakeGpu gpu_;
  PerformanceMonitor monitor_{gpu_};
};

TEST_F(PerformanceMonitorTest, AValueIsTheShareOfTheWiresCycles) {
  Count(1, 0, "sm_active_cycles", 4.04);  // 8 SMs
  gpu_.time_ns = kWindowNs;
  EXPECT_EQ(Run(kSm).data, 0x3280u) << "50.5 %";
  EXPECT_EQ(Run(0x00).data, 0x3280u) << "the engine has no wire of its own";
}

TEST_F(PerformanceMonitorTest, EventsAddUp) {
  Count(1, 0, "dram_read_cycles", 1);
  Count(2, 0, "dram_write_cycles", 1);
  gpu_.time_ns = kWindowNs;
  EXPECT_EQ(Run(kDram).data, 25u * 256) << "two of the eight wires of four channels";
}

TEST_F(PerformanceMonitorTest, PartitionsAreOfTheirSlices) {
  Count(1, 0, "sm_active_cycles", 3);
  Count(1, 1, "sm_active_cycles", 1);
  Count(2, 1, "sm_active_cycles", 1);
  Count(3, kNoContext, "sm_active_cycles", 2);
  gpu_.time_ns = kWindowNs;
  EXPECT_EQ(Run(kSm, 1).data, 100u * 256);
  EXPECT_EQ(Run(kSm, 2).data, 25u * 256);
  EXPECT_EQ(Run(kSm, 3).data, 25u * 256) << "both slices";
  EXPECT_EQ(Run(kSm, kInstance | 1, 0x0000).data, 75u * 256);
  EXPECT_EQ(Run(kSm, kInstance | 1, 0x0100).data, 25u * 256);
  EXPECT_EQ(Run(kSm, kInstance | 2, 0xFFFF01FF).data, 25u * 256) << "only bits 15:8 count";
  EXPECT_EQ(Run(kSm, 1, 0x7700).data, 100u * 256) << "and only where they are asked for";
}

TEST_F(PerformanceMonitorTest, AWindowIsATenthOfASecondOrTheTimeSinceTheLastRead) {
  gpu_.time_ns = kWindowNs - 1;
  EXPECT_EQ(Run(kSm).status, MailboxStatus::kErrNotAvailable) << "there was none yet";
  Count(1, 0, "sm_active_cycles", 8);
  gpu_.time_ns = kWindowNs;
  EXPECT_EQ(Run(kSm).data, 100u * 256);
  gpu_.time_ns += kWindowNs - 1;
  EXPECT_EQ(Run(kSm).data, 100u * 256) << "still the last one";
  gpu_.time_ns += 1 + 9 * kWindowNs;
  EXPECT_EQ(Run(kSm).data, 0u) << "idle for a second";
}

TEST_F(PerformanceMonitorTest, NoShareIsAboveTheWhole) {
  Count(1, 0, "sm_active_cycles", 9);  // commits may be late or early by a period
  gpu_.time_ns = kWindowNs;
  EXPECT_EQ(Run(kSm).data, 100u * 256);
}

TEST_F(PerformanceMonitorTest, AMultiplierMakesWindowsLonger) {
  gpu_.time_ns = kWindowNs;
  EXPECT_EQ(Run(kSm).data, 0u);
  EXPECT_EQ(Run(kMultiplier, 10).status, MailboxStatus::kSuccess);
  Count(1, 0, "sm_active_cycles", 40);
  gpu_.time_ns += 9 * kWindowNs;
  EXPECT_EQ(Run(kSm).data, 0u);
  gpu_.time_ns += kWindowNs;
  EXPECT_EQ(Run(kSm).data, 50u * 256);
}

TEST_F(PerformanceMonitorTest, Multipliers) {
  for (const uint8_t multiplier : {1, 2, 5, 10, 100}) {
    EXPECT_EQ(Run(kMultiplier, multiplier).status, MailboxStatus::kSuccess) << int{multiplier};
  }
  for (const uint8_t multiplier : {0, 3, 4, 11, 99, 101, 255}) {
    EXPECT_EQ(Run(kMultiplier, multiplier).status, MailboxStatus::kErrArg2) << int{multiplier};
  }
  EXPECT_EQ(Run(kMultiplier | 1, 1).status, MailboxStatus::kErrArg1);
}

TEST_F(PerformanceMonitorTest, ASnapshotMetricIsBetweenTheLastTwoCaptures) {
  EXPECT_EQ(Run(kSnapshot | kSm).status, MailboxStatus::kErrNotAvailable);
  EXPECT_EQ(Run(kCapture).status, MailboxStatus::kSuccess);
  EXPECT_EQ(Run(kSnapshot | kSm).status, MailboxStatus::kErrNotAvailable) << "one is not two";
  Count(1, 0, "sm_active_cycles", 2);
  gpu_.time_ns = kWindowNs;
  EXPECT_EQ(Run(kCapture, 0).status, MailboxStatus::kSuccess);
  Count(1, 0, "sm_active_cycles", 77);
  gpu_.time_ns += kWindowNs;
  EXPECT_EQ(Run(kSnapshot | kSm).data, 25u * 256) << "of 8 SMs";
  EXPECT_EQ(Run(kSnapshot | kSm, 1).data, 50u * 256) << "of 4";
  EXPECT_EQ(Run(kSnapshot | kSm, kInstance | 1, 0).data, 50u * 256);
  EXPECT_EQ(Run(kSnapshot | kSm, 2).data, 0u);
  EXPECT_EQ(Run(kSnapshot | kDram).data, 0u) << "all metrics are captured";
  EXPECT_EQ(Run(kCapture | 1).status, MailboxStatus::kErrArg1);
}

TEST_F(PerformanceMonitorTest, CapturesWithoutTimeBetweenThemTellNothing) {
  Run(kCapture);
  Run(kCapture);
  EXPECT_EQ(Run(kSnapshot | kSm).status, MailboxStatus::kErrNotAvailable);
}

TEST_F(PerformanceMonitorTest, MetricsThatTheDeviceDoesNotHave) {
  gpu_.time_ns = kWindowNs;
  for (const uint8_t metric : {0x02, 0x05, 0x0A, 0x11, 0x16, 0x1A}) {
    EXPECT_EQ(Run(metric).status, MailboxStatus::kErrNotSupported) << int{metric};
    EXPECT_EQ(Run(kSnapshot | metric).status, MailboxStatus::kErrNotSupported) << int{metric};
  }
  for (const uint8_t metric : {0x1B, 0x3F}) {
    EXPECT_EQ(Run(metric).status, MailboxStatus::kErrArg1) << int{metric};
    EXPECT_EQ(Run(kSnapshot | metric).status, MailboxStatus::kErrArg1) << int{metric};
  }
}

TEST_F(PerformanceMonitorTest, MetricsThatAPartitionDoesNotHave) {
  Count(1, 0, "tensor_active_cycles", 4);
  gpu_.Count(0, mailbox::kNoContext, "pcie_tx_cycles", kWindowCycles / 2);
  gpu_.time_ns = kWindowNs;
  EXPECT_EQ(Run(kTensor, 1).data, 50u * 256);
  EXPECT_EQ(Run(kTensor, 2).status, MailboxStatus::kErrNotSupported) << "not on its slice";
  EXPECT_EQ(Run(kTensor, 3).status, MailboxStatus::kSuccess) << "on one of its slices";
  EXPECT_EQ(Run(kPcieTx).data, 50u * 256);
  EXPECT_EQ(Run(kPcieTx, 1).status, MailboxStatus::kErrNotSupported) << "the device's alone";
}

TEST_F(PerformanceMonitorTest, PartitionsThatAreNotThere) {
  gpu_.time_ns = kWindowNs;
  for (const uint8_t partition : {0, 4, 63}) {
    EXPECT_EQ(Run(kSm, partition).status, MailboxStatus::kErrArg2) << int{partition};
    EXPECT_EQ(Run(kSm, kInstance | partition).status, MailboxStatus::kErrArg2) << int{partition};
  }
  EXPECT_EQ(Run(kSm, 0x41).status, MailboxStatus::kErrArg2) << "bit 6";
  EXPECT_EQ(Run(kSm, kInstance | 1, 0x0200).status, MailboxStatus::kErrData);
  EXPECT_EQ(Run(kSm, kInstance | 3, 0x0000).status, MailboxStatus::kErrData) << "it has none";
}

TEST_F(PerformanceMonitorTest, ANewGenerationHasItsOwnWindows) {
  Count(1, 0, "sm_active_cycles", 4);
  gpu_.time_ns = kWindowNs;
  EXPECT_EQ(Run(kSm, kInstance | 1).data, 100u * 256);
  gpu_.blocks.at({1, 0}) = {.slices = 1, .counters = std::vector<uint64_t>(5), .generation = 2};
  gpu_.time_ns += kWindowNs;
  EXPECT_EQ(Run(kSm, kInstance | 1).status, MailboxStatus::kErrNotAvailable);
  Count(1, 0, "sm_active_cycles", 1);
  gpu_.time_ns += kWindowNs;
  EXPECT_EQ(Run(kSm, kInstance | 1).data, 25u * 256);
}

// sm_active_cycles are in a group; FakeGpu's tensor_active_cycles are its running cycles.
class GatedMonitorTest : public testing::Test {
 protected:
  GatedMonitorTest() {
    gpu_.catalog().events[0].details.gate_group = 0;
    gpu_.catalog().events[3].name = "group_g_running_cycles";
    gpu_.catalog().gate_groups = {{"g", 3}};
    monitor_.emplace(gpu_);
  }
  Reply Run(uint8_t arg1, uint8_t arg2 = kAll, uint32_t data = 0) { return monitor_->Execute(arg1, arg2, data); }
  void Count(uint16_t vm, uint16_t context, double wires, double running) {
    gpu_.Count(vm, context, "sm_active_cycles", static_cast<uint64_t>(wires * kWindowCycles));
    gpu_.Count(vm, context, "group_g_running_cycles", static_cast<uint64_t>(running * kWindowCycles));
  }

  FakeGpu gpu_;
  std::optional<PerformanceMonitor> monitor_;
};

TEST_F(GatedMonitorTest, AValueIsOfTheCyclesInWhichTheGroupWasCounted) {
  Count(1, 0, /*wires=*/1, /*running=*/0.5);
  Count(1, 1, 0.5, 0.25);
  Count(2, 0, 0.75, 0.75);
  gpu_.time_ns = kWindowNs;
  EXPECT_EQ(Run(kSm, kInstance | 1, 0x0000).data, 50u * 256) << "one of four SMs in half of the time";
  EXPECT_EQ(Run(kSm, 1).data, 50u * 256) << "1.5 of four in three quarters";
  EXPECT_EQ(Run(kSm).data, 375u * 256 / 10) << "2.25 of four SMs, in 1.5 windows of two slices";
  EXPECT_EQ(Run(kDram).data, 0u) << "in every cycle";
}

TEST_F(GatedMonitorTest, WhatWasNotCountedHasNoValue) {
  Count(1, 0, 1, 0.5);
  gpu_.time_ns = kWindowNs;
  EXPECT_EQ(Run(kSm, 2).status, MailboxStatus::kErrNotAvailable);
  EXPECT_EQ(Run(kDram, 2).status, MailboxStatus::kSuccess);
  EXPECT_EQ(Run(kSm, 1).status, MailboxStatus::kSuccess);
}

TEST_F(GatedMonitorTest, BesideAConfidentialVmTheDeviceIsTheOthers) {
  gpu_.catalog().vms[1].confidential = true;
  Run(kSm);
  Count(1, 0, 1, 0.5);
  Count(2, 0, 4, 1);
  gpu_.time_ns = kWindowNs;
  EXPECT_EQ(Run(kSm).data, 50u * 256);
}

TEST_F(GatedMonitorTest, WithoutRunningCyclesThereIsNoValue) {
  gpu_.catalog().gate_groups.clear();  // as with version 1 of the extension
  monitor_.emplace(gpu_);
  Count(1, 0, 1, 0.5);
  gpu_.time_ns = kWindowNs;
  EXPECT_EQ(Run(kSm, 1).status, MailboxStatus::kErrNotAvailable);
}

class ConfidentialVmTest : public PerformanceMonitorTest {
 protected:
  ConfidentialVmTest() {
    gpu_.catalog().vms[1].confidential = true;
    Run(kCapture);
    gpu_.time_ns = kWindowNs;
    Run(kSm);  // opens a window of the other VMs
    Count(1, 0, "sm_active_cycles", 2);
    Count(2, 0, "sm_active_cycles", 3);
    Count(2, 0, "dram_read_cycles", 1);
    Run(kCapture);
    gpu_.time_ns += kWindowNs;
  }
};

TEST_F(ConfidentialVmTest, NothingIsToldOfIt) {
  for (const uint8_t arg1 : {kSm, uint8_t(kSnapshot | kSm)}) {
    EXPECT_EQ(Run(arg1, 2).status, MailboxStatus::kErrNotAvailable);
    for (const uint32_t data : {0x0000u, 0x0100u, 0x7700u}) {
      EXPECT_EQ(Run(arg1, kInstance | 2, data).status, MailboxStatus::kErrNotAvailable)
          << "whether there is one or not";
    }
  }
}

TEST_F(ConfidentialVmTest, TheDeviceIsTheOthers) {
  EXPECT_EQ(Run(kSm).data, 25u * 256) << "two of eight, not five";
  EXPECT_EQ(Run(kSnapshot | kSm).data, 25u * 256);
  EXPECT_EQ(Run(kDram).data, 0u);
  EXPECT_EQ(Run(kSm, 1).data, 25u * 256) << "over the time since the start";
  EXPECT_EQ(Run(kPcieTx).status, MailboxStatus::kErrNotAvailable);
  EXPECT_EQ(Run(kSnapshot | kPcieTx).status, MailboxStatus::kErrNotAvailable);
}

TEST_F(ConfidentialVmTest, TheHypervisorIsOneOfTheOthers) {
  gpu_.AddHostBlock(0);
  gpu_.AddHostBlock(1);
  Run(kSm);  // a window of VMs and hosts
  Count(0, 1, "sm_active_cycles", 4);
  Count(2, 0, "sm_active_cycles", 3);
  gpu_.time_ns += kWindowNs;
  EXPECT_EQ(Run(kSm).data, 50u * 256) << "four of eight, not seven";
}

// The fake's device block has the counts of all VMs, and so tells which block was taken.
TEST_F(ConfidentialVmTest, BesidePrivateOnesTheDeviceIsItsOwnBlock) {
  gpu_.catalog().vms[1].is_private = true;
  Run(kSm);
  gpu_.time_ns += kWindowNs;
  Run(kSm);
  Count(1, 0, "sm_active_cycles", 2);
  Count(2, 0, "sm_active_cycles", 3);
  gpu_.time_ns += kWindowNs;
  EXPECT_EQ(Run(kSm).data, 500u * 256 / 8);
  EXPECT_EQ(Run(kSm, 2).status, MailboxStatus::kErrNotAvailable);
  EXPECT_EQ(Run(kPcieTx).status, MailboxStatus::kErrNotAvailable) << "events of the device are nobody's";
}

TEST_F(ConfidentialVmTest, ThatSumHasNoPrivateVmEither) {
  gpu_.catalog().vms[0].is_private = true;
  Run(kSm);
  gpu_.time_ns += kWindowNs;
  Run(kSm);
  Count(1, 0, "sm_active_cycles", 2);
  Count(3, mailbox::kNoContext, "sm_active_cycles", 1);
  gpu_.time_ns += kWindowNs;
  EXPECT_EQ(Run(kSm).data, 100u * 256 / 8) << "VM 3's alone";
  EXPECT_EQ(Run(kSm, 1).status, MailboxStatus::kSuccess) << "VM 1's own value is not the device's";
}

TEST_F(ConfidentialVmTest, ItsComingAndGoingTellNothingEither) {
  EXPECT_EQ(Run(kSm).status, MailboxStatus::kSuccess);
  gpu_.catalog().vms[1].confidential = false;
  Count(1, 0, "sm_active_cycles", 1);
  gpu_.time_ns += kWindowNs;
  EXPECT_EQ(Run(kSm).status, MailboxStatus::kErrNotAvailable) << "no window of two kinds";
  gpu_.time_ns += kWindowNs;
  EXPECT_EQ(Run(kSm).data, 0u);
  gpu_.catalog().vms[1].confidential = true;
  gpu_.time_ns += kWindowNs;
  EXPECT_EQ(Run(kSm).status, MailboxStatus::kErrNotAvailable);
}

}  // namespace
}  // namespace sideband::mcu
