// SPDX-License-Identifier: Apache-2.0
#include "daemon/snapshot/utilisation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace sideband::daemon {
namespace {

constexpr uint64_t kOnePerCycle = uint64_t{1} << 32;
constexpr size_t kTensor = 0, kResidency = 1, kPcie = 2;
constexpr size_t kDevice = 0, kVm = 1, kContext = 2;

// A device of two slices at 1000 Hz: four tensor cores on slice 0, two on slice 1. The VM and its context are on
// slice 0.
class UtilisationTest : public testing::Test {
 protected:
  UtilisationTest() {
    catalog_.reference_clock_hz = 1000;
    catalog_.events = {
        {.name = "tensor_active_cycles",
         .details = {.slices = {{.capacity_q32 = 4 * kOnePerCycle}, {.capacity_q32 = 2 * kOnePerCycle}}}},
        {.name = "resident_cycles", .details = {.slices = {{.capacity_q32 = kOnePerCycle}}}},
        {.name = "pcie_tx",
         .scope = mailbox::EventScope::kDevice,
         .details = {.slices = {{.capacity_q32 = kOnePerCycle}}}}};
    catalog_.slices = {{0, "slice0"}, {1, "slice1"}};
    catalog_.vms = {{.id = 1, .name = "vm1", .slice = 0}};
    catalog_.contexts = {{.vm = 1, .id = 5, .name = "train", .slice = 0}};
    snapshot_.data.counters_per_block = 3;
    snapshot_.data.blocks = {{.vm = 0}, {.vm = 1}, {.vm = 1, .context = 5}};
    snapshot_.rates = {1500, 600, 250, 1000, 500, 0, 1000, 500, 0};
    snapshot_.elapsed = absl::Seconds(1);
  }

  std::optional<Utilisation> Of(size_t row, size_t event) {
    snapshot_.topology = std::make_shared<Topology>(catalog_, 1);
    return RowUtilisation(snapshot_, row).Of(event);
  }
  bool IsContradiction(size_t row, size_t event) const { return RowUtilisation(snapshot_, row).IsContradiction(event); }
  void SetRate(size_t row, size_t event, double rate) { snapshot_.rates[row * 3 + event] = rate; }

  mailbox::Catalog catalog_;
  DeviceSnapshot snapshot_;
};

TEST_F(UtilisationTest, OfTheDeviceIsOfAllSlices) {
  EXPECT_DOUBLE_EQ(Of(kDevice, kTensor)->value, 1500.0 / (6 * 1000));
  EXPECT_DOUBLE_EQ(Of(kDevice, kResidency)->value, 600.0 / (2 * 1000));
  EXPECT_DOUBLE_EQ(Of(kDevice, kPcie)->value, 0.25);
}

TEST_F(UtilisationTest, OfAVmIsOfItsSlice) {
  const auto tensor = Of(kVm, kTensor);
  EXPECT_DOUBLE_EQ(tensor->value, 0.25);
  EXPECT_DOUBLE_EQ(tensor->counted_per_second, 1000);
  EXPECT_DOUBLE_EQ(tensor->capacity_per_second, 4000);
  EXPECT_EQ(Of(kVm, kPcie), std::nullopt) << "an event of the device";
}

TEST_F(UtilisationTest, OfAVmWithoutSliceIsOfTheDevice) {
  catalog_.vms[0].slice = mailbox::kAnySlice;
  EXPECT_DOUBLE_EQ(Of(kVm, kTensor)->value, 1000.0 / 6000);
}

TEST_F(UtilisationTest, OfAContextIsOfItsResidentCycles) {
  EXPECT_DOUBLE_EQ(Of(kContext, kTensor)->value, 0.5);
  EXPECT_DOUBLE_EQ(Of(kContext, kResidency)->value, 0.5) << "of the slice's time";
  catalog_.contexts[0].slice = mailbox::kAnySlice;
  EXPECT_EQ(Of(kContext, kTensor), std::nullopt) << "the slices differ";
  EXPECT_DOUBLE_EQ(Of(kContext, kResidency)->value, 0.5);
}

TEST_F(UtilisationTest, OfAHostIsOfTheTimeWithoutAResident) {
  catalog_.host_blocks = {{.slice = 1, .generation = 1}};
  snapshot_.data.blocks.push_back({.vm = 0, .context = 1});
  snapshot_.rates.insert(snapshot_.rates.end(), {300, 250, 0});
  EXPECT_DOUBLE_EQ(Of(3, kTensor)->value, 300.0 / (2 * 250));
  EXPECT_DOUBLE_EQ(Of(3, kResidency)->value, 0.25) << "of the slice's time";
  EXPECT_FALSE(RowUtilisation(snapshot_, 3).IsIn(kTensor, {true, false, false})) << "it would reveal resident_cycles";
}

TEST_F(UtilisationTest, IsAbsentWhereSomethingIsUnknown) {
  SetRate(kVm, kTensor, std::nan(""));
  EXPECT_EQ(Of(kVm, kTensor), std::nullopt) << "no rate";
  SetRate(kContext, kResidency, 0);
  EXPECT_EQ(Of(kContext, kTensor), std::nullopt) << "not resident";
  EXPECT_NE(Of(kDevice, kTensor), std::nullopt);
  snapshot_.data.blocks[kDevice].flags = mailbox::kFlagConfidentialExcluded;
  EXPECT_EQ(Of(kDevice, kTensor), std::nullopt) << "not the whole device";
  catalog_.reference_clock_hz = 0;
  EXPECT_EQ(Of(kVm, kResidency), std::nullopt) << "no clock";
  catalog_.reference_clock_hz = 1000;
  snapshot_.elapsed = absl::ZeroDuration();
  EXPECT_EQ(Of(kVm, kResidency), std::nullopt) << "no interval";
}

TEST_F(UtilisationTest, IsAtMostOne) {
  catalog_.reference_clock_hz = 1'000'000'000;
  snapshot_.elapsed = absl::Microseconds(1);
  SetRate(kVm, kTensor, 4e9 * 1.034);
  EXPECT_EQ(Of(kVm, kTensor)->value, 1) << "32 cycles and two nanoseconds more of a microsecond";
  EXPECT_FALSE(IsContradiction(kVm, kTensor));
  SetRate(kVm, kTensor, 4e9 * 1.036);
  EXPECT_EQ(Of(kVm, kTensor), std::nullopt);
  EXPECT_TRUE(IsContradiction(kVm, kTensor));
  snapshot_.elapsed = absl::Seconds(1);
  SetRate(kVm, kTensor, 4e9 * 1.0009);
  EXPECT_EQ(Of(kVm, kTensor)->value, 1) << "remainders of prescaled wires";
}

TEST_F(UtilisationTest, NeedsTheEventsBehindIt) {
  snapshot_.topology = std::make_shared<Topology>(catalog_, 1);
  const RowUtilisation vm(snapshot_, kVm), context(snapshot_, kContext);
  EXPECT_TRUE(vm.IsIn(kTensor, {true, false, false}));
  EXPECT_FALSE(vm.IsIn(kTensor, {false, true, true}));
  EXPECT_FALSE(context.IsIn(kTensor, {true, false, false})) << "it would reveal resident_cycles";
  EXPECT_TRUE(context.IsIn(kTensor, {true, true, false}));
  EXPECT_TRUE(context.IsIn(kResidency, {false, true, false}));
}

class GatedUtilisationTest : public UtilisationTest {
 protected:
  static constexpr size_t kRunning = 2;

  GatedUtilisationTest() {
    catalog_.events[kRunning] = {.name = "group_guest_running_cycles",
                                 .details = {.slices = {{.capacity_q32 = kOnePerCycle}}, .gate_group = 0}};
    catalog_.events[kTensor].details.gate_group = 0;
    catalog_.gate_groups = {{.name = "guest", .running_event = kRunning}};
    snapshot_.rates = {1500, 600, 500, 1000, 500, 400, 1000, 500, 400};
  }
};

TEST_F(GatedUtilisationTest, IsOfRunningCyclesAtEachLevel) {
  EXPECT_DOUBLE_EQ(Of(kVm, kTensor)->value, 1000.0 / (4 * 400));
  EXPECT_DOUBLE_EQ(Of(kVm, kTensor)->capacity_per_second, 4 * 400);
  EXPECT_DOUBLE_EQ(Of(kContext, kTensor)->value, 1000.0 / (4 * 400));
  EXPECT_EQ(Of(kDevice, kTensor), std::nullopt) << "the slices differ: whose cycles ran is unknown";
  catalog_.events[kTensor].details.slices[1].capacity_q32 = 4 * kOnePerCycle;
  EXPECT_DOUBLE_EQ(Of(kDevice, kTensor)->value, 1500.0 / (4 * 500));
  EXPECT_DOUBLE_EQ(Of(kVm, kRunning)->value, 0.4) << "of the slice's time";
  EXPECT_DOUBLE_EQ(Of(kContext, kRunning)->value, 0.8) << "of its time on the slice";
}

TEST_F(GatedUtilisationTest, IsAbsentWithoutCoverage) {
  SetRate(kVm, kRunning, 0);
  EXPECT_EQ(Of(kVm, kTensor), std::nullopt) << "no cycle";
  catalog_.events[kRunning].masked = true;
  EXPECT_EQ(Of(kContext, kTensor), std::nullopt) << "cycles that are not counted";
}

TEST_F(GatedUtilisationTest, NeedsTheRightToReadTheRunningCycles) {
  snapshot_.topology = std::make_shared<Topology>(catalog_, 1);
  const RowUtilisation vm(snapshot_, kVm);
  EXPECT_FALSE(vm.IsIn(kTensor, {true, true, false}));
  EXPECT_TRUE(vm.IsIn(kTensor, {true, false, true}));
}

TEST_F(UtilisationTest, TheNameOfTheCoveragesIsNotAnEvents) {
  catalog_.events[kTensor].name = "gate_coverage_cycles";
  EXPECT_EQ(UtilisationNames(Topology(catalog_, 1), {})[kTensor], "");
}

TEST_F(UtilisationTest, IsNamedWithoutCycles) {
  catalog_.events.push_back({.name = "resident", .details = catalog_.events[kTensor].details});
  catalog_.events.push_back({.name = "undescribed_cycles"});
  using Names = std::vector<std::string>;
  EXPECT_EQ(UtilisationNames(Topology(catalog_, 1), {}), (Names{"tensor_active", "resident", "pcie_tx", "", ""}));
  const RatioSpec configured{.name = "tensor_active"};
  EXPECT_EQ(UtilisationNames(Topology(catalog_, 1), {{.spec = &configured}}),
            (Names{"", "resident", "pcie_tx", "", ""}));
}

}  // namespace
}  // namespace sideband::daemon
