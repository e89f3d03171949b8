// SPDX-License-Identifier: Apache-2.0
//
// The activity that the firmware reports for a live device matches the counts of the device's pipeline.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <memory>
#include <optional>

#include "absl/strings/str_replace.h"
#include "secure_mcu/chip_file/chip_file.h"
#include "secure_mcu/device/live_device.h"
#include "secure_mcu/firmware/board_unit.h"
#include "secure_mcu/firmware/performance_monitor.h"

namespace sideband::mcu {
namespace {

using mailbox::MailboxStatus;

constexpr char kMetricsChip[] = R"(
device: {uuid: 6f1c0a52-3d0e-4a53-9a51-0d4c2a7e9b10, clock_hz: 1000000}
slices: 2
pipeline: {trigger_period: 1000, commit_period: 4000, hypervisor_commit_period: 2000}
units:
  - {name: sm, count: 3, events: [sm_active_cycles]}
  - {name: dram, count: 2, slices: [0], events: [dram_read_cycles, dram_write_cycles]}
device_units: [{name: pcie, events: [pcie_tx_cycles]}]
device_workload: {phases: [{kind: copy, time: 1ms}]}
vms:
  - name: vm1
    uuid: 11111111-0000-4000-8000-000000000001
    contexts:
      - {name: a, slice: 0, seed: 1, phases: [{kind: gemm, time: 2ms}]}
      - {name: b, slice: 0, seed: 2, phases: [{kind: attention, time: 1ms}]}
  - name: vm2
    uuid: 22222222-0000-4000-8000-000000000002
    contexts: [{name: a, slice: 1, seed: 3, phases: [{kind: gemm, time: 1ms}]}]
quantum: 1ms
gap: 100us
)";

constexpr double kCyclesPerMs = 1000;
constexpr uint8_t kSm = 0x01, kDram = 0x04, kPcieTx = 0x08, kSnapshot = 0x40, kCapture = 0x80, kAll = 0xFF;

class LiveMetricsTest : public testing::Test {
 protected:
  static std::string Write(const std::string& name, const std::string& text) {
    const std::string path = testing::TempDir() + name;
    std::ofstream(path) << text;
    return path;
  }
  void PowerOn(const std::string& chip) {
    device_ = *LiveDevice::Create(*LoadChipFile(Write("chip.yaml", chip)), 42, [this] { return elapsed_; });
    monitor_.emplace(*device_);
  }
  // In percent.
  double Run(uint8_t arg1, uint8_t arg2 = kAll, uint32_t data = 0) {
    const Reply reply = monitor_->Execute(arg1, arg2, data);
    EXPECT_EQ(reply.status, MailboxStatus::kSuccess) << int{arg1} << " " << int{arg2};
    return reply.data / 256.0;
  }
  MailboxStatus Status(uint8_t arg1, uint8_t arg2 = kAll) { return monitor_->Execute(arg1, arg2, 0).status; }

  absl::Duration elapsed_;
  std::unique_ptr<LiveDevice> device_;
  std::optional<PerformanceMonitor> monitor_;
};

// Right after a latch the blocks are current, so both sides have the same counts.
TEST_F(LiveMetricsTest, BetweenTwoCapturesIsWhatTwoLatchesSay) {
  PowerOn(kMetricsChip);
  elapsed_ = absl::Milliseconds(500);
  const mailbox::Snapshot begin = device_->Latch();
  Run(kCapture);
  elapsed_ = absl::Milliseconds(777);
  const mailbox::Snapshot end = device_->Latch();
  Run(kCapture);
  const auto share = [&](size_t block, size_t event, double wires) {
    const auto counts = static_cast<double>(end.Counters(block)[event] - begin.Counters(block)[event]);
    return 100 * counts / (277 * kCyclesPerMs * wires);
  };
  constexpr double kStep = 1.0 / 256;
  // The blocks: the device, VM 1, its two contexts, VM 2, its context.
  EXPECT_NEAR(Run(kSnapshot | kSm), share(0, 0, 6), kStep);
  EXPECT_NEAR(Run(kSnapshot | kSm, 1), share(1, 0, 3), kStep);
  EXPECT_NEAR(Run(kSnapshot | kSm, 0x81, 0x0100), share(3, 0, 3), kStep);
  EXPECT_NEAR(Run(kSnapshot | kSm, 2), share(4, 0, 3), kStep);
  EXPECT_NEAR(Run(kSnapshot | kDram), share(0, 1, 4) + share(0, 2, 4), kStep);
  EXPECT_NEAR(Run(kSnapshot | kPcieTx), share(0, 3, 1), kStep);
  EXPECT_GT(Run(kSnapshot | kSm, 1), 50);
  EXPECT_EQ(Status(kSnapshot | kDram, 2), MailboxStatus::kErrNotSupported) << "there is none on its slice";
}

// Committed counts are up to a period old; over the time between two commits no count is lost.
TEST_F(LiveMetricsTest, WithoutALatchTheCommitsAreEnough) {
  PowerOn(kMetricsChip);
  for (const int ms : {1003, 1107, 2001}) {
    elapsed_ = absl::Milliseconds(ms);
    const double device = Run(kSm), partition = Run(kSm, 1), instance = Run(kSm, 0x81, 0x0000);
    EXPECT_NEAR(device, 79, 3) << ms << ": GEMM and attention, a tenth of the time nobody";
    EXPECT_NEAR(partition, 77, 3) << ms;
    EXPECT_NEAR(instance, 40, 3) << ms << ": GEMM, half of the time";
  }
}

TEST_F(LiveMetricsTest, AConfidentialVmIsNotInTheDevicesValue) {
  for (const char* const is_private : {"true", "false"}) {
    std::string chip = kMetricsChip;
    chip.replace(chip.find("    contexts: [{name: a, slice: 1"), 0,
                 std::string("    confidential: true\n    counting: {private: ") + is_private + "}\n");
    elapsed_ = absl::ZeroDuration();
    PowerOn(chip);
    device_->Latch();
    elapsed_ = absl::Milliseconds(500);
    const mailbox::Snapshot end = device_->Latch();
    EXPECT_NEAR(Run(kSm), 100 * static_cast<double>(end.Counters(1)[0]) / (500 * kCyclesPerMs * 6), 1.0 / 256)
        << "the other VM's counts, of all wires";
    EXPECT_EQ(Status(kSm, 2), MailboxStatus::kErrNotAvailable);
    EXPECT_EQ(Status(kPcieTx), MailboxStatus::kErrNotAvailable);
  }
}

// --- Links and engines

// Two decoders on each slice, a third on the second; two links of the device.
constexpr char kInstances[] = R"(
device: {uuid: 6f1c0a52-3d0e-4a53-9a51-0d4c2a7e9b10, clock_hz: 1000000}
slices: 2
units:
  - {name: nvdec, events: [nvdec0_active_cycles, nvdec1_active_cycles]}
  - {name: more, slices: [1], events: [nvdec2_active_cycles]}
device_units: [{name: nvlink, events: [nvlink0_tx_cycles, nvlink1_tx_cycles, nvlink0_data_tx_cycles]}]
device_workload: {phases: [{kind: copy, time: 1ms}]}
vms:
  - name: vm1
    uuid: 11111111-0000-4000-8000-000000000001
    contexts:
      - {name: a, slice: 0, seed: 1, phases: [{kind: gemm, time: 2ms}]}
      - {name: b, slice: 0, seed: 2, phases: [{kind: copy, time: 1ms}]}
  - name: vm2
    uuid: 22222222-0000-4000-8000-000000000002
    contexts: [{name: a, slice: 1, seed: 3, phases: [{kind: attention, time: 1ms}]}]
quantum: 1ms
gap: 100us
)";

// The law: an aggregate is the mean of its instances, in every scope that has a wire of each.
TEST_F(LiveMetricsTest, AnAggregateIsTheMeanOfItsInstances) {
  constexpr uint8_t kNvdec = 0x0E, kNvdecEach = 0x15;
  constexpr uint16_t kSecondContext = 0x0100;
  PowerOn(kInstances);
  Run(kCapture);
  elapsed_ = absl::Milliseconds(300);
  Run(kCapture);
  const auto expect_mean = [&](uint8_t arg2, uint32_t data, uint32_t instances) {
    for (const uint8_t action : {uint8_t{0}, kSnapshot}) {
      double sum = 0;
      for (uint32_t k = 0; k < instances; ++k) sum += Run(action | kNvdecEach, arg2, data | k);
      EXPECT_NEAR(Run(action | kNvdec, arg2, data), sum / instances, 1.0 / 256) << int{arg2} << " " << data;
      EXPECT_GT(sum, 1) << "they did something";
    }
  };
  expect_mean(1, 0, 2);
  expect_mean(0x81, 0, 2);
  expect_mean(0x81, kSecondContext, 2);
  expect_mean(2, 0, 3);
  EXPECT_NE(Run(kNvdecEach, 1, 0), Run(kNvdecEach, 1, 1)) << "each is a counter of its own";
  // Decoder 2 of the device has half as many wires as the others.
  const double sum = 2 * Run(kNvdecEach, kAll, 0) + 2 * Run(kNvdecEach, kAll, 1) + Run(kNvdecEach, kAll, 2);
  EXPECT_NEAR(Run(kNvdec), sum / 5, 1.0 / 256);
}

TEST_F(LiveMetricsTest, SoItIsOfLinks) {
  constexpr uint8_t kRaw = 0x0A, kData = 0x0B, kRawEach = 0x11, kDataEach = 0x12;
  PowerOn(kInstances);
  elapsed_ = absl::Milliseconds(300);
  EXPECT_NEAR(Run(kRaw), (Run(kRawEach, kAll, 0) + Run(kRawEach, kAll, 1)) / 2, 1.0 / 256);
  EXPECT_NEAR(Run(kData), (Run(kDataEach, kAll, 0) + Run(kDataEach, kAll, 1)) / 2, 1.0 / 256);
  EXPECT_EQ(Run(kDataEach, kAll, 1), Run(kRawEach, kAll, 1)) << "it has no event of data";
  EXPECT_NE(Run(kDataEach, kAll, 0), Run(kRawEach, kAll, 0));
  EXPECT_EQ(monitor_->Execute(kRawEach, kAll, 2).status, MailboxStatus::kErrData);
  EXPECT_EQ(monitor_->Execute(kRawEach, 1, 0).status, MailboxStatus::kErrNotSupported);
}

// --- Beside a twin with a counter for each event
// ----------------------------------------------------------------------

// Ten of eleven events are multiplexed, in four sets of 50 us.
constexpr char kManyEvents[] = R"(
device: {uuid: 6f1c0a52-3d0e-4a53-9a51-0d4c2a7e9b10, clock_hz: 100000000}
power: {idle_w: 1, event_pj: {fp32_active_cycles: 90000, tensor_active_cycles: 7000, sm_active_cycles: 500}}
slices: 1
units:
  - name: sm
    count: 2
    COUNTERS
    events: [sm_active_cycles, sm_occupancy_cycles, tensor_active_cycles, dram_read_cycles, dram_write_cycles,
             fp64_active_cycles, fp32_active_cycles, fp16_active_cycles, int_active_cycles, imma_active_cycles,
             nvdec_active_cycles]
ROTATION
vms:
  - name: vm1
    uuid: 11111111-0000-4000-8000-000000000001
    contexts:
      - {name: x, slice: 0, seed: 1, phases: [{kind: gemm, time: 300us}, {kind: copy, time: 70us}]}
      - {name: y, slice: 0, seed: 2, phases: [{kind: attention, time: 100us}]}
  - name: vm2
    uuid: 22222222-0000-4000-8000-000000000002
    contexts: [{name: z, slice: 0, seed: 3, phases: [{kind: all_reduce, time: 1ms}]}]
quantum: 1ms
gap: 0s
)";

constexpr uint8_t kTensor = 0x03, kVm = 1;
constexpr double kPercent = 256;
constexpr uint8_t kOfSets[] = {0x02, kTensor, 0x04, 0x05, 0x06, 0x07, 0x17, 0x1A, 0x0E};  // all but sm_active_cycles

// A device, and what its firmware says of it.
struct Powered {
  std::unique_ptr<LiveDevice> device;
  std::unique_ptr<BoardUnit> board;
  std::unique_ptr<PerformanceMonitor> monitor;
  std::unique_ptr<Sensors> sensors;

  Reply Read(uint8_t arg1, uint8_t arg2 = kAll, uint32_t data = 0) const { return monitor->Execute(arg1, arg2, data); }
};

class TurningMetricsTest : public LiveMetricsTest {
 protected:
  Powered PowerOnWith(const std::string& counters, const std::string& rotation) {
    const std::string chip = absl::StrReplaceAll(kManyEvents, {{"COUNTERS", counters}, {"ROTATION", rotation}});
    Powered one{
        .device = *LiveDevice::Create(*LoadChipFile(Write("turning.yaml", chip)), 42, [this] { return elapsed_; }),
        .board = nullptr,
        .monitor = nullptr,
        .sensors = nullptr};
    one.board = std::make_unique<BoardUnit>(*one.device, PowerModel(one.device->power()));
    one.monitor = std::make_unique<PerformanceMonitor>(*one.device);
    one.sensors = std::make_unique<Sensors>(*one.device, *one.board);
    return one;
  }
  Powered Rotating() {
    return PowerOnWith("counters: 4\n    fixed: [sm_active_cycles]",
                       "rotation: {slots: {stable: 50us, fluctuating: 50us}, adapt: false, seed: 1}");
  }
  Powered Twin() { return PowerOnWith("counters: 45", ""); }
};

TEST_F(TurningMetricsTest, AnEstimateIsInPlaceOfWhatWasCounted) {
  const Powered rotating = Rotating(), twin = Twin();
  for (const Powered* device : {&rotating, &twin}) device->Read(kCapture);
  elapsed_ = absl::Milliseconds(400);
  for (const Powered* device : {&rotating, &twin}) device->Read(kCapture);
  for (const uint8_t scope : {kAll, uint8_t{1}, uint8_t{2}, uint8_t{0x81}}) {
    for (const uint8_t metric : kOfSets) {
      const Reply shown = rotating.Read(kSnapshot | metric, scope), truth = twin.Read(kSnapshot | metric, scope);
      ASSERT_EQ(shown.status, MailboxStatus::kSuccess) << int{scope} << " " << int{metric};
      EXPECT_NEAR(shown.data, truth.data, 0.1 * truth.data + kPercent / 5) << int{scope} << " " << int{metric};
    }
  }
  EXPECT_GT(rotating.Read(kSnapshot | kTensor).data, 25 * kPercent) << "a quarter was counted";
}

TEST_F(TurningMetricsTest, SoAreEnergyAndPower) {
  const Powered rotating = Rotating(), twin = Twin();
  uint64_t before = 0;
  for (const int us : {0, 100'000, 100'030, 250'000, 400'000}) {
    elapsed_ = absl::Microseconds(us);
    const uint64_t shown = *rotating.sensors->EnergyMj(), truth = *twin.sensors->EnergyMj();
    EXPECT_NEAR(static_cast<double>(shown), static_cast<double>(truth), 0.1 * static_cast<double>(truth) + 1);
    EXPECT_GE(shown, before);
    before = shown;
    // Its slots are not open any more then.
    if (us == 100'000) rotating.device->Latch();
  }
  const double shown = rotating.sensors->GetPower(0).data, truth = twin.sensors->GetPower(0).data;
  EXPECT_NEAR(shown, truth, 0.1 * truth);
  EXPECT_GT(truth, 2000) << "what events use is seen";
}

TEST_F(TurningMetricsTest, WithoutATurnThereIsNoValue) {
  const Powered device = Rotating();
  device.Read(kCapture);
  elapsed_ = absl::Microseconds(60);
  device.Read(kCapture);
  size_t known = 0;
  for (const uint8_t metric : kOfSets) {
    const MailboxStatus status = device.Read(kSnapshot | metric, kVm).status;
    EXPECT_TRUE(status == MailboxStatus::kSuccess || status == MailboxStatus::kErrNotAvailable);
    known += status == MailboxStatus::kSuccess;
  }
  EXPECT_GE(known, 1) << "those of the one set that had a turn";
  EXPECT_LE(known, 3);
  EXPECT_EQ(device.Read(kSnapshot | kSm, kVm).status, MailboxStatus::kSuccess) << "it is counted all the time";
  EXPECT_EQ(device.sensors->EnergyMj(), std::nullopt) << "two events that use energy are of two sets";
  EXPECT_EQ(device.sensors->GetPower(0).status, MailboxStatus::kErrNotAvailable);
  EXPECT_EQ(device.sensors->GetTemperature(0, true).status, MailboxStatus::kErrNotAvailable);
  const Reply of_other = device.Read(kSnapshot | kTensor, 2);
  EXPECT_EQ(of_other.status, MailboxStatus::kSuccess) << "VM 2 was not resident: it has missed no turn";
  EXPECT_EQ(of_other.data, 0u);
}

// Nor if there were turns only before. The VM's slice commits at the end of each slot, the device's channel later.
TEST_F(TurningMetricsTest, AWindowNeedsTurnsOfItsOwn) {
  const Powered device = Rotating();
  elapsed_ = absl::Milliseconds(100);
  device.Read(kCapture);
  elapsed_ += absl::Microseconds(60);
  device.Read(kCapture);
  size_t known = 0;
  for (const uint8_t metric : kOfSets) known += device.Read(kSnapshot | metric, kVm).status == MailboxStatus::kSuccess;
  EXPECT_LT(known, std::size(kOfSets));
  EXPECT_TRUE(device.sensors->EnergyMj().has_value());
}

// A signal that is high in three of four cycles, on the slice of the schedule, which differs from that of the chip
// file.
TEST_F(LiveMetricsTest, AWaveformsWiresAreThoseOfItsSignals) {
  Write("t.vcd",
        "$scope module T $end\n$var wire 1 ! clk $end\n$var wire 1 \" busy $end\n$upscope $end\n$enddefinitions $end\n"
        "#0\n0!\n1\"\n#1\n1!\n#2\n0!\n#3\n1!\n#4\n0!\n#5\n1!\n#6\n0!\n0\"\n#7\n1!\n");
  Write("s.json",
        "{\"clock\": \"T.clk\", \"events\": [{\"name\": \"sm_active_cycles\", \"signal\": \"T.busy\", \"op\": "
        "\"high\"}]}");
  Write("c.csv", "start_cycle,end_cycle,vm,context,slice\n0,4,vm1,a,1\n");
  PowerOn(R"(
device: {uuid: 6f1c0a52-3d0e-4a53-9a51-0d4c2a7e9b10, clock_hz: 1000000}
slices: 2
waveform: {trace: t.vcd, signals: s.json, schedule: c.csv}
vms: [{name: vm1, uuid: 11111111-0000-4000-8000-000000000001, contexts: [{name: a}]}]
)");
  Run(kCapture);
  elapsed_ = absl::Milliseconds(40);
  device_->Latch();
  Run(kCapture);
  EXPECT_EQ(Run(kSnapshot | kSm, 1), 75);
  EXPECT_EQ(Run(kSnapshot | kSm, 0x81), 75);
  EXPECT_EQ(Run(kSnapshot | kSm), 37.5) << "the same signal is counted on both slices, and nobody is on the first";
}

}  // namespace
}  // namespace sideband::mcu
