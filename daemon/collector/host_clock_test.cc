// SPDX-License-Identifier: Apache-2.0
#include "daemon/collector/host_clock.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>

#include "absl/time/time.h"

namespace sideband::daemon {
namespace {

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
    // What is configured is believed until it is contradicted.
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

// Of a clock outside the options nothing but the exchange is claimed.
TEST(HostClockTest, AClockOutsideItsLimitsHasTheExchangeAlone) {
  HostClock host;
  DriftingWorld world(5000);
  for (int i = 0; i < 20; ++i) {
    const auto result = world.Latch(host, absl::Seconds(1), absl::Microseconds(50), absl::Microseconds(50));
    EXPECT_TRUE(Holds(result)) << i;
  }
}

}  // namespace
}  // namespace sideband::daemon
