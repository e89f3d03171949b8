// SPDX-License-Identifier: Apache-2.0
#include "daemon/collector/device_clocks.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "daemon/snapshot/topology.h"
#include "proto/clocks/mailbox_clocks.h"

namespace sideband::daemon {
namespace {

constexpr uint64_t kHz = 1'000'000'000;

// A clock of 500 MHz, or a little more.
mailbox::Catalog CatalogOfClocks() {
  mailbox::Catalog catalog;
  catalog.reference_clock_hz = kHz;
  catalog.slices = {{0, "slice0"}};
  catalog.clock_domains = {{.name = "sm",
                            .nominal_hz = kHz / 2,
                            .period_min = 131'000,
                            .period_max = 131'100,
                            .bar_low = 0,
                            .bar_high = 10 << mailbox::kInstantFractionBits,
                            .slice = 0,
                            .announces = true}};
  return catalog;
}

class DeviceClocksTest : public testing::Test {
 protected:
  // A second later, in which the clock has made so many edges more than 500 million.
  std::vector<ClockState> Second(int64_t more, uint32_t changes = 0) {
    snapshot_.reference_time_ns += kHz;
    inputs_.latched_after += absl::Seconds(1);
    ++snapshot_.trigger_id;
    edges_ += kHz / 2 + static_cast<uint64_t>(more);
    snapshot_.clocks = {mailbox::ClockReading{.local_clock = edges_ + 2, .changes = changes}};
    return clocks_.Follow(*topology_, snapshot_, inputs_);
  }

  std::unique_ptr<Topology> topology_ = std::make_unique<Topology>(CatalogOfClocks(), 7);
  mailbox::Snapshot snapshot_{.boot_id = 1, .trigger_id = 10};
  DeviceClocks clocks_;
  DeviceClocks::Inputs inputs_;
  uint64_t edges_ = 0;
};

TEST_F(DeviceClocksTest, OneReadingHasABoundAndNoFrequency) {
  const std::vector<ClockState> states = Second(0);
  ASSERT_EQ(states.size(), 1u);
  EXPECT_FALSE(states[0].frequency.has_value());
  ASSERT_TRUE(states[0].error_bound_s.has_value());
  EXPECT_NEAR(*states[0].error_bound_s, 5e-9, 1e-12) << "half of a bar of 10 cycles";
  EXPECT_EQ(states[0].segments, 1u);
}

TEST_F(DeviceClocksTest, CountsBeginWithTheFirstReadingOfABoot) {
  for (int i = 0; i < 3; ++i) EXPECT_EQ(Second(0)[0].created, absl::FromUnixSeconds(1));
  ++snapshot_.boot_id;
  const ClockState state = Second(0)[0];
  EXPECT_EQ(state.created, absl::FromUnixSeconds(4));
  EXPECT_EQ(state.segments, 1u);
}

TEST_F(DeviceClocksTest, FurtherReadingsBoundTheFrequency) {
  Second(5000);
  double width = 1e9;
  for (int i = 0; i < 10; ++i) {
    const ClockState state = Second(5000)[0];
    ASSERT_TRUE(state.frequency.has_value());
    EXPECT_LE(state.frequency->lower, 500'005'000);
    EXPECT_GE(state.frequency->upper, 500'005'000);
    EXPECT_LT(state.frequency->upper - state.frequency->lower, width);
    width = state.frequency->upper - state.frequency->lower;
  }
  EXPECT_LT(width, 2);
  EXPECT_FALSE(Second(5000)[0].is_unsound);
}

TEST_F(DeviceClocksTest, AnAnnouncedChangeEndsTheSegment) {
  for (int i = 0; i < 3; ++i) Second(0);
  const ClockState state = Second(100'000, /*changes=*/1)[0];
  EXPECT_EQ(state.segments, 2u);
  EXPECT_EQ(state.refuted_segments, 0u);
  EXPECT_FALSE(state.is_unsound);
  EXPECT_FALSE(state.frequency.has_value());
}

TEST_F(DeviceClocksTest, AChangeThatIsNotAnnouncedMakesItUnsoundUntilItHoldsAgain) {
  for (int i = 0; i < 3; ++i) Second(0);
  const ClockState refuted = Second(100'000)[0];
  EXPECT_TRUE(refuted.is_unsound);
  EXPECT_EQ(refuted.refuted_segments, 1u);
  EXPECT_FALSE(refuted.error_bound_s.has_value());
  for (int i = 0; i < 3; ++i) Second(0);
  EXPECT_FALSE(Second(0)[0].is_unsound);
}

TEST_F(DeviceClocksTest, ReadingsThatContradictWhatIsKnownAreNotUsed) {
  for (int i = 0; i < 3; ++i) Second(0);
  EXPECT_EQ(Second(50'000'000)[0].unused_readings, 1u) << "beyond the declared period";
  edges_ -= 50'000'000;
  EXPECT_EQ(Second(0)[0].unused_readings, 1u);
}

TEST_F(DeviceClocksTest, AClockThatStandsStillIsStopped) {
  Second(0);
  snapshot_.reference_time_ns += kHz;
  ++snapshot_.trigger_id;
  snapshot_.clocks = {std::nullopt};
  EXPECT_TRUE(clocks_.Follow(*topology_, snapshot_, inputs_)[0].is_stopped);
}

TEST_F(DeviceClocksTest, ARestartBeginsAnew) {
  for (int i = 0; i < 3; ++i) Second(0);
  snapshot_.boot_id = 2;
  snapshot_.reference_time_ns = edges_ = 0;
  const ClockState state = Second(0)[0];
  EXPECT_EQ(state.segments, 1u);
  EXPECT_EQ(state.unused_readings, 0u);
}

TEST_F(DeviceClocksTest, WhatIsDeclaredMayBeImpossible) {
  mailbox::Catalog catalog = CatalogOfClocks();
  catalog.clock_domains[0].bar_high = INT64_MAX;
  topology_ = std::make_unique<Topology>(catalog, 8);
  EXPECT_TRUE(Second(0)[0].is_unsound);
  EXPECT_TRUE(Second(0)[0].is_unsound);
}

TEST_F(DeviceClocksTest, BesideAConfidentialVmNothingIsKnown) {
  mailbox::Catalog catalog = CatalogOfClocks();
  catalog.vms = {{.id = 1, .confidential = true, .slice = 0}};
  catalog.has_had_confidential_vm = true;
  topology_ = std::make_unique<Topology>(catalog, 8);
  EXPECT_EQ(Second(0), (std::vector<ClockState>{{.is_withheld = true}}));
}

// The hulls of a device that has had a trigger each millisecond of the last second.
mailbox::ClockHulls HullsOfASecond(const mailbox::ClockDomain& domain, uint64_t end_cycle, uint64_t end_edge) {
  clocks::ClockStrip strip =
      *clocks::ClockStrip::Create(clocks::LimitsOf(domain), {.segment_max = clocks::Ticks(kHz) * 30 * 65536});
  for (uint64_t i = 0; i <= 1000; ++i) {
    // Wires take 2 to 6 cycles.
    const uint64_t before = (1000 - i) * 1'000'000;
    const auto added = strip.Add({.trigger = i + 1,
                                  .reference = clocks::Instant::OfCycles(end_cycle - before - i % 5),
                                  .edge = end_edge + 2 - before / 2});
    EXPECT_TRUE(added.ok() && *added != clocks::AddResult::kOutside) << i;
  }
  return {.boot_id = 1, .hulls = {clocks::HullOf(*strip.Hulls())}};
}

TEST_F(DeviceClocksTest, TheDevicesOwnFitNarrowsWhatIsKnown) {
  Second(0);
  const ClockState alone = Second(0)[0];
  // The next one.
  inputs_.hulls = HullsOfASecond(topology_->catalog().clock_domains[0], 3 * kHz, 3 * kHz / 2);
  const ClockState narrowed = Second(0)[0];
  ASSERT_TRUE(narrowed.error_bound_s.has_value() && narrowed.frequency.has_value());
  EXPECT_LT(*narrowed.error_bound_s, *alone.error_bound_s);
  EXPECT_LE(narrowed.frequency->lower, 500'000'000);
  EXPECT_GE(narrowed.frequency->upper, 500'000'000);
  EXPECT_EQ(narrowed.unused_readings, 0u);
}

TEST_F(DeviceClocksTest, HullsThatCannotBeAreNotUsed) {
  Second(0);
  const auto& domain = topology_->catalog().clock_domains[0];
  inputs_.hulls = HullsOfASecond(domain, 2 * kHz, kHz + 1'000'000);
  EXPECT_EQ(Second(0)[0].unused_readings, 1u) << "a million edges too many";
  inputs_.hulls->hulls[0].upper.clear();
  EXPECT_EQ(Second(0)[0].unused_readings, 2u);
  inputs_.hulls->hulls[0].domain = 63;
  EXPECT_EQ(Second(0)[0].unused_readings, 2u) << "of no domain";
  inputs_.hulls = HullsOfASecond(domain, 5 * kHz, 5 * kHz / 2);
  inputs_.hulls->boot_id = 2;
  const double of_another_boot = *Second(0)[0].error_bound_s;
  inputs_.hulls.reset();
  EXPECT_NEAR(of_another_boot, *Second(0)[0].error_bound_s, 1e-9);
}

TEST_F(DeviceClocksTest, AShorterSegmentEndsSooner) {
  inputs_.segment_max = absl::Seconds(2);
  for (int i = 0; i < 6; ++i) Second(0);
  EXPECT_GE(Second(0)[0].segments, 3u);
}

TEST_F(DeviceClocksTest, ADeviceWithoutReadingsHasNone) {
  EXPECT_TRUE(clocks_.Follow(*topology_, {.boot_id = 1}, inputs_).empty());
}

}  // namespace
}  // namespace sideband::daemon
