// SPDX-License-Identifier: Apache-2.0
#include "daemon/collector/device_clocks.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
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

// A device whose clock is off by some ppm, of which latches take up to `slowest`.
class DriftingWorld {
 public:
  explicit DriftingWorld(double ppm, uint64_t boot_id = 1) : rate_(1 + ppm * 1e-6), boot_id_(boot_id) {}

  struct Result {
    HostInstant instant;
    absl::Duration truth, exchange;  // the latter: half of it
  };
  // After `wait`, an exchange of `before` and `after` around the latch.
  Result Latch(HostClock& host, absl::Duration wait, absl::Duration before, absl::Duration after) {
    now_ += wait;
    const absl::Duration start = now_;
    now_ += before;
    const absl::Duration truth = now_;
    now_ += after;
    const auto device_ns = static_cast<uint64_t>(std::floor(absl::ToDoubleNanoseconds(truth) * rate_) + jumped_ns_);
    const HostInstant instant = host.Add({.boot_id = boot_id_,
                                          .reference_time_ns = device_ns,
                                          .raw_before = start,
                                          .raw_after = now_,
                                          .suspended = suspended_});
    return {instant, truth, (before + after) / 2};
  }
  void Suspend(absl::Duration time) { suspended_ += time; }
  // The device's time, ahead.
  void Jump(absl::Duration by) { jumped_ns_ += absl::ToDoubleNanoseconds(by); }

 private:
  const double rate_;
  const uint64_t boot_id_;
  double jumped_ns_ = 0;
  absl::Duration now_ = absl::Seconds(100), suspended_;
};

bool Holds(const DriftingWorld::Result& result) {
  return absl::AbsDuration(result.instant.raw - result.truth) <= result.instant.error + absl::Nanoseconds(1);
}

TEST(HostClockTest, OneExchangeIsItself) {
  HostClock host;
  const auto result = DriftingWorld(0).Latch(host, absl::Seconds(1), absl::Microseconds(100), absl::Microseconds(300));
  EXPECT_TRUE(Holds(result));
  EXPECT_LE(result.instant.error, absl::Microseconds(200));
  EXPECT_GE(result.instant.error, absl::Microseconds(199));
  EXPECT_FALSE(host.Rate().has_value());
}

// Exchanges of 0.4 ms, of which one in ten is short.
TEST(HostClockTest, ManyExchangesAreCloserThanOne) {
  HostClock host;
  DriftingWorld world(37);
  DriftingWorld::Result result;
  for (int i = 0; i < 30; ++i) {
    const absl::Duration half = i % 10 == 0 ? absl::Microseconds(20) : absl::Microseconds(200);
    result = world.Latch(host, absl::Milliseconds(250), half, half);
    ASSERT_TRUE(Holds(result)) << i;
  }
  EXPECT_LT(result.instant.error, result.exchange / 4);
  ASSERT_TRUE(host.Rate().has_value());
  EXPECT_LE(host.Rate()->lower_ppm, 37);
  EXPECT_GE(host.Rate()->upper_ppm, 37);
}

// Law 10.
RC_GTEST_PROP(HostClockPropertyTest, TheBoundHoldsAndIsWithinTheExchange, ()) {
  HostClock host;
  DriftingWorld world(*rc::gen::inRange(-190, 191));
  const auto microseconds = [](int most) { return absl::Microseconds(*rc::gen::inRange(0, most)); };
  for (int i = 0; i < 60; ++i) {
    // Retries and other controllers make single exchanges long.
    const int most = *rc::gen::inRange(0, 10) == 0 ? 50'000 : 500;
    const auto result = world.Latch(host, microseconds(2'000'000), microseconds(most), microseconds(most));
    RC_ASSERT(Holds(result));
    RC_ASSERT(result.instant.error <= result.exchange + absl::Nanoseconds(1));
  }
}

TEST(HostClockTest, ANewBootStartsAnew) {
  HostClock host;
  DriftingWorld before(0, 1), after(0, 2);
  for (int i = 0; i < 5; ++i) before.Latch(host, absl::Seconds(1), absl::Microseconds(1), absl::Microseconds(1));
  const auto result = after.Latch(host, absl::Seconds(1), absl::Milliseconds(1), absl::Milliseconds(1));
  EXPECT_TRUE(Holds(result));
  EXPECT_GE(result.instant.error, absl::Microseconds(999));
}

TEST(HostClockTest, ASuspendStartsAnew) {
  HostClock host;
  DriftingWorld world(0);
  for (int i = 0; i < 5; ++i) world.Latch(host, absl::Seconds(1), absl::Microseconds(1), absl::Microseconds(1));
  world.Suspend(absl::Seconds(5));
  const auto result = world.Latch(host, absl::Seconds(1), absl::Milliseconds(1), absl::Milliseconds(1));
  EXPECT_GE(result.instant.error, absl::Microseconds(999));
}

TEST(HostClockTest, OtherSettingsBeginAnewAndTheSameDoNot) {
  HostClock host;
  DriftingWorld world(0);
  const auto latch = [&](int microseconds) {
    return world.Latch(host, absl::Seconds(1), absl::Microseconds(microseconds), absl::Microseconds(microseconds));
  };
  for (int i = 0; i < 5; ++i) latch(1);
  host.Use({});
  EXPECT_LT(latch(1000).instant.error, absl::Microseconds(900));
  host.Use({.trigger_hz = 1000});
  EXPECT_LT(latch(1000).instant.error, absl::Microseconds(900));
  host.Use({.host_ppm_max = 300});
  EXPECT_GE(latch(1000).instant.error, absl::Microseconds(999));
  latch(1);
  host.Use({.host_ppm_max = 300, .segment_max = absl::Seconds(10)});
  EXPECT_GE(latch(1000).instant.error, absl::Microseconds(999));
}

// The widest limits of the configuration: bounds widen, and hold.
TEST(HostClockTest, AWorseOscillatorHasAWiderBound) {
  const auto error = [](const ClockSettings& options) {
    HostClock host(options);
    DriftingWorld world(0);
    DriftingWorld::Result result;
    for (int i = 0; i < 20; ++i) {
      result = world.Latch(host, absl::Seconds(1), absl::Milliseconds(1), absl::Milliseconds(1));
      EXPECT_TRUE(Holds(result)) << i;
    }
    return result.instant.error;
  };
  EXPECT_LE(error({}), error({.host_ppm_max = 10'000, .host_wander_ppb = 1000}));
}

// Such a clock fits its limits for some latches in each segment, and the fit would be wrong in them.
TEST(HostClockTest, AClockSomewhatBeyondItsLimitsIsFoundAndHasTheExchangeAlone) {
  for (const double ppm : {-500.0, -205.0, 205.0, 500.0}) {
    HostClock host;
    DriftingWorld world(ppm);
    for (int i = 0; i < 201; ++i) {
      // Single ones are short, so that a wrong fit would be far closer than the others.
      const absl::Duration half = absl::Microseconds(i % 7 == 0 ? 10 : 400);
      const auto result = world.Latch(host, absl::Milliseconds(950), half, half);
      ASSERT_TRUE(Holds(result)) << ppm << " " << i;
      ASSERT_EQ(result.instant.error, result.exchange) << ppm << " " << i;
    }
    EXPECT_FALSE(host.is_sound()) << ppm;
    ASSERT_TRUE(host.Rate().has_value());
    EXPECT_LE(host.Rate()->lower_ppm, ppm);
    EXPECT_GE(host.Rate()->upper_ppm, ppm);
    EXPECT_LT(host.Rate()->upper_ppm - host.Rate()->lower_ppm, 10) << "as measured, and not as configured";
    EXPECT_GE(host.ppm_max(), 10'000);
  }
}

RC_GTEST_PROP(HostClockPropertyTest, WhateverTheRateTheBoundsHold, ()) {
  HostClock host;
  const int ppm = *rc::gen::inRange(-1000, 1001);
  DriftingWorld world(ppm);
  for (int i = 0; i < 60; ++i) {
    const absl::Duration half = absl::Microseconds(*rc::gen::inRange(0, 1000));
    RC_ASSERT(Holds(world.Latch(host, absl::Milliseconds(*rc::gen::inRange(1, 2000)), half, half)));
    const auto rate = host.Rate();
    if (!rate) continue;
    RC_ASSERT(rate->lower_ppm <= rate->upper_ppm);
    // The configured limits are believed until they are contradicted.
    if (std::abs(ppm) <= 200 || !host.is_sound()) RC_ASSERT(rate->lower_ppm <= ppm && ppm <= rate->upper_ppm);
  }
}

TEST(HostClockTest, AClockThatHasJumpedIsFittedAgainOnceItIsSeenToKeepItsLimits) {
  HostClock host;
  DriftingWorld world(50);
  const auto latch = [&](int microseconds) {
    return world.Latch(host, absl::Seconds(1), absl::Microseconds(microseconds), absl::Microseconds(microseconds));
  };
  for (int i = 0; i < 5; ++i) latch(10);
  EXPECT_LT(latch(1000).instant.error, absl::Microseconds(900));
  world.Jump(absl::Milliseconds(500));
  EXPECT_EQ(latch(1000).instant.error, absl::Microseconds(1000));
  EXPECT_FALSE(host.is_sound());
  for (int i = 0; i < 30; ++i) ASSERT_TRUE(Holds(latch(10))) << i;
  EXPECT_TRUE(host.is_sound());
  EXPECT_LT(latch(1000).instant.error, absl::Microseconds(900));
  EXPECT_EQ(host.ppm_max(), 200);
}

TEST(HostClockTest, AnExchangeThatIsTooLongForTheFitIsNoContradiction) {
  HostClock host;
  DriftingWorld world(0);
  for (int i = 0; i < 5; ++i) world.Latch(host, absl::Seconds(1), absl::Microseconds(1), absl::Microseconds(1));
  EXPECT_TRUE(Holds(world.Latch(host, absl::Seconds(1), absl::Minutes(20), absl::Minutes(20))));
  EXPECT_TRUE(host.is_sound());
}

// A clock outside the options claims only the exchange.
TEST(HostClockTest, AClockOutsideItsLimitsHasTheExchangeAlone) {
  HostClock host;
  DriftingWorld world(5000);
  for (int i = 0; i < 20; ++i) {
    const auto result = world.Latch(host, absl::Seconds(1), absl::Microseconds(50), absl::Microseconds(50));
    EXPECT_TRUE(Holds(result)) << i;
  }
}

constexpr uint64_t kReferenceHz = 1'000'000'000;

ClockSettings OnLine(const std::string& name = "rack") {
  return {.line = {.name = name, .wire_min = absl::Nanoseconds(10), .wire_max = absl::Nanoseconds(50)}};
}

double Nanoseconds(absl::Duration time) { return absl::ToDoubleNanoseconds(time); }

// A device of 1 GHz whose clock started at `started`, `ppm` fast. Times are those of the host's raw clock, in ns.
class Device {
 public:
  Device(absl::Duration started, double ppm, uint64_t boot_id = 1)
      : started_(Nanoseconds(started)), rate_(1 + ppm * 1e-6), boot_id_(boot_id) {}

  double TimeAt(double raw) const { return (raw - started_) * rate_; }
  // With the next edge, which is returned.
  double Send(double raw) {
    const double edge = std::ceil(TimeAt(raw));
    Add(edge, true);
    return started_ + edge / rate_;
  }
  void See(double raw) { Add(std::ceil(TimeAt(raw)), false); }
  LatchedPulse LatchAt(absl::Duration raw, absl::Duration off, absl::Duration error) const {
    return {.boot_id = boot_id_,
            .reference_hz = kReferenceHz,
            .reference_time_ns = static_cast<uint64_t>(TimeAt(Nanoseconds(raw))),
            .latched = {.raw = raw + off, .error = error},
            .pulse = pulse_};
  }

 private:
  void Add(double edge, bool is_own) {
    pulse_ = {
        .pulses = pulse_ ? pulse_->pulses + 1 : 1, .is_own = is_own, .reference_cycle = static_cast<uint64_t>(edge)};
  }

  const double started_, rate_;
  const uint64_t boot_id_;
  std::optional<mailbox::LinePulse> pulse_;
};

class LineBookTest : public testing::Test {
 protected:
  void Pulse(absl::Duration raw) { receiver_.See(driver_.Send(Nanoseconds(raw)) + 30); }
  std::optional<LineOffset> NoteBoth(absl::Duration raw, absl::Duration error = absl::Microseconds(200)) {
    book_.Note("gpu0", OnLine(), driver_.LatchAt(raw, absl::ZeroDuration(), error));
    return book_.Note("gpu1", OnLine(), receiver_.LatchAt(raw + absl::Milliseconds(1), absl::ZeroDuration(), error));
  }

  Device driver_{absl::Seconds(1), 0}, receiver_{absl::Seconds(3), 100};
  LineBook book_;
};

TEST_F(LineBookTest, APulseTellsTheOffsetAndTwoTellTheRate) {
  Pulse(absl::Seconds(10));
  EXPECT_FALSE(NoteBoth(absl::Milliseconds(10'100)) == std::nullopt);
  Pulse(absl::Seconds(11));
  const auto offset = NoteBoth(absl::Milliseconds(11'100));
  ASSERT_TRUE(offset.has_value());
  EXPECT_EQ(offset->driver, "gpu0");
  // Two seconds later, and since then 100 us a second faster, for eight seconds.
  EXPECT_LE(offset->error_ns, 25u);
  EXPECT_NEAR(static_cast<double>(offset->offset_ns), -2e9 + 800'000, static_cast<double>(offset->error_ns));
  ASSERT_TRUE(offset->rate.has_value());
  EXPECT_LE(offset->rate->lower_ppm, 100);
  EXPECT_GE(offset->rate->upper_ppm, 100);
  EXPECT_LT(offset->rate->upper_ppm - offset->rate->lower_ppm, 0.2);
}

TEST_F(LineBookTest, TheDriverItselfHasNoOffset) {
  Pulse(absl::Seconds(10));
  NoteBoth(absl::Milliseconds(10'100));
  EXPECT_FALSE(
      book_.Note("gpu0", OnLine(), driver_.LatchAt(absl::Seconds(11), absl::ZeroDuration(), absl::Microseconds(1)))
          .has_value());
}

// The driver's snapshot must be later than the pulse: before, it may have sent others.
TEST_F(LineBookTest, WhatTheDriverHasNotReportedYetIsUnknown) {
  NoteBoth(absl::Milliseconds(9'900));
  Pulse(absl::Seconds(10));
  const auto latch = receiver_.LatchAt(absl::Milliseconds(10'100), absl::ZeroDuration(), absl::Microseconds(200));
  EXPECT_FALSE(book_.Note("gpu1", OnLine(), latch).has_value());
  EXPECT_TRUE(NoteBoth(absl::Milliseconds(10'200)).has_value());
}

TEST_F(LineBookTest, PulsesThatTheHostCannotTellApartAreNotGuessed) {
  Pulse(absl::Seconds(10));
  NoteBoth(absl::Milliseconds(10'000) + absl::Microseconds(50));
  Pulse(absl::Seconds(10) + absl::Microseconds(100));
  EXPECT_FALSE(NoteBoth(absl::Milliseconds(10'100)).has_value());
  // One that is alone tells again.
  Pulse(absl::Seconds(11));
  EXPECT_TRUE(NoteBoth(absl::Milliseconds(11'100)).has_value());
}

TEST_F(LineBookTest, AMissedPulseMayHaveBeenJustBefore) {
  Pulse(absl::Seconds(10));
  NoteBoth(absl::Milliseconds(10'100));
  const auto before = NoteBoth(absl::Milliseconds(10'200));
  Pulse(absl::Seconds(11));
  Pulse(absl::Seconds(12));
  EXPECT_EQ(NoteBoth(absl::Milliseconds(12'100)), before) << "still that of the first";
}

TEST_F(LineBookTest, AnOldPulseTellsNothing) {
  Pulse(absl::Seconds(10));
  EXPECT_TRUE(NoteBoth(absl::Milliseconds(10'100)).has_value());
  EXPECT_TRUE(NoteBoth(absl::Seconds(60)).has_value());
  EXPECT_FALSE(NoteBoth(absl::Seconds(71)).has_value());
}

TEST_F(LineBookTest, OtherLinesAreOtherWires) {
  Pulse(absl::Seconds(10));
  book_.Note("gpu0", OnLine("other"), driver_.LatchAt(absl::Seconds(11), {}, absl::Microseconds(1)));
  EXPECT_FALSE(book_.Note("gpu1", OnLine(), receiver_.LatchAt(absl::Seconds(11), {}, absl::Microseconds(1))));
}

TEST_F(LineBookTest, HostileNumbersTellNothing) {
  const ClockSettings settings = OnLine();
  for (const uint64_t cycle : {uint64_t{0}, kReferenceHz, UINT64_MAX}) {
    for (const uint64_t time_ns : {uint64_t{0}, kReferenceHz, UINT64_MAX}) {
      for (const uint64_t hz : {uint64_t{0}, uint64_t{1}, UINT64_MAX}) {
        for (const bool is_own : {false, true}) {
          const LatchedPulse latch{
              .boot_id = 1,
              .reference_hz = hz,
              .reference_time_ns = time_ns,
              .latched = {.raw = absl::Seconds(5), .error = absl::Seconds(1)},
              .pulse = mailbox::LinePulse{.pulses = UINT64_MAX, .is_own = is_own, .reference_cycle = cycle}};
          EXPECT_FALSE(book_.Note(is_own ? "gpu0" : "gpu1", settings, latch).has_value());
        }
      }
    }
  }
}

// A wire that is longer than the time between pulses, both of which the host can place.
TEST_F(LineBookTest, ADelayThatIsAsLongAsPulsesAreApartIsNoMatch) {
  ClockSettings settings = OnLine();
  settings.line.wire_min = settings.line.wire_max = absl::Milliseconds(1);
  Device driver(absl::Seconds(1), 0), receiver(absl::Seconds(1), 0);
  const absl::Duration error = absl::Microseconds(50);
  std::optional<LineOffset> offset;
  for (int i = 0; i < 5; ++i) {
    const absl::Duration at = absl::Seconds(10) + absl::Milliseconds(i);
    if (i > 0) receiver.See(Nanoseconds(at));
    driver.Send(Nanoseconds(at));
    const absl::Duration latched = at + absl::Microseconds(200);
    book_.Note("gpu0", settings, driver.LatchAt(latched, {}, error));
    offset = book_.Note("gpu1", settings, receiver.LatchAt(latched, {}, error));
    if (!offset) continue;
    EXPECT_LE(std::abs(offset->offset_ns), static_cast<int64_t>(offset->error_ns)) << i;
  }
}

TEST_F(LineBookTest, OnlyTheDriverThatIsConfiguredSends) {
  const auto note_liar = [&](const ClockSettings& settings) {
    Device liar(absl::Seconds(2), 0);
    liar.Send(10e9);
    book_.Note("gpu2", settings, liar.LatchAt(absl::Milliseconds(10'100), {}, absl::Microseconds(200)));
  };
  ClockSettings settings = OnLine();
  settings.line.driver = "gpu0";
  Pulse(absl::Seconds(10));
  note_liar(settings);
  const auto latch = receiver_.LatchAt(absl::Milliseconds(10'100), {}, absl::Microseconds(200));
  EXPECT_FALSE(book_.Note("gpu1", settings, latch).has_value()) << "the driver has not reported yet";
  book_.Note("gpu0", settings, driver_.LatchAt(absl::Milliseconds(10'200), {}, absl::Microseconds(200)));
  EXPECT_EQ(book_.Note("gpu1", settings, latch)->driver, "gpu0");
}

TEST_F(LineBookTest, WithoutAConfiguredDriverTwoThatClaimAPulseAreNone) {
  Pulse(absl::Seconds(10));
  Device liar(absl::Seconds(2), 0);
  liar.Send(10e9);
  book_.Note("gpu2", OnLine(), liar.LatchAt(absl::Milliseconds(10'100), {}, absl::Microseconds(200)));
  EXPECT_FALSE(NoteBoth(absl::Milliseconds(10'100)).has_value());
}

TEST_F(LineBookTest, ADriverThatStartsAgainHasAnotherClock) {
  Pulse(absl::Seconds(10));
  EXPECT_TRUE(NoteBoth(absl::Milliseconds(10'100)).has_value());
  const Device restarted(absl::Milliseconds(10'500), 0, /*boot_id=*/2);
  book_.Note("gpu0", OnLine(), restarted.LatchAt(absl::Seconds(11), {}, absl::Microseconds(200)));
  const auto latch = receiver_.LatchAt(absl::Seconds(11), {}, absl::Microseconds(200));
  EXPECT_FALSE(book_.Note("gpu1", OnLine(), latch).has_value());
}

TEST_F(LineBookTest, ASuspendEndsWhatIsKnown) {
  Pulse(absl::Seconds(10));
  EXPECT_TRUE(NoteBoth(absl::Milliseconds(10'100)).has_value());
  LatchedPulse latch = receiver_.LatchAt(absl::Milliseconds(10'200), {}, absl::Microseconds(200));
  latch.suspended = absl::Seconds(5);
  EXPECT_FALSE(book_.Note("gpu1", OnLine(), latch).has_value());
}

TEST_F(LineBookTest, AClockBeyondItsLimitsPlacesNoPulse) {
  Pulse(absl::Seconds(10));
  LatchedPulse latch = driver_.LatchAt(absl::Milliseconds(10'100), {}, absl::Microseconds(200));
  latch.is_sound = false;
  book_.Note("gpu0", OnLine(), latch);
  const auto received = receiver_.LatchAt(absl::Milliseconds(10'050), {}, absl::Microseconds(200));
  EXPECT_FALSE(book_.Note("gpu1", OnLine(), received).has_value());
}

// Whatever is missed and however long exchanges take, an offset that is shown is true at a pulse.
RC_GTEST_PROP(LineBookPropertyTest, TheOffsetIsWithinItsBound, ()) {
  const auto milliseconds = [](int most) { return absl::Milliseconds(*rc::gen::inRange(0, most)); };
  const double ppm_driver = *rc::gen::inRange(-190, 191), ppm_receiver = *rc::gen::inRange(-190, 191);
  Device driver(milliseconds(1000), ppm_driver), receiver(milliseconds(1000), ppm_receiver);
  LineBook book;
  ClockSettings settings = OnLine();
  settings.line.wire_max = absl::Nanoseconds(*rc::gen::element(50, 1000, 1'000'000));
  absl::Duration now = absl::Seconds(5);
  std::vector<double> truths;  // of each pulse
  for (int i = 0; i < 60; ++i) {
    now += milliseconds(500) + absl::Nanoseconds(*rc::gen::inRange(0, 1'000'000));
    if (*rc::gen::arbitrary<bool>()) {
      const double sent = driver.Send(Nanoseconds(now));
      const auto most = static_cast<int>(absl::ToInt64Nanoseconds(settings.line.wire_max));
      receiver.See(sent + *rc::gen::inRange(10, most + 1));
      truths.push_back(receiver.TimeAt(sent) - driver.TimeAt(sent));
    }
    now += milliseconds(300) + absl::Milliseconds(2);
    const absl::Duration error = milliseconds(100) + absl::Microseconds(1);
    const absl::Duration off = error * (*rc::gen::inRange(-100, 101) / 100.0);
    if (*rc::gen::inRange(0, 3) > 0) book.Note("gpu0", settings, driver.LatchAt(now, off, error));
    if (*rc::gen::inRange(0, 3) == 0) continue;
    const auto offset = book.Note("gpu1", settings, receiver.LatchAt(now, -off, error));
    if (!offset) continue;
    RC_ASSERT(std::ranges::any_of(truths, [&](double truth) {
      return std::abs(static_cast<double>(offset->offset_ns) - truth) <= static_cast<double>(offset->error_ns);
    }));
    if (!offset->rate) continue;
    const double rate = (1 + ppm_receiver * 1e-6) / (1 + ppm_driver * 1e-6) * 1e6 - 1e6;
    RC_ASSERT(offset->rate->lower_ppm <= rate && rate <= offset->rate->upper_ppm);
  }
}

}  // namespace
}  // namespace sideband::daemon
