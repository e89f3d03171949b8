// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/firmware/performance_monitor.h"

#include <gtest/gtest.h>

#include <optional>

#include "secure_mcu/firmware/fake_gpu.h"

namespace sideband::mcu {
namespace {

using mailbox::kNoContext;
using mailbox::MailboxStatus;

MetricSample At(uint64_t time_ns, uint64_t identity = 1) {
  return {.identity = identity, .reference_time_ns = time_ns};
}

TEST(MetricCountTest, EveryPartAddsUp) {
  MetricCount sum{.count = 1, .turns = {.enabled = 20, .running = 10}, .running = 100};
  sum += {.count = 2, .turns = {.enabled = 40, .running = 30}, .running = 300};
  EXPECT_EQ(sum.count, 3u);
  EXPECT_EQ(sum.turns, (mailbox::RotationTime{.enabled = 60, .running = 40}));
  EXPECT_EQ(sum.running, 400u);
}

TEST(MetricWindowTest, AWindowIsLongEnough) {
  MetricWindow window;
  window.Update(At(0), 100, 200);
  EXPECT_EQ(window.begin(), nullptr);
  window.Update(At(99), 100, 200);
  EXPECT_EQ(window.begin(), nullptr);
  window.Update(At(100), 100, 200);
  EXPECT_EQ(window.begin()->reference_time_ns, 0u);
  EXPECT_EQ(window.end()->reference_time_ns, 100u);
  window.Update(At(299), 100, 200);
  EXPECT_EQ(window.end()->reference_time_ns, 100u) << "the next is longer; the last one stays";
  window.Update(At(350), 100, 200);
  EXPECT_EQ(window.begin()->reference_time_ns, 100u);
  EXPECT_EQ(window.end()->reference_time_ns, 350u) << "since the last read";
}

TEST(MetricWindowTest, AWindowIsOfOneThing) {
  MetricWindow window;
  window.Update(At(0, 1), 100, 100);
  window.Update(At(100, 1), 100, 100);
  window.Update(At(200, 2), 100, 100);
  EXPECT_EQ(window.begin(), nullptr) << "counting began anew";
  window.Update(At(300, 2), 100, 100);
  EXPECT_EQ(window.begin()->reference_time_ns, 200u);
}

constexpr uint64_t kWindowNs = 100'000'000;
constexpr uint64_t kWindowCycles = 100'000'000;  // of the fake GPU's clock
constexpr uint8_t kSm = 0x01, kTensor = 0x03, kDram = 0x04, kPcieTx = 0x08;
constexpr uint8_t kSnapshot = 0x40, kCapture = 0x80, kMultiplier = 0xC0;
constexpr uint8_t kAll = 0xFF, kInstance = 0x80;

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

// --- Links and engines

// Decoders 0 and 1 of each slice, the second with two wires; decoder 2 of slice 0 alone. Two links of the device.
class InstanceMetricsTest : public testing::Test {
 protected:
  InstanceMetricsTest() {
    gpu_.AddEvent("nvdec0_active_cycles", {1, 1});
    gpu_.AddEvent("nvdec1_active_cycles", {2, 2});
    gpu_.AddEvent("nvdec2_active_cycles", {1, 0});
    gpu_.AddEvent("nvlink0_tx_cycles", {});
    gpu_.AddEvent("nvlink1_tx_cycles", {});
    gpu_.AddEvent("nvjpg_active_cycles", {1, 1});
    monitor_.emplace(gpu_);
  }
  Reply Run(uint8_t arg1, uint8_t arg2, uint32_t data) { return monitor_->Execute(arg1, arg2, data); }
  MailboxStatus Status(uint8_t arg1, uint8_t arg2, uint32_t data) { return Run(arg1, arg2, data).status; }
  void Count(uint16_t vm, uint16_t context, const char* event, double wires) {
    gpu_.Count(vm, context, event, static_cast<uint64_t>(wires * kWindowCycles));
  }
  // A window of links and decoders.
  void CountAWindow() {
    Count(1, 0, "nvdec0_active_cycles", 0.5);
    Count(1, 1, "nvdec0_active_cycles", 0.25);
    Count(1, 1, "nvdec1_active_cycles", 0.5);
    Count(2, 0, "nvdec0_active_cycles", 0.25);
    Count(0, kNoContext, "nvlink0_tx_cycles", 0.75);
    Count(0, kNoContext, "nvlink1_tx_cycles", 0.25);
    gpu_.time_ns += kWindowNs;
  }

  static constexpr uint8_t kNvdec = 0x0E, kNvdecEach = 0x15, kNvjpgEach = 0x16;
  static constexpr uint8_t kLinks = 0x0A, kEachLink = 0x11, kEachLinksData = 0x12, kEachLinkRx = 0x13;
  FakeGpu gpu_;
  std::optional<PerformanceMonitor> monitor_;
};

TEST_F(InstanceMetricsTest, DataInSelectsTheInstance) {
  Run(kCapture, kAll, 0);
  CountAWindow();
  Run(kCapture, kAll, 0);
  for (const uint8_t action : {uint8_t{0}, kSnapshot}) {
    EXPECT_EQ(Run(action | kNvdecEach, kAll, 0).data, 50u * 256) << "of two wires";
    EXPECT_EQ(Run(action | kNvdecEach, kAll, 1).data, 1250u * 256 / 100) << "of four";
    EXPECT_EQ(Run(action | kNvdecEach, 1, 0).data, 75u * 256);
    EXPECT_EQ(Run(action | kNvdecEach, 1, 1).data, 25u * 256);
    EXPECT_EQ(Run(action | kNvdecEach, 1, 2).data, 0u);
    EXPECT_EQ(Run(action | kEachLink, kAll, 0).data, 75u * 256);
    EXPECT_EQ(Run(action | kEachLink, kAll, 1).data, 25u * 256);
    EXPECT_EQ(Run(action | kEachLinksData, kAll, 1).data, 25u * 256) << "its transfers are data";
    EXPECT_EQ(Run(action | kEachLink, kAll, 0xFFFFFF01).data, 25u * 256) << "only bits 7:0 count";
  }
}

TEST_F(InstanceMetricsTest, BesideTheComputeInstance) {
  CountAWindow();
  EXPECT_EQ(Run(kNvdecEach, kInstance | 1, 0x0000).data, 50u * 256);
  EXPECT_EQ(Run(kNvdecEach, kInstance | 1, 0x0001).data, 0u);
  EXPECT_EQ(Run(kNvdecEach, kInstance | 1, 0x0100).data, 25u * 256);
  EXPECT_EQ(Run(kNvdecEach, kInstance | 1, 0xFFFF0101).data, 25u * 256);
  EXPECT_EQ(Status(kNvdecEach, kInstance | 1, 0x0200), MailboxStatus::kErrData);
  EXPECT_EQ(Run(kNvdec, kInstance | 1, 0x01FF).data, 75u * 256 / 4) << "other metrics have no bits 7:0";
}

TEST_F(InstanceMetricsTest, AnAggregateIsOfAllWires) {
  CountAWindow();
  EXPECT_EQ(Run(kNvdec, 1, 0).data, 125u * 256 / 4) << "1.25 of four";
  EXPECT_EQ(Run(kNvdec, 2, 0).data, static_cast<uint32_t>(25 * 256 / 3.0 + 0.5)) << "a quarter of three";
  EXPECT_EQ(Run(kLinks, kAll, 0).data, 50u * 256) << "the mean of both links";
  EXPECT_EQ(Run(kLinks, kAll, 77).data, 50u * 256);
}

TEST_F(InstanceMetricsTest, InstancesThatAreNotThere) {
  CountAWindow();
  for (const uint8_t action : {uint8_t{0}, kSnapshot}) {
    for (const uint32_t instance : {3, 31, 32, 255}) {
      EXPECT_EQ(Status(action | kNvdecEach, kAll, instance), MailboxStatus::kErrData) << instance;
      EXPECT_EQ(Status(action | kNvdecEach, 1, instance), MailboxStatus::kErrData) << instance;
    }
    EXPECT_EQ(Status(action | kEachLink, kAll, 2), MailboxStatus::kErrData);
    EXPECT_EQ(Status(action | kEachLinkRx, kAll, 0), MailboxStatus::kErrNotSupported) << "of no link";
    EXPECT_EQ(Status(action | kNvjpgEach, kAll, 0), MailboxStatus::kErrNotSupported) << "all together alone";
    EXPECT_EQ(Status(action | kNvdecEach, 4, 3), MailboxStatus::kErrArg2) << "the first wrong argument";
  }
  EXPECT_EQ(Status(kNvdecEach, 2, 2), MailboxStatus::kErrNotSupported) << "not on its slice";
  EXPECT_EQ(Status(kEachLink, 1, 0), MailboxStatus::kErrNotSupported) << "the device's alone";
  EXPECT_EQ(Status(kLinks, 1, 0), MailboxStatus::kErrNotSupported);
}

TEST_F(InstanceMetricsTest, BesideAConfidentialVm) {
  gpu_.catalog().vms[1].confidential = true;
  monitor_.emplace(gpu_);
  CountAWindow();
  EXPECT_EQ(Run(kNvdecEach, kAll, 0).data, 75u * 256 / 2) << "without VM 2's quarter";
  EXPECT_EQ(Run(kNvdec, kAll, 0).data, static_cast<uint32_t>(125 * 256 / 7.0 + 0.5)) << "1.25 of seven wires";
  EXPECT_EQ(Status(kEachLink, kAll, 0), MailboxStatus::kErrNotAvailable);
  EXPECT_EQ(Status(kLinks, kAll, 0), MailboxStatus::kErrNotAvailable);
  for (const uint32_t data : {0, 1, 3, 0x0100, 0x7700}) {
    EXPECT_EQ(Status(kNvdecEach, 2, data), MailboxStatus::kErrNotAvailable) << data;
    EXPECT_EQ(Status(kNvdecEach, kInstance | 2, data), MailboxStatus::kErrNotAvailable) << data;
  }
}

TEST_F(InstanceMetricsTest, BesideAPrivateVmWhatIsAllowedIsOfAll) {
  gpu_.catalog().vms[1].confidential = gpu_.catalog().vms[1].is_private = true;
  monitor_.emplace(gpu_, ComplementPolicy{.counters = Complement::kAllow});
  CountAWindow();
  EXPECT_EQ(Run(kNvdecEach, kAll, 0).data, 50u * 256);
  EXPECT_EQ(Run(kEachLink, kAll, 0).data, 75u * 256) << "from the device's own block";
  EXPECT_EQ(Status(kEachLink, kAll, 2), MailboxStatus::kErrData);
}

// Decoder 2, of slice 0 alone, is in a group that was never counted on slice 1.
TEST_F(InstanceMetricsTest, AGroupCountsOnlyWhereItHasWires) {
  gpu_.catalog().events[7].details.gate_group = 0;
  gpu_.AddEvent("group_g_running_cycles", {0, 0});
  gpu_.catalog().gate_groups = {{"g", 11}};
  monitor_.emplace(gpu_);
  CountAWindow();
  EXPECT_EQ(Run(kNvdec, 2, 0).data, static_cast<uint32_t>(25 * 256 / 3.0 + 0.5));
  EXPECT_EQ(Status(kNvdec, 1, 0), MailboxStatus::kErrNotAvailable) << "a part of it is unknown";
  EXPECT_EQ(Status(kNvdecEach, 1, 2), MailboxStatus::kErrNotAvailable);
  EXPECT_EQ(Run(kNvdecEach, 1, 0).data, 75u * 256);
}

// --- The rules of complement protection (complement.h)

class ComplementTest : public ConfidentialVmTest {
 protected:
  // The value of SM activity of the device, by each of the two classes, over a window with 2 of 8 SMs of an open VM and
  // 3 of the confidential one.
  PerformanceMonitor::Reading Utilisation(const ComplementPolicy& complement) {
    return Played(complement).WholeDevice(mailbox::MetricId::kSmActivity);
  }
  Reply Metric(uint8_t metric, const ComplementPolicy& complement) {
    return Played(complement).Execute(metric, kAll, 0);
  }

 private:
  PerformanceMonitor& Played(const ComplementPolicy& complement) {
    PerformanceMonitor& monitor = played_.emplace(gpu_, complement);
    monitor.Execute(kCapture, kAll, 0);
    Count(1, 0, "sm_active_cycles", 2);
    Count(2, 0, "sm_active_cycles", 3);
    Count(0, kNoContext, "pcie_tx_cycles", 1);
    gpu_.time_ns += kWindowNs;
    monitor.Execute(kCapture, kAll, 0);
    return monitor;
  }

  std::optional<PerformanceMonitor> played_;
};

TEST_F(ComplementTest, EachClassHasItsRule) {
  constexpr Complement kAllow = Complement::kAllow, kWithhold = Complement::kWithhold;
  for (const uint8_t metric : {kSm, uint8_t(kSnapshot | kSm)}) {
    EXPECT_EQ(Metric(metric, {.utilisation = kAllow}).data, 25u * 256) << "excluded by default";
    EXPECT_EQ(Metric(metric, {.counters = kAllow}).data, 500u * 256 / 8);
    EXPECT_EQ(Metric(metric, {.counters = kWithhold}).status, MailboxStatus::kErrNotAvailable);
  }
  EXPECT_EQ(Utilisation({.counters = kAllow}).percent, 25);
  EXPECT_EQ(Utilisation({.utilisation = kAllow}).percent, 62.5);
  EXPECT_EQ(Utilisation({.utilisation = kWithhold}).status, MailboxStatus::kErrNotAvailable);
}

TEST_F(ComplementTest, EventsOfTheDeviceAreAllowedOnly) {
  EXPECT_EQ(Metric(kPcieTx, {}).status, MailboxStatus::kErrNotAvailable);
  EXPECT_EQ(Metric(kPcieTx, {.counters = Complement::kWithhold}).status, MailboxStatus::kErrNotAvailable);
  EXPECT_EQ(Metric(kPcieTx, {.counters = Complement::kAllow}).data, 100u * 256);
}

TEST_F(ComplementTest, AllowedValuesHavePrivateVms) {
  // The fake's device block has the counts of all VMs, which the sum over the VMs' blocks does not count twice.
  gpu_.catalog().vms[1].is_private = true;
  EXPECT_EQ(Metric(kSm, {.counters = Complement::kAllow}).data, 500u * 256 / 8);
  EXPECT_EQ(Metric(kPcieTx, {.counters = Complement::kAllow}).data, 100u * 256);
}

TEST_F(ComplementTest, WithoutAConfidentialVmNothingIsWithheld) {
  gpu_.catalog().vms[1].confidential = false;
  EXPECT_EQ(Metric(kSm, {.counters = Complement::kWithhold}).data, 500u * 256 / 8);
  gpu_.catalog().has_had_confidential_vm = true;
  EXPECT_EQ(Metric(kSm, {.counters = Complement::kWithhold}).status, MailboxStatus::kErrNotAvailable)
      << "there was one since the boot";
}

TEST_F(ComplementTest, ItsOwnValuesAreNeverAllowed) {
  const ComplementPolicy all = {.counters = Complement::kAllow, .utilisation = Complement::kAllow};
  PerformanceMonitor monitor(gpu_, all);
  gpu_.time_ns += kWindowNs;
  EXPECT_EQ(monitor.Execute(kSm, 2, 0).status, MailboxStatus::kErrNotAvailable);
}

}  // namespace

}  // namespace sideband::mcu
